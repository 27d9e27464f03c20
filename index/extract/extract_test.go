package extract

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTypes(t *testing.T) {
	for name, want := range map[string]string{
		"a.txt": "txt", "A.TXT": "txt", "README": "txt", ".profile": "txt", "a.": "txt", "dir.d/file": "txt",
		"a.md": "md", "a.Markdown": "md", "a.mdown": "md", "a.mkd": "md", "a.Go": "go",
		"Vol. 2 of 3": "txt", "notes.a-very-long-extension": "txt", "résumé.ÉTÉ": "été",
	} {
		d, err := Extract(name, []byte("text"))
		if err != nil || d.Type != want {
			t.Errorf("%q: %v, %v; want %q", name, d, err, want)
		}
	}
}

func TestPlainTextIsOneSection(t *testing.T) {
	for _, text := range []string{"", "# no heading\n", "a\xffb\r\n", "\ufeffx"} {
		d, err := Extract("a.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want := &Document{Type: "txt", Text: []byte(text), Sections: []Section{{End: len(text)}}}
		if !reflect.DeepEqual(d, want) {
			t.Errorf("%q: %+v", text, d)
		}
	}
}

func TestBinaryIsRefusedWithTheReason(t *testing.T) {
	for content, reason := range map[string]string{
		"abc\x00":                            "binary: NUL byte at offset 3",
		"apple\x00\x01\x02":                  "binary: NUL byte at offset 5", // one NUL is no UTF-16
		"\xe9\x00 some words in no encoding": "binary: NUL byte at offset 1",
		"\x01\x02\x03\x04\xe9\xe8 abc":       "binary: 4 control characters, the first at offset 0",
	} {
		for _, name := range []string{"a.txt", "a.md"} {
			d, err := Extract(name, []byte(content))
			if !errors.Is(err, ErrBinary) || err.Error() != reason || d != nil {
				t.Errorf("%q: %v, %v; want %q", content, d, err, reason)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{
		"plain é":             "plain é",
		"a\r\nb\rc\n\rd\r":    "a\nb\nc\n\nd\n",
		"\xff\xfe":            "\ufffd\ufffd",
		"caf\xe9\r\n\xe2\x82": "caf\ufffd\n\ufffd\ufffd",
		"\ufffd\u2028\u0085":  "\ufffd\u2028\u0085",
	} {
		if got := Decode([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"a\n## B\n# C *d*\n# E\n": "C d",
		"## B\n":                  "",
		"---\ntitle: A plain one # note\n---\n# B\n":          "A plain one",
		"---\nTitle: \"A \\\"b\\\" \\u00e9: c\" # x\n...\n":   "A \"b\" é: c",
		"---\ntags: [x]\ntitle: 'It''s # 1'\n---\n":           "It's # 1",
		"---\ntitle: >-\n  folded\n  over lines\nx: y\n---\n": "folded over lines",
		"---\ntitle: plain\n  over lines\n---\n":              "plain over lines",
		"---\nmenu:\n  title: inner\n---\n# B\n":              "B",
		"---\ntitle:\n---\n# B\n":                             "B",
		"+++\ntitle = \"T \\u00e9\"\n+++\n":                   "T é",
		"+++\nx = 1\n[menu]\ntitle = 'no'\n+++\n# B\n":        "B",
		"---\n\n# B\n\n---\n":                                 "B",
		"---\r\ntitle: T\r\n---\r\n":                          "T",
	} {
		if got := markdown(t, text).Title; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestHeadingText(t *testing.T) {
	for source, want := range map[string]string{
		"a *b* **c** ***d*** _e_ __f__ ~~g~~":                          "a b c d e f g",
		"snake_case 2 * 3 * 4 a*b _x":                                  "snake_case 2 * 3 * 4 a*b _x",
		"`code *x*` ``a ` b`` `open":                                   "code *x* a ` b `open",
		"[text](http://x \"t\") [a [b]][ref] ![alt](p)":                "text a [b] alt",
		"[WIP] [x] a](b) [c](d":                                        "[WIP] [x] a](b) [c](d",
		"[[Page]] [[Page|shown]] note[^1]":                             "Page shown note",
		"[*a*](b) *[c](d)* [![badge](i)](l)":                           "a c badge",
		"a &amp; b &#233; &hearts; &no; & c;":                          "a & b é ♥ &no; & c;",
		`\*a\* \# \\ \q \[b](c)`:                                       `*a* # \ \q [b](c)`,
		"<a name=\"x\"></a>Head<br> <!-- c --> <http://a.b> 1 < 2 > 1": "Head http://a.b 1 < 2 > 1",
		"Head {#id .class}":                                            "Head",
		"Use {} and {braces}":                                          "Use {} and {braces}",
		"  white \t  space\n folded ":                                  "white space folded",
		"caf\xe9":                                                      "caf\ufffd",
		"![](logo.png)":                                                "",
		"**a*b":                                                        "*ab", // the nearest mark matches
	} {
		if got := plainText([]byte(source)); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

func TestLongHeadingStaysText(t *testing.T) {
	long := strings.Repeat("word ", 300)
	for _, text := range []string{"# " + long + "\n", long + "\n---\n"} {
		if d := markdown(t, text); len(d.Sections) != 1 || d.Sections[0].End != len(text) {
			t.Errorf("%d sections: %+v", len(d.Sections), d.Sections[0])
		}
	}
}

// checkDocument tells what is wrong with a document's sections.
func checkDocument(t *testing.T, d *Document) {
	t.Helper()
	if len(d.Sections) == 0 || !utf8.ValidString(d.Title) {
		t.Fatalf("%q: %d sections, title %q", d.Text, len(d.Sections), d.Title)
	}
	at := 0
	for i, s := range d.Sections {
		begin := s.Start
		if len(s.Heading) > 0 {
			begin = s.HeadingStart
			line := d.Text[s.HeadingEnd:s.Start]
			if s.HeadingStart >= s.HeadingEnd || s.HeadingEnd > s.Start || len(bytes.Trim(line, "\r\n")) > 0 {
				t.Fatalf("%q: section %d: %+v", d.Text, i, s)
			}
		} else if s.HeadingStart != 0 || s.HeadingEnd != 0 {
			t.Fatalf("%q: section %d has a heading's place and no heading", d.Text, i)
		}
		// Only front matter's rules and a byte order mark lie between sections.
		if begin < at || i > 1 && begin != at || s.End < s.Start || s.End > len(d.Text) {
			t.Fatalf("%q: section %d: %+v, after %d", d.Text, i, s, at)
		}
		for _, h := range s.Heading {
			if h == "" || !utf8.ValidString(h) || strings.TrimSpace(h) != h {
				t.Fatalf("%q: heading %q", d.Text, h)
			}
		}
		at = s.End
	}
	if at != len(d.Text) && len(d.Sections) > 1 {
		t.Fatalf("%q: the last section ends at %d", d.Text, at)
	}
}

func randomMarkdown(r *rand.Rand) []byte {
	parts := []string{"# ", "## A", "#", "a", "b c", " ", "    ", "\t", "\n", "\n", "\n\n", "\r\n", "\r", "---", "===", "- ", "1. ",
		"> ", "```", "~~~", "<!--", "-->", "<div>", "<pre>", "</pre>", "|", "[a]: b", "[a](b)", "*", "_", "`", "\\", "&amp;", "$$",
		"title: x", "+++", "{#i}", "\xff", "é", "\ufeff"}
	var text []byte
	for range r.IntN(60) {
		text = append(text, parts[r.IntN(len(parts))]...)
	}
	return text
}

func TestSectionsCoverTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 8000 {
		text := randomMarkdown(r)
		if r.IntN(3) == 0 {
			text = append([]byte("---\ntitle: x\n---\n"), text...)
		}
		d, err := Extract("x.md", text)
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, d)
	}
}

// The structure is the same whatever ends the lines.
func TestLineEndsDoNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 1500 {
		text := strings.ReplaceAll(string(randomMarkdown(r)), "\r", "")
		var want []string
		for _, end := range []string{"\n", "\r\n", "\r"} {
			d := markdown(t, strings.ReplaceAll(text, "\n", end))
			var got []string
			for _, s := range d.Sections {
				got = append(got, strings.Join(s.Heading, " > ")+": "+Decode(d.Text[s.Start:s.End]))
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q with %q:\n%q\n%q", text, end, got, want)
			}
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		f.Add(randomMarkdown(r))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Extract("x.md", text)
		if err != nil {
			if !errors.Is(err, ErrBinary) {
				t.Fatal(err)
			}
			return
		}
		checkDocument(t, d)
	})
}

// BenchmarkMarkdown is there to see that no text takes out of all proportion.
func BenchmarkMarkdown(b *testing.B) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"prose":    "## Head *a*\n\nSome words of prose in a line that is long.\nAnother one.\n\n- an item\n- another\n\n",
		"emphasis": "*a_ ", "brackets": "[", "quotes": ">", "items": "- ", "returns": "\r", "newlines": "\n", "backticks": "` `` ",
		"headings": "# " + strings.Repeat("[a](", 200) + "\n", "ticks": "# " + strings.Repeat("` `` ``` ", 100) + "\n",
		"tags": "# " + strings.Repeat("<a", 400) + "\n", "stars": "# " + strings.Repeat("*a **b ", 130) + "\n",
		"underlines": "a\n", "entities": "# " + strings.Repeat("&", 900) + "\n", "lists": strings.Repeat("- ", 500) + "x\n", "html": "<x a='",
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(strings.Repeat(unit, size/len(unit)))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Extract("x.md", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
