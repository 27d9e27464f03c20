package extract

import (
	"strings"
	"testing"
	"time"
)

func TestRTF(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":          {`Hello {\b bold} wo\'72ld\par next\line line\tab t`, "Hello bold world\nnext\nline\tt\n"},
		"escapes":        {`a\{b\}c\\d\~e\_f\-g`, "a{b}c\\d\u00a0e-fg\n"},
		"marks":          {`\ldblquote a\rdblquote\emdash b\bullet`, "“a”—b•\n"},
		"code page":      {`caf\'e9`, "café\n"},
		"fonts":          {`{\f1\'ef\'f0}{\f2\'93\'fa\'96\'7b}\'e9`, "пр日本é\n"},
		"Unicode":        {`\u1087?\uc2\u1088??\uc0\u1080 x\u-10179?\u-8704?`, "приx\ufffd?\ufffd?\n"},
		"pairs":          {`\u-10179?\u-8704? \u55357?\u56832?`, "😀 😀\n"},
		"half pairs":     {`a\u-10179? b\u-8704? c`, "a\ufffd b\ufffd c\n"},
		"skipped bytes":  {`\u8364\'80 euro`, "€ euro\n"},
		"ignored groups": {`a{\*\unknown hidden {deep}}{\pict 0123ab}{\object{\*\objdata 00}{\result seen}}b`, "aseenb\n"},
		"binary":         {"a{\\pict\\bin5 }}}}}}b\\bin3 }}}c", "abc\n"},
		"hidden":         {`a{\v secret}b\v c\v0 d{\deleted gone}`, "abd\n"},
		"fields":         {`{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}} end`, "link end\n"},
		"headings":       {`\pard\s1 One\par\pard text\par\pard\s2 Two {\i deep}\par\pard more\par\pard\outlinelevel0 Three\par\pard end`, "# One\ntext\n# One > Two deep\nmore\n# Three\nend\n"},
		"tables":         {`\trowd\intbl a\cell b\cell\row\intbl c\cell\row\pard after`, "a\tb\nc\nafter\n"},
		"notes":          {`said{\super\chftn}{\footnote\pard the note} so{\*\annotation\pard remark}\par next`, "said so\nthe note\nremark\nnext\n"},
		"pages":          {`{\header running head\par}{\footerf foot}body`, "body\nrunning head\nfoot\n"},
		"lists":          {`{\listtext\'b7\tab}item a\par{\listtext\'b7\tab}item b\par`, "- item a\n- item b\n"},
		"either form":    {`{\upr{ansi}{\*\ud{\u252?ni}}}`, "üni\n"},
		"alternatives":   {`{\shp{\*\shpinst{\sp{\sn n}{\sv v}}{\shptxt boxed\par}}{\shprslt boxed}}`, "boxed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			checkOutline(t, "rtf", []byte(`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Cyr;}{\f2\fcharset128 Min{\*\falt x}cho;}}`+
				`{\colortbl;\red0;}{\stylesheet{\s0 Normal;}{\s1\sbasedon0 heading 1;}{\s2\outlinelevel1 Sub;}{\*\cs3 Char;}}`+c.in+`}`), c.want)
		})
	}
}

func TestRTFProperties(t *testing.T) {
	d := checkOutline(t, "doc", []byte(`{\rtf1\ansi\ansicpg1251{\info{\title \'d2}{\author Ann}{\author Bob}{\keywords keyed}{\creatim\yr2019\mo1\dy2}{\revtim\yr2020\mo2\dy3\hr4\min5}}x}`), "x\nkeyed\n")
	if d.Type != "rtf" || d.Title != "Т" || d.Author != "Ann" || !d.Date.Equal(time.Date(2020, 2, 3, 4, 5, 0, 0, time.UTC)) {
		t.Errorf("%s, %q, %q, %v", d.Type, d.Title, d.Author, d.Date)
	}
}

func TestRTFDepth(t *testing.T) {
	const n = 200_000
	checkOutline(t, "rtf", []byte(`{\rtf1 a`+strings.Repeat(`{\b`, n)+" b"+strings.Repeat("}", n)+" c}"), "ab c\n")
}
