package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text and paths come from files that anybody may have written. Printed as it
// stands, a control character or an escape sequence in them could move the
// cursor, change the title, or write to the clipboard of the person who reads;
// a bidirectional override could make one name look like another.

// harmful tells whether a terminal could act on r.
func harmful(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == '\u2028', r == '\u2029', r == '\u200e', r == '\u200f', r == '\u061c':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	case r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return r == utf8.RuneError
}

// picture is a visible stand-in for a harmful character.
func picture(r rune) rune {
	switch {
	case r >= 0 && r < 0x20:
		return 0x2400 + r
	case r == 0x7f:
		return 0x2421
	}
	return utf8.RuneError
}

// safeText makes text harmless, keeping line ends and tabs.
func safeText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !harmful(r) {
			return r
		}
		return picture(r)
	}, s)
}

// safePath makes a path harmless and one line long: harmful characters are
// written as in Go source text.
func safePath(path string) string {
	return escapeRunes(path, func(r rune) bool { return harmful(r) || r == '\u00a0' })
}

// linePath escapes control characters in a path, line ends among them, and
// leaves all else as it is.
func linePath(path string) string { return escapeRunes(path, unicode.IsControl) }

// escapeRunes writes the runes that must be escaped as \n, \x1b or \u202e, and
// bytes that are no UTF-8 as \xff.
func escapeRunes(s string, escape func(rune) bool) string {
	if strings.IndexFunc(s, escape) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case !escape(r):
			b.WriteString(s[i : i+size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// safeJSON escapes what encoding/json leaves as it is and a terminal could
// act on. In JSON such characters stand only inside strings, so the value is
// the same.
func safeJSON(raw []byte) []byte {
	return []byte(mapHarmful(string(raw)))
}

func mapHarmful(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == utf8.RuneError || !harmful(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := surrogates(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// surrogates splits a rune beyond the basic plane as UTF-16 does.
func surrogates(r rune) (hi, lo rune) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

// oneLine makes text harmless and folds every run of white space to one blank.
func oneLine(s string) string {
	return safeText(strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " "))
}
