package extract

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

// fuzzSeeds are texts of each format that hold something of all that it has.
var fuzzSeeds = map[string][]string{
	"txt":   {"a\n\nb", "\xff\xfea\x00", "a\x00\x00\x00", "caf\xe9", "\x1b[31mx\x1b[0m", "\x1b$B8@\x1b(B", "~{VPND~}", "\x1b$)C\x0e\x21\x21\x0f", "\x82\xb1\x82\xf1", "x\by"},
	"rst":   {"==\nA\n==\n\nB\n--\n:date: 2024\n", "A :ref:`x`\n====\n"},
	"adoc":  {"= A\nB <c>\n\n== C\n----\nx\n----\nD\n~~~\n"},
	"org":   {"#+TITLE: a\n* TODO [[a][b]] :c:\n*** d\n"},
	"tex":   {"\\title{a}\\section[x]{b {c}}\n\\begin{verbatim}\n\\end{verbatim}\n\\part{\n"},
	"1":     {".TH a 1\n.SH\nb\n.SS \"\\fBc\\fR\"\n"},
	"html":  {"<title>a</title><meta charset=x><h1>b<h2>c</h2><nav><nav></nav><pre> d</pre><img alt=e><script>f", "<?xml?><html><title/><svg><![CDATA[x]]>"},
	"xml":   {"<!DOCTYPE a [<!ENTITY b 'c'>]><section><title>d</title><x text='e'/><pre> f</pre></section>"},
	"eml":   {"Subject: =?utf-8?Q?a?=\nDate: Tue, 05 Mar 2024 10:00:00 +0100\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGI+\n--b\nContent-Type: message/rfc822\n\nSubject: c\n\nd\n--b--\n", "Content-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n#0V%T\nend\n"},
	"mbox":  {"From a\nFrom: b\n\n>From c\n\nFrom d\ne: f\n\n"},
	"emlx":  {"12\nSubject: a\n\nb"},
	"ipynb": {`{"cells":[{"cell_type":"markdown","source":["# a\n"]},{"cell_type":"code","source":"b","outputs":[{"text":"c","data":{"text/html":"<b>d"}}]}]}`},
	"json":  {`{"a":{"b":[1]},"c":"\u00e9\n\ud83d\ude00"}`},
	"jsonl": {"{\"a\":\"\\n\"}\n{"},
	"yaml":  {"a: b\n'c': &d\n- *d\n"},
	"toml":  {"[a]\nb=1\n[[c]]\n"},
	"csv":   {"a,\"b\"\nc,\"d\n", "a;b\n"},
	"srt":   {"1\n00:00:01,000 --> 00:00:02,000\na\n2\n"},
	"go":    {"// a\nfunc (b *c) d() {\n}\ntype e struct {\n"},
	"py":    {"@a\nclass b:\n  def c():\n    pass\nd\n"},
	"cpp":   {"int a::b(int c)\n{\n}\nclass d {\n"},
	"js":    {"export const a = (b) => {\n};\nclass c {\n  d() {\n"},
}

// FuzzText gives any content to the parser of each text format.
func FuzzText(f *testing.F) {
	formats := slices.Sorted(maps.Keys(fuzzSeeds))
	for i, format := range formats {
		for _, s := range fuzzSeeds[format] {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, content []byte) {
		d, err := Extract("x."+formats[int(format)%len(formats)], content)
		switch {
		case err == nil:
			checkCovered(t, d)
		case !errors.Is(err, ErrBinary) && !errors.Is(err, ErrLimit):
			t.Fatal(err)
		}
	})
}

// FuzzDetectCharset holds that an encoding is detected alike each time, though the
// detector tries all at once.
func FuzzDetectCharset(f *testing.F) {
	for _, s := range append(fuzzSeeds["txt"], "\xcf\xf0\xe8\xe2\xe5\xf2", "\x8f\xe0\xa8\xa2\xa5\xe2", "\xc0\xb1\xc7\xd1") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		first, decoded, err := toUTF8(content, "")
		again, decodedAgain, errAgain := toUTF8(content, "")
		if string(first) != string(again) || decoded != decodedAgain || (err == nil) != (errAgain == nil) {
			t.Fatalf("%q, then %q", first, again)
		}
	})
}
