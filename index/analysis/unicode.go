package analysis

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// The unicode tokenizer, in the order in which it works:
//
//  1. Words are those of UAX #29 that have a letter or a number, with these
//     tailorings, made so that a part of a name is found by itself. A word ends
//     at "_" and its like, at ":" and at "." between letters (os.Open,
//     config.toml, snake_case), at "," and ";" and apostrophes between digits;
//     "3.14" stays whole, and single letters with dots are one word (U.S.A. is
//     usa).
//  2. Scripts written without spaces, and Hangul, whose words grow endings, are
//     cut into overlapping pairs of characters instead; see bigram.go.
//  3. Words are normalised; see normalise.go.
//  4. Stop words are dropped, then words shorter than MinLength.
//  5. English possessives and the elided articles of French, Italian and
//     Catalan go (john's → john, l'eau → eau); other apostrophes stay (don't).
//  6. The stemmer runs. Diacritics are folded after it where its language
//     writes some, since it wants to see them, else before.
//
// Offsets are those of the source: a term of "l'eau" stands where "l'eau" does.

// maxWord is how much of a longer word its term is made of, in bytes.
const maxWord = 512

// tokenizer is one run over a text.
type tokenizer struct {
	analyzer *Analyzer
	text     []byte
	yield    func(Token) bool
	memo     *Memo                   // takes the terms instead, if it is set
	word     func(raw []byte) *entry // what becomes of a word
	words    *words.Iterator[[]byte] // made when first needed
}

func (a *Analyzer) unicodeTokens(text []byte, yield func(Token) bool) {
	t := a.tokenizerOf(text)
	t.yield = yield
	t.run()
}

func (a *Analyzer) tokenizerOf(text []byte) tokenizer {
	return tokenizer{analyzer: a, text: slices.Clip(text), word: a.cachedWord}
}

// cachedWord is what becomes of a word of a text.
func (a *Analyzer) cachedWord(raw []byte) *entry { return a.cache.get(raw, a.unicodeWord) }

// run goes through the text. Words of ASCII alone are cut here, all others by
// the UAX #29 segmenter, which is given the text between two places that are
// boundaries in any case.
func (t *tokenizer) run() {
	for pos, ok := 0, true; ok && pos < len(t.text); {
		if b := t.text[pos]; b < utf8.RuneSelf {
			if !alnum[b] {
				pos++
				continue
			}
			if end, whole := asciiWord(t.text, pos); whole {
				ok = t.emit(pos, end)
				pos = end
				continue
			}
		} else {
			r, n := utf8.DecodeRune(t.text[pos:])
			if isBigram(r) {
				pos, ok = t.bigrams(pos)
				continue
			}
			if !startsWord(r) {
				pos += n
				continue
			}
		}
		end := boundary(t.text, pos)
		ok = t.segments(pos, end)
		pos = end
	}
}

// emit yields the terms of the word text[start:end], and in code those of its
// parts.
func (t *tokenizer) emit(start, end int) bool {
	if !t.emitWord(start, end) {
		return false
	}
	return !t.analyzer.kind.code || t.identifier(start, end)
}

func (t *tokenizer) emitWord(start, end int) bool {
	if t.memo != nil {
		t.memo.word(t.analyzer, shorten(t.text[start:end]), t.word)
		return true
	}
	return t.emitEntry(t.word(shorten(t.text[start:end])), start, end)
}

// shorten returns as many characters of a word as are at most maxWord bytes.
func shorten(word []byte) []byte {
	if len(word) <= maxWord {
		return word
	}
	end := maxWord
	for end > 0 && !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end]
}

// emitEntry yields the terms of an entry.
func (t *tokenizer) emitEntry(e *entry, start, end int) bool {
	if t.memo != nil {
		t.memo.entry(e)
		return true
	}
	if e.term == "" {
		return true
	}
	if !t.yield(Token{Term: e.term, Start: start, End: end}) {
		return false
	}
	if e.more == nil {
		return true
	}
	for _, term := range *e.more {
		if !t.yield(Token{Term: term, Start: start, End: end}) {
			return false
		}
	}
	return true
}

