package extract

import (
	"bytes"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// refined chooses between encodings that the detectors take for one another: those
// of a script under DOS, Windows and on the Macintosh, which have the same letters
// in other places.
func refined(name string, sample []byte) string {
	switch name {
	case "windows-1251", "maccyrillic":
		return cyrillic(sample)
	case "koi8-r":
		return koi8(sample)
	case "", "iso-8859-1", "windows-1252":
		switch {
		case isBaltic(sample):
			return "windows-1257"
		case isSouthSlavic(sample):
			return "windows-1250"
		}
		return likeliest(sample, "windows-1252", "cp850", "macroman", "iso-8859-2")
	case "windows-1250":
		return likeliest(sample, "windows-1250", "cp852")
	case "iso-8859-2", "iso-8859-7", "iso-8859-8", "iso-8859-8-i":
		if hasControls1(sample) {
			return windows[name]
		}
	}
	return name
}

// windows are the encodings of Windows that have the letters of others.
var windows = map[string]string{"iso-8859-2": "windows-1250", "iso-8859-7": "windows-1253", "iso-8859-8": "windows-1255", "iso-8859-8-i": "windows-1255"}

// hasControls1 says that there are bytes that only encodings of Windows have.
func hasControls1(sample []byte) bool {
	for _, c := range sample {
		if c >= 0x80 && c < 0xa0 && c != 0x85 {
			return true
		}
	}
	return false
}

// share returns how many of the bytes beyond ASCII are among some, of 100.
func share(sample []byte, some string) int {
	n, all := 0, 1
	for _, c := range sample {
		if c >= 0x80 {
			all++
			if strings.IndexByte(some, c) >= 0 {
				n++
			}
		}
	}
	return 100 * n / all
}

// isBaltic knows Lithuanian and Latvian: no language that is written in Windows-1252
// has the letters in the places of their sz and zh, eth and thorn, beside those with
// a grave accent, a circumflex or two dots.
func isBaltic(sample []byte) bool {
	return share(sample, "\xf0\xfe") >= 5 && share(sample, "\xe8\xeb\xfb\xe2\xee") >= 20 && share(sample, "\xfd\xfa\xf3\xed") < 10
}

// isSouthSlavic knows Slovene, Croatian and Bosnian: of those letters of theirs that
// Windows-1252 has too, in the same places, and the c with a caron, which is e grave
// there, with no other letter that French or Italian has.
func isSouthSlavic(sample []byte) bool {
	return share(sample, "\x9a\x9e\x8a\x8e") >= 20 && share(sample, "\xe8\xe6\xc8\xf0") >= 10 && share(sample, "\xe9\xe0\xea") < 10
}

// cyrillic tells the encodings of Windows and the Macintosh apart by where the
// capitals are; the other letters are in the same places.
func cyrillic(sample []byte) string {
	windows, mac := 0, 0
	for _, c := range sample {
		switch {
		case c >= 0x80 && c < 0xa0:
			mac++
		case c >= 0xc0 && c < 0xdf:
			windows++
		}
	}
	if mac > windows {
		return "maccyrillic"
	}
	return "windows-1251"
}

// koi8 tells Ukrainian, whose letters Russian has frames of tables for.
func koi8(sample []byte) string {
	for i := 1; i+1 < len(sample); i++ {
		if bytes.IndexByte([]byte("\xa4\xa6\xa7\xad"), sample[i]) >= 0 && (sample[i-1] >= 0xc0 || sample[i+1] >= 0xc0) {
			return "koi8-u"
		}
	}
	return "koi8-r"
}

// likeliest returns the encoding of one byte a character in which the bytes between
// letters are letters of the same case most often; of equals the first.
func likeliest(sample []byte, names ...string) string {
	best, most := names[0], 0
	for i, name := range names {
		e, ok := named(name).(*charmap.Charmap)
		if !ok {
			continue
		}
		score := 0
		for j := 1; j+1 < len(sample); j++ {
			if c := sample[j]; c >= 0x80 && !punctuation[c] && isASCIILetter(sample[j-1]) && isASCIILetter(sample[j+1]) {
				score += fits(e.DecodeByte(c), sample[j+1] >= 'a')
			}
		}
		if i == 0 || score > most {
			best, most = name, score
		}
	}
	return best
}

// punctuation is what Windows has in the place of other systems' letters, and
// between letters: the apostrophe, dashes, the ellipsis.
var punctuation = map[byte]bool{0x85: true, 0x92: true, 0x96: true, 0x97: true}

// fits scores a character that stands between letters of a case.
func fits(r rune, lower bool) int {
	if unicode.IsLetter(r) && unicode.IsLower(r) == lower {
		return 1
	}
	return -1
}

func isASCIILetter(c byte) bool { return (c|0x20) >= 'a' && (c|0x20) <= 'z' }
