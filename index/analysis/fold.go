package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldDiacritics returns a word without the marks that a reader may leave out:
//
//   - Latin and Greek: all. The letters with a stroke and their like, which have
//     no decomposition, are those a keyboard without them gives (ø o, ł l, đ d,
//     æ ae, œ oe, þ th, ı i).
//   - Cyrillic: stress marks, and ё is е. The breve of й and the marks of other
//     letters stay: they are letters of their own.
//   - Hebrew points and accents; Arabic vowel signs, and the hamza and madda on
//     an alef; Syriac points.
//
// The vowel signs, viramas and nuktas of India and South-East Asia and the voice
// marks of kana make other words and stay.
func foldDiacritics(word string) string {
	if isASCII(word) {
		return word
	}
	out := make([]byte, 0, len(word))
	base := rune(0)
	for _, r := range norm.NFD.String(word) {
		if unicode.IsMark(r) {
			if !optional(base, r) {
				out = utf8.AppendRune(out, r)
			}
			continue
		}
		base = r
		if plain := plainLetters[r]; plain != "" {
			out = append(out, plain...)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(norm.NFC.Bytes(out))
}

// plainLetters are what letters without a decomposition are folded to; case is
// folded already.
var plainLetters = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ħ': "h", 'ŧ': "t", 'ı': "i", 'ƀ': "b", 'ɨ': "i",
	'æ': "ae", 'œ': "oe", 'ð': "d", 'þ': "th",
}

// optional says that a mark on a base may be left out.
func optional(base, mark rune) bool {
	switch {
	case unicode.Is(generalMarks, mark):
		return !unicode.Is(unicode.Cyrillic, base) || optionalCyrillic(base, mark)
	case mark >= 0x0653 && mark <= 0x0655:
		return base == 'ا'
	}
	return unicode.Is(scriptMarks, mark)
}

// optionalCyrillic says so of the marks on a Cyrillic letter.
func optionalCyrillic(base, mark rune) bool {
	switch mark {
	case 0x0300:
		return true
	case 0x0301: // ѓ and ќ are letters
		return base != 'г' && base != 'к'
	case 0x0308:
		return base == 'е'
	}
	return false
}

// generalMarks are the blocks of combining marks that belong to no script.
var generalMarks = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0300, Hi: 0x036F, Stride: 1},
	{Lo: 0x1AB0, Hi: 0x1AFF, Stride: 1},
	{Lo: 0x1DC0, Hi: 0x1DFF, Stride: 1},
	{Lo: 0x20D0, Hi: 0x20FF, Stride: 1},
	{Lo: 0xFE20, Hi: 0xFE2F, Stride: 1},
}}

// scriptMarks are the points, vowel signs and accents of Hebrew, Arabic and
// Syriac. The two Arabic hamzas and the madda are not among them.
var scriptMarks = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0591, Hi: 0x05BD, Stride: 1},
	{Lo: 0x05BF, Hi: 0x05BF, Stride: 1},
	{Lo: 0x05C1, Hi: 0x05C2, Stride: 1},
	{Lo: 0x05C4, Hi: 0x05C5, Stride: 1},
	{Lo: 0x05C7, Hi: 0x05C7, Stride: 1},
	{Lo: 0x0610, Hi: 0x061A, Stride: 1},
	{Lo: 0x064B, Hi: 0x0652, Stride: 1},
	{Lo: 0x0656, Hi: 0x065F, Stride: 1},
	{Lo: 0x0670, Hi: 0x0670, Stride: 1},
	{Lo: 0x06D6, Hi: 0x06DC, Stride: 1},
	{Lo: 0x06DF, Hi: 0x06E4, Stride: 1},
	{Lo: 0x06E7, Hi: 0x06E8, Stride: 1},
	{Lo: 0x06EA, Hi: 0x06ED, Stride: 1},
	{Lo: 0x0711, Hi: 0x0711, Stride: 1},
	{Lo: 0x0730, Hi: 0x074A, Stride: 1},
	{Lo: 0x08CA, Hi: 0x08E1, Stride: 1},
	{Lo: 0x08E3, Hi: 0x08FF, Stride: 1},
}}
