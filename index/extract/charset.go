package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// readText makes text in UTF-8 of d.Text, or returns an error that matches
// ErrBinary. Text in another encoding is replaced, and d.Extracted set; so is
// text with a terminal's escape sequences, which are dropped. Lines stay lines.
func readText(d *Document) error {
	text, decoded, err := toUTF8(d.Text, declaredIn(d.Text))
	if err != nil {
		return err
	}
	text, stripped := stripEscapes(text)
	if decoded || stripped {
		d.replaceText(text)
	}
	return nil
}

// replaceText makes what was extracted the document's text, as much of it as the
// budget has left.
func (d *Document) replaceText(text []byte) {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	d.Text, d.Extracted = text, true
	left := max(d.budget.left.Text, 0)
	err := d.budget.keep(int64(len(text)))
	if err == nil {
		return
	}
	d.Truncated = err.Error()
	end := int(left)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	d.Text = text[:end]
}

// toUTF8 returns text in UTF-8: data itself, not decoded, if it is that, even with
// some bytes that are wrong. declared is the encoding that the text names, or empty:
// it is believed where the bytes do not say otherwise. The error matches ErrBinary.
func toUTF8(data []byte, declared string) (text []byte, decoded bool, err error) {
	if err := checkText(data); err != nil {
		return nil, false, err
	}
	if e := wideEncoding(data); e != nil {
		return decodeWith(e, data), true, nil
	}
	if decode := escapedEncoding(data[:min(len(data), sampleSize)], declared); decode != nil {
		return decode(data), true, nil
	}
	if mostlyUTF8(data) {
		return data, false, nil
	}
	for _, e := range []encoding.Encoding{named(declared), detectCharset(evidence(data))} {
		if e == nil || e == encoding.Nop {
			continue
		}
		if text := decodeWith(e, data); decodedWell(text) {
			return text, true, nil
		}
	}
	return decodeWith(charmap.Windows1252, data), true, nil
}

// decodeWith decodes a text; what the encoding does not have becomes U+FFFD.
func decodeWith(e encoding.Encoding, data []byte) []byte {
	text, err := e.NewDecoder().Bytes(data)
	if err != nil { // of a source that ends in a character
		return bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	return text
}

// decodedWell says that hardly a character could not be decoded.
func decodedWell(text []byte) bool {
	return bytes.Count(text, []byte("\ufffd"))*100 <= utf8.RuneCount(text)
}

// bytesUTF8 is the mark in front of a text in UTF-8.
const bytesUTF8 = "\xEF\xBB\xBF"

// wideEncoding returns UTF-16 or UTF-32 for text that begins with its mark or
// has NULs where Latin text in it has them, and nil for any other.
func wideEncoding(data []byte) encoding.Encoding {
	for _, m := range []struct {
		mark string
		e    encoding.Encoding
	}{
		{"\xFF\xFE\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM)},
		{"\x00\x00\xFE\xFF", utf32.UTF32(utf32.BigEndian, utf32.UseBOM)},
		{"\xFF\xFE", utf16.UTF16(utf16.LittleEndian, utf16.UseBOM)},
		{"\xFE\xFF", utf16.UTF16(utf16.BigEndian, utf16.UseBOM)},
	} {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.e
		}
	}
	return wideByNULs(data[:min(len(data), sampleSize)])
}

// wideByNULs tells wide encodings without a mark. In UTF-32 the highest byte of
// four is always 0; in UTF-16 the higher byte of two is, for spaces and line ends
// at the least, and the lower one hardly ever.
func wideByNULs(sample []byte) encoding.Encoding {
	var nul [4]int
	for i, c := range sample {
		if c == 0 {
			nul[i%4]++
		}
	}
	n := len(sample) / 4
	even, odd := nul[0]+nul[2], nul[1]+nul[3]
	big, little := wideSpaces(sample)
	if n < 2 || even+odd == 0 || len(sample)%2 != 0 && len(sample) < sampleSize {
		return nil
	}
	var e encoding.Encoding
	switch {
	case nul[3] >= n && nul[2] > n/2 && nul[0]*16 <= n:
		e = utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case nul[0] >= n && nul[1] > n/2 && nul[3]*16 <= n:
		e = utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case (even*32 <= odd || big*32 < little) && enough(odd, little, sample) && !narrow(sample):
		e = utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)
	case (odd*32 <= even || little*32 < big) && enough(even, big, sample) && !narrow(sample):
		e = utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)
	default:
		return nil
	}
	if text := decodeWith(e, sample[:4*n]); !decodedWell(text) || !looksWritten(text) {
		return nil
	}
	return e
}

// enough says that a few NULs by chance are not taken for UTF-16: half of its characters
// have one, or it has spaces or line ends.
func enough(nuls, spaces int, sample []byte) bool { return spaces > 0 || 4*nuls >= len(sample) }

// wideSpaces counts the spaces and line ends of UTF-16 in either order of bytes:
// Chinese has NULs in other places too.
func wideSpaces(sample []byte) (big, little int) {
	for i := 0; i+1 < len(sample); i += 2 {
		switch {
		case sample[i] == 0 && isSpace(rune(sample[i+1])) && sample[i+1] != 0:
			big++
		case sample[i+1] == 0 && isSpace(rune(sample[i])) && sample[i] != 0:
			little++
		}
	}
	return big, little
}

// narrow says that the pairs of bytes without a NUL are many and nearly all of them
// two characters of ASCII, so that the NULs are rather between texts of one byte a
// character.
func narrow(sample []byte) bool {
	ascii, all := 0, 0
	for i := 0; i+1 < len(sample); i += 2 {
		if sample[i] == 0 || sample[i+1] == 0 {
			continue
		}
		all++
		if printable(sample[i]) && printable(sample[i+1]) {
			ascii++
		}
	}
	return all*8 > len(sample) && ascii*10 > all*8
}

