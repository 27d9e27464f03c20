package extract

import (
	"slices"
	"strings"

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
	first := icuCharset(sample)
	second := strings.ToLower(chardet.Detect(sample).Encoding)
	name := first
	if mozillaOnly[second] || latin1[first] && beyondLatin(second) {
		name = second
	}
	if e := named(name); e != nil && e != encoding.Nop {
		return e
	}
	return charmap.Windows1252
}

// mozillaOnly are encodings that ICU's detector does not know.
var mozillaOnly = map[string]bool{"ibm866": true, "ibm855": true, "tis-620": true, "maccyrillic": true}

// latin1 are answers that ICU's detector gives where it knows nothing better.
var latin1 = map[string]bool{"": true, "iso-8859-1": true, "windows-1252": true}

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

// icuCharset returns the best of the detector's answers, in lower case. It tries
// all encodings at once, so that equal ones come in any order: the name decides.
func icuCharset(sample []byte) string {
	all, err := gogs.NewTextDetector().DetectAll(sample)
	if err != nil {
		return ""
	}
	for i := range all {
		all[i].Charset = strings.ToLower(all[i].Charset)
	}
	all = slices.DeleteFunc(all, func(r gogs.Result) bool { return unusual(r.Charset) })
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b gogs.Result) int {
		if a.Confidence != b.Confidence {
			return b.Confidence - a.Confidence
		}
		return strings.Compare(a.Charset, b.Charset)
	}).Charset
}
