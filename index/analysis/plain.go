package analysis

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// alnum says which bytes are ASCII letters or digits.
var alnum = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	return t
}()

// plainTokens yields the lower-cased maximal runs of letters and numbers.
func (a *Analyzer) plainTokens(text []byte, yield func(Token) bool) {
	analyse, text := a.plainWord, slices.Clip(text)
	for pos := 0; pos < len(text); {
		start, end := plainRun(text, pos)
		if start == end {
			return
		}
		e := a.cache.get(text[start:end], analyse)
		if e.term != "" && !yield(Token{Term: e.term, Start: start, End: end}) {
			return
		}
		pos = end
	}
}

// plainNumbers gives a memo the words that plainTokens makes terms of.
func (a *Analyzer) plainNumbers(text []byte, m *Memo) {
	analyse, text := a.plainWord, slices.Clip(text)
	entryOf := func(raw []byte) *entry { return a.cache.get(raw, analyse) }
	for pos := 0; pos < len(text); {
		start, end := plainRun(text, pos)
		if start == end {
			return
		}
		m.word(a, text[start:end], entryOf)
		pos = end
	}
}

// plainRun returns the first maximal run of letters and numbers at or after
// pos, empty when there is none.
func plainRun(text []byte, pos int) (start, end int) {
	for pos < len(text) && !alnum[text[pos]] {
		if text[pos] >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(text[pos:])
			if wordy(r) {
				break
			}
			pos += n - 1
		}
		pos++
	}
	start = pos
	for {
		pos = alnumEnd(text, pos)
		if pos >= len(text) || text[pos] < utf8.RuneSelf {
			return start, pos
		}
		r, n := utf8.DecodeRune(text[pos:])
		if !wordy(r) {
			return start, pos
		}
		pos += n
	}
}

// alnumEnd returns the end of the ASCII letters and digits at pos. It takes
// eight bytes at a time, since the lengths of words cannot be foreseen.
func alnumEnd(text []byte, pos int) int {
	for pos+8 <= len(text) {
		if other := otherBytes(binary.LittleEndian.Uint64(text[pos:])); other != 0 {
			return pos + bits.TrailingZeros64(other)/8
		}
		pos += 8
	}
	for pos < len(text) && alnum[text[pos]] {
		pos++
	}
	return pos
}

// otherBytes has the top bit of each byte set that is no ASCII letter or digit.
// A byte below 128 plus 128-c carries into the top bit if it is at least c.
func otherBytes(w uint64) uint64 {
	const each, top = 0x0101010101010101, 0x8080808080808080
	x := w &^ top
	y := x | 0x20*each
	letters := (y + (128-'a')*each) &^ (y + (127-'z')*each)
	digits := (x + (128-'0')*each) &^ (x + (127-'9')*each)
	return (w | ^(letters | digits)) & top
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
