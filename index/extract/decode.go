package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Decode returns a span of a document's text as it is shown: UTF-8, with
// U+FFFD for each byte that is not, and \n for every line end (\r\n or \r).
func Decode(span []byte) string {
	if utf8.Valid(span) && bytes.IndexByte(span, '\r') < 0 {
		return string(span)
	}
	var b strings.Builder
	b.Grow(len(span))
	for i := 0; i < len(span); {
		r, n := utf8.DecodeRune(span[i:])
		i += n
		if r == '\r' {
			r = '\n'
			if i < len(span) && span[i] == '\n' {
				i++
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
