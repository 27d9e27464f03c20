package query

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// MaxOperators bounds the clauses of a query that are not plain words: each may
// cost as much as a search.
const MaxOperators = 64

// Error says why a text is no query.
type Error struct {
	Column int // in characters, from 1
	Reason string
	Hint   string // what to do about it
}

func (e *Error) Error() string { return e.Reason + " (" + e.Hint + ")" }

const literally = "or take the words as they are: --literal"

// Parse reads a query. Bytes that are not UTF-8 are read as U+FFFD. Its errors are
// of type *Error.
func Parse(text string) (*Query, error) {
	p := &parser{text: strings.ToValidUTF8(text, "\uFFFD")}
	for p.err == nil && p.skipSpace() {
		p.item()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Query{Clauses: p.out}, nil
}

type parser struct {
	text string
	pos  int
	// counted is where the characters before pos were last counted up to, of
	// which there are column.
	counted, column int

	out       []Clause
	operators int
	unclosed  [2]bool // no mark follows that closes “, or „
	err       error
}

// columnOf counts the characters before a place. Places must ascend, or the
// counting begins anew.
func (p *parser) columnOf(at int) int {
	if at < p.counted {
		p.counted, p.column = 0, 0
	}
	p.column += utf8.RuneCountInString(p.text[p.counted:at])
	p.counted = at
	return p.column + 1
}

func (p *parser) fail(at int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Column: p.columnOf(at), Reason: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (p *parser) skipSpace() bool {
	rest := strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace)
	p.pos = len(p.text) - len(rest)
	return rest != ""
}

// add takes a clause that begins at a place.
func (p *parser) add(at int, c Clause) {
	c.Column = p.columnOf(at)
	if c.Occur == Any && (c.Kind == Phrase || c.Kind.IsField()) {
		c.Occur = Must
	}
	if c.Kind != Word || c.Occur != Any {
		if p.operators++; p.operators > MaxOperators {
			p.fail(at, "shorten the query, "+literally, "more than %d phrases, fields and other operators", MaxOperators)
			return
		}
	}
	p.out = append(p.out, c)
}

// item reads what begins at pos, which is no white space, up to the next.
func (p *parser) item() {
	start := p.pos
	occur := p.sign()
	if p.phrase(start, occur) {
		p.rest()
		return
	}
	if p.err == nil && !p.field(start, occur) {
		p.word(start, occur)
	}
}

// sign reads + or - in front of what can be a clause.
func (p *parser) sign() Occur {
	first := p.text[p.pos]
	if first != '+' && first != '-' {
		return Any
	}
	chunk := p.text[p.pos+1 : p.chunkEnd()]
	next, _ := utf8.DecodeRuneInString(chunk)
	switch {
	case strings.ContainsRune("+-=<>*|&~:", next), strings.IndexFunc(chunk, wordy) < 0 && next != '"' && !isOpen(next):
		return Any // --flag, ->, -*-, +=, a dash
	case first == '-' && unicode.IsNumber(next):
		return Any // a negative number
	}
	p.pos++
	if first == '+' {
		return Must
	}
	return Not
}

// wordy tells what makes words.
func wordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

// chunkEnd is where the white space after pos begins.
func (p *parser) chunkEnd() int {
	if i := strings.IndexFunc(p.text[p.pos:], unicode.IsSpace); i >= 0 {
		return p.pos + i
	}
	return len(p.text)
}

// phrase reads a quoted phrase, if one begins here.
func (p *parser) phrase(start int, occur Occur) bool {
	text, ok := p.curly()
	if !ok {
		if text, ok = p.quoted(); !ok {
			return false
		}
	}
	if strings.IndexFunc(text, wordy) >= 0 {
		p.add(start, Clause{Occur: occur, Kind: Phrase, Text: text})
	}
	return true
}

// quoted reads a text between quotation marks, in which a backslash takes the
// meaning from a mark and from another backslash.
func (p *parser) quoted() (string, bool) {
	if p.pos >= len(p.text) || p.text[p.pos] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.pos = i + 1
			return b.String(), true
		case c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\'):
			i++
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.fail(p.pos, `close it, write \" for a mark that is text, `+literally, "the quotation mark is not closed")
	return "", false
}

func isOpen(r rune) bool { return r == '“' || r == '„' }

// curly reads a phrase between typographic quotation marks. One that is not
// closed is text: nobody types them to write a query.
func (p *parser) curly() (string, bool) {
	open, n := utf8.DecodeRuneInString(p.text[p.pos:])
	unclosed := &p.unclosed[min(1, max(0, open-'“'))]
	if !isOpen(open) || *unclosed {
		return "", false
	}
	body := p.text[p.pos+n:]
	end := strings.IndexFunc(body, func(r rune) bool { return r == '”' || open == '„' && r == '“' })
	if *unclosed = end < 0; *unclosed {
		return "", false
	}
	_, size := utf8.DecodeRuneInString(body[end:])
	p.pos += n + end + size
	return body[:end], true
}

// rest reads what follows a closing mark at once: text, such as a comma.
func (p *parser) rest() {
	start, end := p.pos, p.chunkEnd()
	p.pos = end
	if text := p.text[start:end]; strings.IndexFunc(text, wordy) >= 0 {
		p.add(start, Clause{Kind: Word, Text: text})
	}
}

// field reads name:value, if the name is a field's and there is a value.
func (p *parser) field(start int, occur Occur) bool {
	name, _, ok := strings.Cut(p.text[p.pos:p.chunkEnd()], ":")
	kind, known := kindOf(name)
	at := p.pos + len(name) + 1
	if !ok || !known || at >= len(p.text) {
		return false
	}
	before := p.pos
	p.pos = at
	value, quoted := p.quoted()
	if p.err != nil {
		return true
	}
	if !quoted {
		p.pos = p.chunkEnd()
		value = p.text[at:p.pos]
		if strings.HasPrefix(value, ":") || kind != Path && strings.IndexFunc(value, wordy) < 0 || value == "" {
			p.pos = before // path::new, title: text
			return false
		}
	}
	p.addField(start, at, Clause{Occur: occur, Kind: kind, Text: value})
	if quoted {
		p.rest()
	}
	return true
}

func (p *parser) addField(start, at int, c Clause) {
	if reason, hint := wrong(c); reason != "" {
		p.fail(at, hint, "%s: %s", c.Kind, reason)
		return
	}
	n := len(p.out)
	if p.add(start, c); len(p.out) > n {
		p.out[n].ValueColumn = p.columnOf(at)
	}
}

// wrong says what is wrong with a field's value, and what to do.
func wrong(c Clause) (reason, hint string) {
	switch {
	case c.Kind == Since || c.Kind == Before:
		if _, err := ParseDate(c.Text, time.Now()); err != nil {
			return err.Error(), Dates
		}
	case c.Kind == Path:
		if c.Text == "" || !doublestar.ValidatePattern(c.Text) {
			return fmt.Sprintf("%q is not a valid glob", c.Text), "such as path:docs/**/*.md"
		}
	case strings.IndexFunc(c.Text, wordy) < 0:
		return fmt.Sprintf("%q has no word", c.Text), "leave the field out, " + literally
	}
	return "", ""
}

// char is a character of a word, and whether a backslash took its meaning.
type char struct {
	r       rune
	escaped bool
}

// word reads a word with its suffix.
func (p *parser) word(start int, occur Occur) {
	end := p.chunkEnd()
	chars := unescape(p.text[p.pos:end])
	p.pos = end
	c := Clause{Occur: occur, Kind: Word}
	body := chars
	if base, ok := cutPrefix(chars); ok {
		c.Kind, body = Prefix, base
	} else if base, edits, ok := cutFuzzy(chars); ok {
		c.Kind, c.Edits, body = Fuzzy, edits, base
	}
	var b strings.Builder
	for _, x := range body {
		b.WriteRune(x.r)
	}
	c.Text = b.String()
	p.add(start, c)
}

func unescape(s string) []char {
	out := make([]char, 0, len(s))
	escaped := false
	for i, r := range s {
		if next, n := utf8.DecodeRuneInString(s[i+1:]); !escaped && r == '\\' && n > 0 && strings.ContainsRune(special, next) {
			escaped = true
			continue
		}
		out = append(out, char{r, escaped})
		escaped = false
	}
	return out
}

// cutPrefix gives what stands before the * of a prefix.
func cutPrefix(chars []char) ([]char, bool) {
	n := len(chars) - 1
	if n < 1 || chars[n] != (char{r: '*'}) || !inWord(chars[n-1].r) || slices.Contains(chars[:n], char{r: '*'}) {
		return nil, false
	}
	return chars[:n], true
}

// cutFuzzy gives what stands before the ~, ~1 or ~2 of a fuzzy word.
func cutFuzzy(chars []char) (base []char, edits int, ok bool) {
	n := len(chars) - 1
	if n >= 0 && !chars[n].escaped && (chars[n].r == '1' || chars[n].r == '2') {
		edits = int(chars[n].r - '0')
		n--
	}
	if n < 1 || chars[n] != (char{r: '~'}) {
		return nil, 0, false
	}
	base = chars[:n]
	return base, edits, !slices.ContainsFunc(base, func(c char) bool { return !inWord(c.r) && c.r != '\'' })
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
