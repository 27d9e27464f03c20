package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// alnum says which bytes are ASCII letters or digits.
var alnum = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	return t
}()

// plainTokens yields the lower-cased maximal runs of letters and numbers.
func (a *Analyzer) plainTokens(text []byte, yield func(Token) bool) {
	analyse := a.plainWord
	for pos := 0; pos < len(text); {
		start, end := plainRun(text, pos)
		if start == end {
			return
		}
		e := a.cache.get(text[start:end], analyse)
		if e.term != "" && !yield(Token{e.term, start, end}) {
			return
		}
		pos = end
	}
}

// plainRun returns the first maximal run of letters and numbers at or after
// pos, empty when there is none.
func plainRun(text []byte, pos int) (start, end int) {
	for pos < len(text) {
		if b := text[pos]; b >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(text[pos:])
			if wordy(r) {
				break
			}
			pos += n
		} else if alnum[b] {
			break
		} else {
			pos++
		}
	}
	start = pos
	for pos < len(text) {
		if b := text[pos]; b >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(text[pos:])
			if !wordy(r) {
				break
			}
			pos += n
		} else if alnum[b] {
			pos++
		} else {
			break
		}
	}
	return start, pos
}

// wordy says that a character is a letter or a number.
func wordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// plainWord makes a term of a run of letters and numbers.
func (a *Analyzer) plainWord(raw string) entry {
	word := lower(raw)
	if utf8.RuneCountInString(word) < a.options.MinLength {
		return entry{raw: raw}
	}
	if _, stopped := a.stop[word]; stopped {
		return entry{raw: raw}
	}
	return entry{raw: raw, term: a.stemmed(word)}
}

// lower maps each character to its lower case by Unicode's simple mapping. That
// is one character for one: U+0130 becomes i, and a final sigma is not told
// from another. Characters are as many as before, their bytes may not be. The
// mapping and the categories are those of package unicode (Unicode 15.0 in Go
// 1.26); a test compares them, character by character, with the reference's.
func lower(s string) string {
	return strings.Map(unicode.ToLower, s)
}