func printable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' }

// looksWritten says that a decoded text has hardly a control character or a place
// that is no character.
func looksWritten(text []byte) bool {
	odd, all := 0, 0
	for _, r := range string(text) {
		all++
		if r != '\t' && r != '\n' && r != '\r' && r != '\f' && !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) {
			odd++
		}
	}
	return odd*50 <= all
}

// escapedEncoding returns the decoder of an encoding in seven bits whose escapes
// the text has, or nil.
func escapedEncoding(sample []byte, declared string) func([]byte) []byte {
	has := func(escapes ...string) bool {
		for _, e := range escapes {
			if bytes.Contains(sample, []byte(e)) {
				return true
			}
		}
		return false
	}
	with := func(e encoding.Encoding) func([]byte) []byte {
		return func(data []byte) []byte { return decodeWith(e, data) }
	}
	switch {
	case has("\x1b$B", "\x1b$@", "\x1b$(D", "\x1b(I"):
		return with(japanese.ISO2022JP)
	case has("\x1b$)C"):
		return decodeISO2022KR
	case strings.EqualFold(declared, "hz-gb-2312") || isHZ(sample):
		return with(simplifiedchinese.HZGB2312)
	}
	return nil
}

// decodeISO2022KR decodes Korean between shifts, RFC 1557.
func decodeISO2022KR(data []byte) []byte {
	high, shifted := make([]byte, 0, len(data)), false
	for _, c := range bytes.ReplaceAll(data, []byte("\x1b$)C"), nil) {
		switch {
		case c == 0x0e || c == 0x0f:
			shifted = c == 0x0e
			continue
		case c == '\n':
			shifted = false
		case shifted && c > ' ':
			c |= 0x80
		}
		high = append(high, c)
	}
	return decodeWith(korean.EUCKR, high)
}

// isHZ says that a text has GB 2312 in seven bits, RFC 1843: pairs between ~{ and
// ~}, never across a line's end.
func isHZ(sample []byte) bool {
	found := false
	for {
		_, rest, ok := bytes.Cut(sample, []byte("~{"))
		if !ok {
			return found
		}
		end := bytes.Index(rest, []byte("~}"))
		if end < 4 || end%2 != 0 {
			return false
		}
		for i, c := range rest[:end] {
			if c < 0x21 || c > 0x7e || i%2 == 0 && c > 0x77 {
				return false
			}
		}
		found, sample = true, rest[end+2:]
	}
}

// mostlyUTF8 says that data is UTF-8, with not too many wrong bytes for the
// characters beyond ASCII in it, unless it is sound text in another encoding, of
// which some letters look like UTF-8. 0xFF alone is no sign of any other encoding.
func mostlyUTF8(data []byte) bool {
	if utf8.Valid(data) || bytes.HasPrefix(data, []byte(bytesUTF8)) {
		return true
	}
	good, bad := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r != utf8.RuneError || n > 1:
			good++
		case data[i] != 0xff:
			bad++
		}
		i += n
	}
	return good > bad || good+bad == 0 || 4*good > bad && !otherScript(data)
}

// otherNames are encodings by names that the standard of the web does not have.
var otherNames = map[string]encoding.Encoding{
	"ibm850": charmap.CodePage850, "cp850": charmap.CodePage850, "850": charmap.CodePage850,
	"ibm852": charmap.CodePage852, "cp852": charmap.CodePage852,
	"ibm855": charmap.CodePage855, "cp855": charmap.CodePage855,
	"ibm437": charmap.CodePage437, "cp437": charmap.CodePage437, "437": charmap.CodePage437,
	"ibm858": charmap.CodePage858, "cp858": charmap.CodePage858,
	"ibm860": charmap.CodePage860, "ibm862": charmap.CodePage862, "ibm863": charmap.CodePage863, "ibm865": charmap.CodePage865,
	"cp1047": charmap.CodePage1047, "ibm037": charmap.CodePage037,
	"cp932": japanese.ShiftJIS, "ms932": japanese.ShiftJIS, "cp949": korean.EUCKR, "cp936": simplifiedchinese.GBK,
	"cp1250": charmap.Windows1250, "cp1251": charmap.Windows1251, "cp1252": charmap.Windows1252,
	"tis-620": charmap.Windows874, "maccyrillic": charmap.MacintoshCyrillic, "macroman": charmap.Macintosh,
	"iso-8859-8-i": charmap.ISO8859_8, "hz-gb-2312": simplifiedchinese.HZGB2312, "gb2312-80": simplifiedchinese.GBK,
	"utf-32": utf32.UTF32(utf32.BigEndian, utf32.UseBOM), "utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	"utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
}

// named returns the encoding of a name as files and mails give it: encoding.Nop
// for ASCII and UTF-8, which need no decoding, and nil for an unknown one.
func named(name string) encoding.Encoding {
	name = strings.ToLower(strings.Trim(name, " \t\r\n\"'"))
	for _, end := range []string{"-unix", "-dos", "-mac"} {
		name = strings.TrimSuffix(name, end)
	}
	switch name {
	case "":
		return nil
	case "ascii", "us-ascii", "utf-8", "utf8", "utf-8-sig", "unicode-1-1-utf-8":
		return encoding.Nop
	}
	if e, ok := otherNames[strings.ReplaceAll(name, "_", "-")]; ok {
		return e
	}
	if e, err := htmlindex.Get(name); err == nil && e != encoding.Replacement {
		return e
	}
	return nil
}
