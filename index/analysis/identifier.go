package analysis

import (
	"unicode"
	"unicode/utf8"
)

// identifier yields the terms of the parts of a name in code: a capital after a
// small letter begins a part, and the last of several capitals before a small
// one (HTTPServer: HTTP, Server). A word of one part has none.
func (t *tokenizer) identifier(start, end int) bool {
	from := start
	for pos := start; pos < end; {
		_, n := utf8.DecodeRune(t.text[pos:end])
		if pos > from && beginsPart(t.text[start:end], pos-start) {
			if !t.emitWord(from, pos) {
				return false
			}
			from = pos
		}
		pos += n
	}
	return from == start || t.emitWord(from, end)
}

// beginsPart says that a part of a name begins at a place inside of it.
func beginsPart(name []byte, at int) bool {
	r, n := utf8.DecodeRune(name[at:])
	if !unicode.IsUpper(r) {
		return false
	}
	before, _ := utf8.DecodeLastRune(name[:at])
	if unicode.IsLower(before) || unicode.IsDigit(before) {
		return true
	}
	after, _ := utf8.DecodeRune(name[at+n:])
	return unicode.IsUpper(before) && unicode.IsLower(after)
}
