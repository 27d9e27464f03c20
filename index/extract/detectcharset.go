package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"

	gogs "github.com/gogs/chardet"
	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// detectCharset guesses the encoding of a text that is not UTF-8 from a sample:
// by gogs' port of ICU's detector, which is the better one for Western text, and
// by wlynxg's port of Mozilla's for the encodings that ICU does not know or takes
// for Latin-1. What neither knows is Windows-1252.
func detectCharset(sample []byte) encoding.Encoding {
	name, sure := icuCharset(sample)
	second := chardet.Detect(sample)
	other := strings.ToLower(second.Encoding)
	switch {
	case mozillaOnly[other] && (second.Confidence > 0.5 || sure < 50), vague[name] && sure < 80 && beyondLatin(other):
		name = other
	}
	if e := named(refined(name, sample)); e != nil && e != encoding.Nop {
		return e
	}
	return charmap.Windows1252
}

// mozillaOnly are encodings that ICU's detector does not know.
var mozillaOnly = setOf("ibm866 ibm855 tis-620 maccyrillic")

// vague are answers that ICU's detector gives where it knows nothing better.
var vague = map[string]bool{"": true, "iso-8859-1": true, "windows-1252": true}

// beyondLatin says that an encoding is one of another script.
func beyondLatin(name string) bool {
	switch name {
	case "", "ascii", "utf-8", "iso-8859-1", "windows-1252", "iso-8859-9", "windows-1254", "macroman":
		return false
	}
	return true
}

// unusual are encodings that no file on a desktop has.
func unusual(name string) bool {
	return strings.HasPrefix(name, "ibm4") || strings.HasPrefix(name, "utf-") || strings.HasPrefix(name, "iso-2022")
}

// evidence returns the part of a text that its encoding is told from: of a long one
// the lines that are not all ASCII, as ICU's detector looks at 8 KiB only.
func evidence(data []byte) []byte {
	if len(data) <= icuSample {
		return data
	}
	var out []byte
	for rest := data; len(rest) > 0 && len(out) < sampleSize; {
		at := bytes.IndexFunc(rest, func(r rune) bool { return r >= utf8.RuneSelf })
		if at < 0 {
			break
		}
		start := max(bytes.LastIndexByte(rest[:at], '\n')+1, at-icuSample/8)
		end := min(len(rest), at+icuSample)
		if i := bytes.IndexByte(rest[at:end], '\n'); i >= 0 {
			end = at + i + 1
		}
		out, rest = append(out, rest[start:end]...), rest[end:]
	}
	return out
}

// icuSample is how much ICU's detector looks at, in bytes.
const icuSample = 8 << 10

// otherScript says that text is sound in an encoding of the Far East, or as good as
// surely in one of another script.
func otherScript(data []byte) bool {
	sample := evidence(data)
	second := chardet.Detect(sample)
	if beyondLatin(strings.ToLower(second.Encoding)) && second.Confidence > 0.6 {
		return true
	}
	name, sure := icuCharset(sample)
	switch name {
	case "shift_jis", "gb18030", "euc-jp", "euc-kr", "big5":
		return sure >= 80 && decodedWell(decodeWith(named(name), sample))
	}
	return false
}

// icuCharset returns the best of the detector's answers, in lower case, and how sure
// that is, of 100. It tries all encodings at once, so that equal ones come in any
// order: the name decides.
func icuCharset(sample []byte) (name string, sure int) {
	all, err := gogs.NewTextDetector().DetectAll(sample)
	if err != nil {
		return "", 0
	}
	for _, r := range all {
		charset := strings.ToLower(r.Charset)
		if !unusual(charset) && (r.Confidence > sure || r.Confidence == sure && charset < name) {
			name, sure = charset, r.Confidence
		}
	}
	return name, sure
}
