package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// decodeNames makes UTF-8 of the names of an archive, which say nothing of their
// encoding and all have the same one: the first in which all make sense together, and
// code page 437, the zip format's own, where none does.
func decodeNames(names []string) []string {
	all := strings.Join(names, "\n")
	if utf8.ValidString(all) {
		return names
	}
	for _, c := range []struct {
		encoding encoding.Encoding
		letters  []*unicode.RangeTable
	}{
		{japanese.ShiftJIS, []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
		{simplifiedchinese.GBK, []*unicode.RangeTable{unicode.Han}},
		{korean.EUCKR, []*unicode.RangeTable{unicode.Hangul}},
		{charmap.CodePage866, []*unicode.RangeTable{unicode.Cyrillic}},
	} {
		if text, err := c.encoding.NewDecoder().String(all); err == nil && plausible(text, c.letters) {
			return strings.Split(text, "\n")
		}
	}
	text, _ := charmap.CodePage437.NewDecoder().String(all) // no byte is invalid
	return strings.Split(text, "\n")
}

// plausible reports whether most of the letters beyond ASCII are of the scripts.
func plausible(text string, scripts []*unicode.RangeTable) bool {
	other, own := 0, 0
	for _, r := range text {
		switch {
		case r == utf8.RuneError || r >= 0x80 && r < 0xA0 || r >= 0xE000 && r < 0xF900:
			return false
		case r < 0x80:
		case unicode.In(r, scripts...):
			own++
		default:
			other++
		}
	}
	return own > 2*other
}
