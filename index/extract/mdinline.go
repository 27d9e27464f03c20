package extract

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTries bounds the searches for the other end of a code span, tag or link
// that find none, so that a heading costs no more than its length times this.
const maxTries = 16

// plainText returns the words of a heading's source, at most maxHeading bytes
// of Markdown inlines: marks are dropped, links and pictures are their text,
// escapes and entities are decoded, white space is folded.
func plainText(source []byte) string {
	s := Decode(withoutID(source))
	p := inlines{s: s, out: make([]byte, 0, len(s)), tries: maxTries}
	for p.i < len(p.s) {
		p.next()
	}
	return strings.Join(strings.Fields(string(p.unmarked())), " ")
}

// withoutID returns a heading without the attributes, {#id .class}, that many
// dialects allow at its end.
func withoutID(source []byte) []byte {
	s := bytes.TrimRight(source, " \t")
	if !bytes.HasSuffix(s, []byte("}")) {
		return source
	}
	open := bytes.LastIndexByte(s, '{')
	if open < 0 || !bytes.ContainsAny(s[open+1:open+2], "#.:") || bytes.IndexByte(s[open:], '}') != len(s)-1-open {
		return source
	}
	return s[:open]
}

// inlines reads inline Markdown and writes its text.
type inlines struct {
	s   string
	i   int
	out []byte
	// marks are the emphasis marks written to out and not yet matched; dead
	// are the spans of out that are to go.
	marks []mark
	dead  [][2]int
	// brackets are the open [ in out.
	brackets []bracket
	tries    int // searches that may yet fail
}

// mark is a run of emphasis marks in out that may open emphasis.
type mark struct {
	at, n int
	char  byte
}

// bracket is an open [ or ![ in out.
type bracket struct{ at, n int }

// next reads one inline.
func (p *inlines) next() {
	switch c := p.s[p.i]; c {
	case '\\':
		p.escape()
	case '&':
		p.entity()
	case '`':
		p.codeSpan()
	case '<':
		p.tag()
	case '*', '_', '~':
		p.emphasis(c)
	case '!':
		n := 1
		if strings.HasPrefix(p.s[p.i:], "![") {
			n = 2
			p.brackets = append(p.brackets, bracket{len(p.out), n})
		}
		p.copy(n)
	case '[':
		p.brackets = append(p.brackets, bracket{len(p.out), 1})
		p.copy(1)
	case ']':
		p.closeBracket()
	default:
		p.copy(1)
	}
}

// copy writes the next n bytes as they stand.
func (p *inlines) copy(n int) {
	p.out = append(p.out, p.s[p.i:p.i+n]...)
	p.i += n
}

// escape reads a backslash, which makes the punctuation after it plain.
func (p *inlines) escape() {
	if p.i+1 < len(p.s) && isPunct(rune(p.s[p.i+1])) && p.s[p.i+1] < utf8.RuneSelf {
		p.i++
	}
	p.copy(1)
}

// maxEntity is the length of the longest entity, &CounterClockwiseContourIntegral;.
const maxEntity = 33

// entity reads &name; or &#number;.
func (p *inlines) entity() {
	rest := p.s[p.i:min(p.i+maxEntity, len(p.s))]
	if n := strings.IndexByte(rest, ';') + 1; n > 0 {
		if decoded := html.UnescapeString(rest[:n]); decoded != rest[:n] {
			p.out = append(p.out, decoded...)
			p.i += n
			return
		}
	}
	p.copy(1)
}

// codeSpan reads backticks, and all up to as many more.
func (p *inlines) codeSpan() {
	n := run(p.s[p.i:], '`')
	for at := p.i + n; p.tries > 0; {
		next := strings.IndexByte(p.s[at:], '`')
		if next < 0 {
			break
		}
		at += next
		if m := run(p.s[at:], '`'); m != n {
			at += m
			continue
		}
		p.out = append(p.out, p.s[p.i+n:at]...)
		p.i = at + n
		return
	}
	p.tries--
	p.copy(n)
}

// tag drops an HTML tag or comment, and the angles around an address.
func (p *inlines) tag() {
	rest := p.s[p.i:]
	n := 0
	if p.tries > 0 {
		if strings.HasPrefix(rest, "<!--") {
			n = strings.Index(rest, "-->") + len("-->")
		} else {
			n = strings.IndexAny(rest[1:], "<>") + 2
		}
	}
	switch {
	case n <= 3 || rest[n-1] != '>':
		p.tries--
		p.copy(1)
	case address(rest[1 : n-1]):
		p.out = append(p.out, rest[1:n-1]...)
		p.i += n
	case rest[1] == '!' || letter(strings.TrimPrefix(rest[1:], "/")[0]):
		p.i += n
	default:
		p.copy(1)
	}
}