// asciiWord returns the end of the word that begins at pos with an ASCII letter
// or digit; whole is false when what follows is not ASCII, so that the segmenter
// must say where it ends.
func asciiWord(text []byte, pos int) (end int, whole bool) {
	end, whole = acronym(text, pos)
	for whole {
		end = alnumEnd(text, end)
		if end == len(text) {
			return end, true
		}
		switch c := text[end]; {
		case c >= utf8.RuneSelf:
			return end, false
		case c != '.' && c != '\'' || end+1 == len(text):
			return end, true
		case text[end+1] >= utf8.RuneSelf:
			return end, false
		case c == '.' && digit(text[end-1]) && digit(text[end+1]),
			c == '\'' && letter(text[end-1]) && letter(text[end+1]):
			end++
		default:
			return end, true
		}
	}
	return end, false
}

// acronym returns the end of the single letters joined by dots at pos, or pos
// when the word is not made of at least two of them and nothing else. ascii is
// false when a character beyond ASCII comes before that is known: it may be a
// letter, or a mark on the one before.
func acronym(text []byte, pos int) (end int, ascii bool) {
	for end = pos; end < len(text) && letter(text[end]); end += 2 {
		switch rest := text[end+1:]; {
		case len(rest) > 0 && rest[0] >= utf8.RuneSelf, len(rest) > 1 && rest[0] == '.' && rest[1] >= utf8.RuneSelf:
			return end, false
		case len(rest) > 0 && alnum[rest[0]]:
			return pos, true
		case len(rest) > 1 && rest[0] == '.' && letter(rest[1]):
		case end == pos:
			return pos, true
		default:
			return end + 1, true
		}
	}
	return pos, true
}

func digit(b byte) bool  { return b >= '0' && b <= '9' }
func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// startsWord says that a character may begin a word: a letter, a number, or a
// symbol, which may be made of letters (Ⓐ, ㎏).
func startsWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r) && r != utf8.RuneError
}

// boundary returns the first place after pos where a word ends whatever stands
// before and after.
func boundary(text []byte, pos int) int {
	for pos < len(text) {
		b := text[pos]
		if b < utf8.RuneSelf {
			if !alnum[b] && b != '.' && b != '\'' && b != '"' {
				return pos
			}
			pos++
			continue
		}
		r, n := utf8.DecodeRune(text[pos:])
		if r == utf8.RuneError || isBigram(r) || unicode.IsSpace(r) || unicode.Is(unicode.Pc, r) {
			return pos
		}
		pos += n
	}
	return pos
}

// segments cuts text[start:end] by UAX #29 and yields the words' terms.
func (t *tokenizer) segments(start, end int) bool {
	if t.words == nil {
		t.words = words.FromBytes(nil)
	}
	it := t.words
	it.SetText(t.text[start:end])
	for it.Next() {
		if !t.parts(start+it.Start(), start+it.End()) {
			return false
		}
	}
	return true
}

// parts cuts a word of UAX #29 at the punctuation inside it, as far as that does
// not hold a word together, and yields the parts' terms.
func (t *tokenizer) parts(start, end int) bool {
	seg := t.text[start:end]
	whole := isAcronym(seg)
	from, number, found := 0, false, false
	for i := 0; i < len(seg); {
		r, n := utf8.DecodeRune(seg[i:])
		switch {
		case unicode.IsNumber(r):
			number, found = true, true
		case unicode.IsLetter(r) || unicode.Is(unicode.So, r):
			number, found = false, true
		case !found: // a mark of nothing
			from = i + n
		case unicode.IsMark(r) || ignored(r) || isGlue(r) && !number || isDot(r) && (number || whole):
		default:
			if found && !t.emit(start+from, start+i) {
				return false
			}
			from, found = i+n, false
		}
		i += n
	}
	return !found || t.emit(start+from, end)
}

// isDot says that a character is a full stop, in any width.
func isDot(r rune) bool {
	return r == '.' || r == '\u2024' || r == '\uFE52' || r == '\uFF0E'
}

// isAcronym says that a word is single letters with dots between them, perhaps
// with an apostrophe and more letters at its end.
func isAcronym(seg []byte) bool {
	dots, open, ending := 0, false, false
	for i := 0; i < len(seg); {
		r, n := utf8.DecodeRune(seg[i:])
		i += n
		switch {
		case unicode.IsLetter(r) && (!open || ending):
			open = true
		case unicode.IsMark(r) && open, ignored(r):
		case isDot(r) && open && !ending:
			dots++
			open = false
		case isApostrophe(r) && open && !ending:
			ending = true
		default:
			return false
		}
	}
	return dots > 0 && open
}
