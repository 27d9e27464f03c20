package extract

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// codePages are the encodings by the numbers that Windows gives them.
var codePages = map[int]encoding.Encoding{
	437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855,
	858: charmap.CodePage858, 860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863,
	865: charmap.CodePage865, 866: charmap.CodePage866, 874: charmap.Windows874, 932: japanese.ShiftJIS,
	936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5,
	1200: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253,
	1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257,
	1258: charmap.Windows1258, 10000: charmap.Macintosh, 10001: japanese.ShiftJIS, 10002: traditionalchinese.Big5,
	10003: korean.EUCKR, 10007: charmap.MacintoshCyrillic, 10008: simplifiedchinese.GBK, 20866: charmap.KOI8R,
	21866: charmap.KOI8U, 28591: charmap.ISO8859_1, 28592: charmap.ISO8859_2, 28595: charmap.ISO8859_5,
	32768: charmap.Macintosh, 32769: charmap.Windows1252, 51932: japanese.EUCJP, 54936: simplifiedchinese.GB18030,
	65001: unicode.UTF8,
}

// decodePage makes UTF-8 of text in a code page; of one that is not known, as if it
// were that of western Windows.
func decodePage(page int, text []byte) string {
	enc := codePages[page]
	if enc == nil {
		enc = charmap.Windows1252
	}
	out, err := enc.NewDecoder().Bytes(text)
	if err != nil {
		return string(text)
	}
	return string(out)
}

// charsetPages are the code pages of the character sets of Windows fonts.
var charsetPages = map[int]int{
	0: 1252, 77: 10000, 78: 10001, 79: 10003, 80: 10008, 81: 10002, 89: 10007, 128: 932, 129: 949, 134: 936, 136: 950,
	161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}

// languagePage is the code page of a language of Windows.
func languagePage(language int) int {
	switch language & 0x3ff {
	case 0x02, 0x19, 0x22, 0x23, 0x2f:
		return 1251
	case 0x05, 0x0e, 0x15, 0x18, 0x1a, 0x1b, 0x24:
		return 1250
	case 0x08:
		return 1253
	case 0x1f:
		return 1254
	case 0x0d:
		return 1255
	case 0x01, 0x29:
		return 1256
	case 0x25, 0x26, 0x27:
		return 1257
	case 0x11:
		return 932
	case 0x12:
		return 949
	case 0x1e:
		return 874
	case 0x04:
		if language == 0x804 || language == 0x1004 {
			return 936
		}
		return 950
	}
	return 1252
}