// address says that what stands in angles is a link of its own.
func address(s string) bool {
	return letter(s[0]) && !strings.ContainsAny(s, " \t\n") && strings.ContainsAny(s, ":@")
}

// letter says that c is an ASCII letter.
func letter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z'
}

// emphasis reads a run of one mark: it matches open runs before it as far as it
// may close, and what is left may open.
func (p *inlines) emphasis(c byte) {
	n := run(p.s[p.i:], c)
	opens, closes := flanking(p.s, p.i, p.i+n)
	at := len(p.out)
	p.copy(n)
	if c == '~' && n > 2 {
		return
	}
	for k := len(p.marks) - 1; closes && n > 0 && k >= 0; k-- {
		m := &p.marks[k]
		if m.char != c || c == '~' && m.n != n {
			continue
		}
		used := min(m.n, n)
		m.n -= used
		p.dead = append(p.dead, [2]int{m.at + m.n, m.at + m.n + used}, [2]int{at, at + used})
		at, n = at+used, n-used
		if m.n == 0 {
			p.marks = p.marks[:k]
		} else {
			p.marks = p.marks[:k+1]
		}
	}
	if opens && n > 0 {
		p.marks = append(p.marks, mark{at, n, c})
	}
}

// flanking says whether the run of marks s[i:j] may open and close emphasis, by
// CommonMark's rules for left- and right-flanking runs.
func flanking(s string, i, j int) (opens, closes bool) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[j:])
	spaceBefore, spaceAfter := i == 0 || unicode.IsSpace(before), j == len(s) || unicode.IsSpace(after)
	punctBefore, punctAfter := isPunct(before), isPunct(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore)
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter)
	if s[i] == '_' {
		return left && (!right || punctBefore), right && (!left || punctAfter)
	}
	return left, right
}

// isPunct says that a character is punctuation in CommonMark's sense.
func isPunct(r rune) bool {
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// linkTail returns the length of the (address) or [name] that s begins with, 0
// for none.
func linkTail(s string) int {
	if s == "" || s[0] != '(' && s[0] != '[' {
		return 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == s[0]:
			depth++
		case c == ')' && s[0] == '(' || c == ']' && s[0] == '[':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// closeBracket reads a ] and drops the marks of a link: [text](address),
// [text][name], ![text](address), [[page]], [[page|text]] and [^note]. Other
// brackets stay, for a definition would be needed to make them a link.
func (p *inlines) closeBracket() {
	if len(p.brackets) == 0 {
		p.copy(1)
		return
	}
	open := p.brackets[len(p.brackets)-1]
	p.brackets = p.brackets[:len(p.brackets)-1]
	text := open.at + open.n
	tail := 0
	if p.tries > 0 {
		tail = linkTail(p.s[p.i+1:])
	}
	switch {
	case tail > 0:
		p.cut(open.at, text)
		p.i += 1 + tail
	case open.n == 1 && len(p.out) > text && p.out[text] == '^':
		p.cut(open.at, len(p.out))
		p.i++
	case p.wikiLink(open):
		outer := p.brackets[len(p.brackets)-1]
		p.brackets = p.brackets[:len(p.brackets)-1]
		if bar := bytes.IndexByte(p.out[text:], '|'); bar >= 0 {
			text += bar + 1
		}
		p.cut(outer.at, text)
		p.i += 2
	default:
		p.tries--
		p.copy(1)
	}
}

// wikiLink says that an open bracket stands right behind another, and the ] at
// hand right before another.
func (p *inlines) wikiLink(open bracket) bool {
	last := len(p.brackets) - 1
	return last >= 0 && p.brackets[last].at+p.brackets[last].n == open.at && open.n == 1 &&
		strings.HasPrefix(p.s[p.i:], "]]")
}

// cut marks a span of out to go.
func (p *inlines) cut(from, to int) {
	p.dead = append(p.dead, [2]int{from, to})
}

// unmarked returns out without what is to go.
func (p *inlines) unmarked() []byte {
	slices.SortFunc(p.dead, func(a, b [2]int) int { return a[0] - b[0] })
	var kept []byte
	at := 0
	for _, d := range p.dead {
		if d[0] > at {
			kept = append(kept, p.out[at:d[0]]...)
		}
		at = max(at, d[1])
	}
	return append(kept, p.out[at:]...)
}
