package extract

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const (
	russian  = "Вороны живут большими стаями и зимуют в городах, где легче найти пищу.\nЛетом они возвращаются в лес.\n"
	ukrain   = "Київ є столицею України, її найбільшим містом і важливим осередком культури.\n"
	greek    = "Τα πουλιά πετούν πάνω από τη θάλασσα και γυρίζουν στο νησί το βράδυ, όταν πέφτει ο ήλιος.\n"
	german   = "Über den Dächern fliegen Krähen; die Kühe müssen früh gemolken werden, sagt der Bäcker schön.\n"
	polish   = "Wróble żyją w mieście, gdzie łatwiej znaleźć pożywienie; latem wracają do lasów i na łąki.\n"
	latvian  = "Putni lido virs jūras un vakarā atgriežas salā, kad saule riet; vasarā tie dzīvo mežā šķērsām upēm.\n"
	slovene  = "Ptiči letijo čez morje in se zvečer vračajo na otok, ko sonce že zaide; poleti živijo v žametnem šumečem gozdu.\n"
	hindi    = "पक्षी समुद्र के ऊपर उड़ते हैं और शाम को द्वीप पर लौट आते हैं।\n"
	hebrew   = "הציפורים עפות מעל הים וחוזרות אל האי בערב כאשר השמש שוקעת מעבר להרים\n"
	thai     = "นกบินอยู่เหนือทะเลและกลับมายังเกาะในตอนเย็นเมื่อพระอาทิตย์ตกดิน\n"
	japan    = "鳥は海の上を飛び、夕方になると島へ帰ってくる。夏には森で暮らしている。\n"
	chinese  = "鸟儿在海面上飞翔，傍晚太阳下山的时候回到岛上，夏天它们住在森林里。\n"
	mandarin = "鳥兒在海面上飛翔，傍晚太陽下山的時候回到島上，夏天牠們住在森林裡。\n"
	korean1  = "새들은 바다 위를 날고 해가 지는 저녁이면 섬으로 돌아온다. 여름에는 숲에서 산다.\n"
)

// Text is found in whatever encoding it is, without any declaration.
func TestEncodingsAreDetected(t *testing.T) {
	for _, c := range []struct {
		name, text string
		e          encoding.Encoding
	}{
		{"windows-1251", russian, charmap.Windows1251}, {"koi8-r", russian, charmap.KOI8R}, {"cp866", russian, charmap.CodePage866},
		{"cp855", russian, charmap.CodePage855}, {"iso-8859-5", russian, charmap.ISO8859_5}, {"maccyrillic", russian, charmap.MacintoshCyrillic},
		{"koi8-u", ukrain, charmap.KOI8U}, {"windows-1253", greek, charmap.Windows1253}, {"iso-8859-7", greek, charmap.ISO8859_7},
		{"windows-1252", german, charmap.Windows1252}, {"cp850", german, charmap.CodePage850}, {"macroman", german, charmap.Macintosh},
		{"iso-8859-2", polish, charmap.ISO8859_2}, {"windows-1250", polish, charmap.Windows1250}, {"cp852", polish, charmap.CodePage852},
		{"windows-1257", latvian, charmap.Windows1257}, {"slovene", slovene, charmap.Windows1250}, {"slovene", slovene, charmap.ISO8859_2},
		{"utf-16le hindi", hindi, utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)},
		{"windows-1255", hebrew, charmap.Windows1255}, {"tis-620", thai, charmap.Windows874},
		{"shift_jis", japan, japanese.ShiftJIS}, {"euc-jp", japan, japanese.EUCJP}, {"iso-2022-jp", japan, japanese.ISO2022JP},
		{"gb18030", chinese, simplifiedchinese.GB18030}, {"hz", chinese, simplifiedchinese.HZGB2312}, {"big5", mandarin, traditionalchinese.Big5},
		{"euc-kr", korean1, korean.EUCKR},
		{"utf-16le", russian, utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)}, {"utf-16be", german, utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)},
		{"utf-16 mark", chinese, utf16.UTF16(utf16.BigEndian, utf16.UseBOM)}, {"utf-16le chinese", chinese, utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)},
		{"utf-32le", german, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)}, {"utf-32 mark", russian, utf32.UTF32(utf32.BigEndian, utf32.UseBOM)},
	} {
		text := strings.Repeat(c.text, 3)
		data, err := c.e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(c.name, err)
		}
		d := read(t, "a.txt", data)
		if string(d.Text) != text || !d.Extracted {
			t.Errorf("%s: %.100q", c.name, d.Text)
		}
	}
}

func TestISO2022KR(t *testing.T) {
	high, err := korean.EUCKR.NewEncoder().String("새들은")
	if err != nil {
		t.Fatal(err)
	}
	seven := []byte(high)
	for i := range seven {
		seven[i] &= 0x7f
	}
	if d := read(t, "a.txt", "\x1b$)C\nabc \x0e"+string(seven)+"\x0f end\n"); string(d.Text) != "\nabc 새들은 end\n" {
		t.Errorf("%q", d.Text)
	}
}

// What is UTF-8 but for some bytes keeps its offsets.
func TestUTF8WithWrongBytesStays(t *testing.T) {
	for _, text := range []string{"Grüße \xff\xfe und \xc3( mehr ö\n", "a\xffb", "\xEF\xBB\xBFa\xe9", "über\x00all\n and so on and on\n", russian + "\xe9"} {
		if d := read(t, "a.txt", text); d.Extracted || string(d.Text) != text {
			t.Errorf("%q: %q", text, d.Text)
		}
	}
}

func TestDeclaredEncodings(t *testing.T) {
	latvian, err := charmap.Windows1257.NewEncoder().String("# -*- coding: windows-1257 -*-\nputniņš ēd\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := read(t, "a.py", latvian); !strings.Contains(string(d.Text), "putniņš ēd") {
		t.Errorf("%q", d.Text)
	}
	for text, want := range map[string]string{
		"<?xml version='1.0' encoding='ISO-8859-2'?>": "ISO-8859-2", "% !TeX\n\\usepackage[latin9]{inputenc}": "iso-8859-15",
		"/* vim: set fileencoding=cp1250 : */": "cp1250", "@charset \"koi8-r\";": "koi8-r", "no coding": "",
	} {
		if got := declaredIn([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestEscapeSequencesAreDropped(t *testing.T) {
	d := read(t, "a.log", "\x1b[31mERROR\x1b[0m \x1b]0;title\adisk \x1b(Bfull\nN\bNA\bAM\bME\bE\n")
	if string(d.Text) != "ERROR disk full\nNAME\n" || !d.Extracted {
		t.Errorf("%q", d.Text)
	}
}

func TestExtractedTextIsBounded(t *testing.T) {
	l := DefaultLimits
	l.Text = 10
	d, err := extractWithin("a.txt", []byte("\xff\xfe"+strings.Repeat("\xe9\x00", 20)), newBudget(l))
	if err != nil || string(d.Text) != "ééééé" || d.Truncated == "" {
		t.Errorf("%v, %v", d, err)
	}
}

func TestBinaryIsNotDecoded(t *testing.T) {
	for _, data := range []string{"\x00\x01\x02\x03\x04\x05\x06\x07", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00\x00\x00\xe0", "abc\x00def\x00ghi\x00jkl\x00mno\x00"} {
		if d, err := Extract("a.dat", []byte(data)); !errors.Is(err, ErrBinary) {
			t.Errorf("%q: %v, %v", data, d, err)
		}
	}
}
