package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"quern/index/extract"
)

// lineOf counts the line ends before a byte: \n, \r\n and lone \r.
func lineOf(text []byte, at int) int {
	s := strings.ReplaceAll(string(text[:at]), "\r\n", "\n")
	return 1 + strings.Count(s, "\n") + strings.Count(s, "\r")
}

// randomMarkdown is lines of words, blank lines and headings.
func randomMarkdown(r *rand.Rand) *extract.Document {
	ends := []string{"\n", "\n", "\r\n", "\r"}
	end := ends[r.IntN(len(ends))]
	var b strings.Builder
	for range r.IntN(40) {
		switch r.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "%s h%d%s", strings.Repeat("#", 1+r.IntN(4)), r.IntN(99), end)
		case 1:
			b.WriteString(end)
		default:
			b.WriteString(strings.Repeat("w\u00a0é ", r.IntN(6)) + end)
		}
	}
	d, err := extract.Extract("x.md", []byte(b.String()))
	if err != nil {
		panic(err)
	}
	return d
}

// checkPassages tells what is wrong with passages whatever the strategy.
func checkPassages(t *testing.T, d *extract.Document, passages []Passage) {
	t.Helper()
	last := Passage{}
	for i, p := range passages {
		if p.Start >= p.End || p.End > len(d.Text) || i > 0 && p.Start <= last.Start || p.End < last.End {
			t.Fatalf("%q: [%d, %d) after [%d, %d)", d.Text, p.Start, p.End, last.Start, last.End)
		}
		span := d.Text[p.Start:p.End]
		w := simpleWords(span)
		if len(w) == 0 || w[0].start != 0 || w[len(w)-1].end != len(span) {
			t.Fatalf("%q: %q does not begin and end with a word", d.Text, span)
		}
		if first, end := lineOf(d.Text, p.Start), lineOf(d.Text, p.End); p.FirstLine != first || p.LastLine != end {
			t.Fatalf("%q: %q is on lines %d to %d, not %d to %d", d.Text, span, first, end, p.FirstLine, p.LastLine)
		}
		if lines := strings.Count(extract.Decode(span), "\n"); p.LastLine-p.FirstLine != lines {
			t.Fatalf("%q: lines %d to %d, but its text has %d line ends", span, p.FirstLine, p.LastLine, lines)
		}
		last = p
	}
}

func TestPassagesAreInOrderAndOnTheirLines(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for i := range 400 {
		d := plainDocument(randomText(r))
		if i%2 == 0 {
			d = randomMarkdown(r)
		}
		o := randomOptions(r)
		checkPassages(t, d, Split(d, o))
	}
}

// Every word outside headings is in a passage, and neighbours of one section
// share as many words as the options say, or none.
func TestPassagesCoverAllWords(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for i := range 400 {
		d := plainDocument(randomText(r))
		if i%2 == 0 {
			d = randomMarkdown(r)
		}
		o := randomOptions(r)
		covered := make([]int, len(d.Text)) // passages that hold a byte
		passages := Split(d, o)
		for i, p := range passages {
			for b := p.Start; b < p.End; b++ {
				covered[b]++
			}
			if i == 0 || p.Start >= passages[i-1].End {
				continue
			}
			shared := len(simpleWords(d.Text[p.Start:passages[i-1].End]))
			if tail := i == len(passages)-1 || passages[i+1].Start >= p.End; shared != o.Overlap && !tail {
				t.Fatalf("%+v of %q: passages %d and %d share %d words", o, d.Text, i-1, i, shared)
			}
		}
		for _, sec := range d.Sections {
			for _, w := range simpleWords(d.Text[sec.Start:sec.End]) {
				if covered[sec.Start+w.start] == 0 {
					t.Fatalf("%+v of %q: the word at %d is in no passage", o, d.Text, sec.Start+w.start)
				}
			}
		}
	}
}

// A section is cut as a document of its own would be, under its heading.
func TestSectionsAreCutOnTheirOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for range 400 {
		d, o := randomMarkdown(r), randomOptions(r)
		o.Strategy = Paragraph
		if o.MaxWords == 0 {
			o = Default()
		}
		var want []string
		for i, sec := range d.Sections {
			spans := simpleSplit(d.Text[sec.Start:sec.End], o)
			for _, s := range spans {
				want = append(want, fmt.Sprint(sec.Start+s[0], sec.Start+s[1], sec.Heading, false))
			}
			leaf := i+1 == len(d.Sections) || len(d.Sections[i+1].Heading) <= len(sec.Heading)
			if len(spans) == 0 && leaf && len(sec.Heading) > 0 {
				want = append(want, fmt.Sprint(sec.HeadingStart, sec.HeadingEnd, sec.Heading, true))
			}
		}
		var got []string
		for _, p := range Split(d, o) {
			got = append(got, fmt.Sprint(p.Start, p.End, p.Heading, p.HeadingOnly))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v of %q:\n got %v\nwant %v", o, d.Text, got, want)
		}
	}
}

// Window and Whole cut as if there were no headings; the path is that of the
// last section that begins at or before the passage.
func TestWindowsIgnoreHeadings(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	for range 400 {
		d := randomMarkdown(r)
		for _, o := range []Options{{Strategy: Window, MaxWords: 7, Overlap: 3}, {Strategy: Whole}} {
			passages := Split(d, o)
			if got, want := bytesOf(passages), simpleSplit(d.Text, o); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v of %q:\n got %v\nwant %v", o, d.Text, got, want)
			}
			for _, p := range passages {
				var want []string
				for _, sec := range d.Sections {
					if begins(sec) <= p.Start {
						want = sec.Heading
					}
				}
				if !reflect.DeepEqual(p.Heading, want) {
					t.Fatalf("%q: %q stands under %q, not %q", d.Text, d.Text[p.Start:p.End], want, p.Heading)
				}
			}
		}
	}
}

func TestHeadings(t *testing.T) {
	o := Options{Strategy: Paragraph, MinWords: 3, MaxWords: 4, Overlap: 1}
	for _, c := range []struct{ name, text, want string }{
		{"text follows", "# A\n\na b c\n", "A: a b c"},
		{"text in a sub-section", "# A\n## B\nb\n", "A > B: b"},
		{"nothing below", "# A\na\n## B ##\n# C\nc\n", "A: a | A > B: ## B ## | C: c"},
		{"only headings", "# A\n## B\n### C\n## D\nE\n===\n", "A > B > C: ### C | A > D: ## D | E: E\n==="},
		{"short text stands alone", "# A\na b c d\n# B\nb\n", "A: a b c d | B: b"},
		{"a tail joins", "# A\na b c\n\nd\n# B\nb\n", "A: a b c\n\nd | B: b"},
		{"before the first", "x\n# A\na\n", ": x | A: a"},
		{"windows", "# A\na b c d e f g\n", "A: a b c d | A: d e f g"},
	} {
		d, err := extract.Extract("x.md", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range Split(d, o) {
			got = append(got, strings.Join(p.Heading, " > ")+": "+string(d.Text[p.Start:p.End]))
		}
		if s := strings.Join(got, " | "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, `strategy is ""`},
		{Options{Strategy: "sentence", MaxWords: 1}, `"auto", "paragraph", "window" or "document"`},
		{Options{Strategy: Window}, "max_words is 0"},
		{Options{Strategy: Window, MaxWords: 3, Overlap: 3}, "overlap is 3"},
		{Options{Strategy: Paragraph, MaxWords: 3, Overlap: -1}, "overlap is -1"},
		{Options{Strategy: Paragraph, MaxWords: 3, MinWords: -1}, "min_words is -1"},
	} {
		if err := c.o.Validate(); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, does not say %q", c.o, err, c.says)
		}
	}
	for _, o := range []Options{{Strategy: Whole}, {Strategy: Window, MaxWords: 1, MinWords: -1}, {Strategy: Paragraph, MinWords: 9, MaxWords: 1}} {
		if err := o.Validate(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A long line costs the memory of its passages and of the windows open at a
// time, not that of its words.
func TestLongLineAllocatesLittle(t *testing.T) {
	d := plainDocument(bytes.Repeat([]byte("a "), 1<<20))
	for _, o := range []Options{{Strategy: Whole}, {Strategy: Window, MaxWords: 120, Overlap: 30}, Default()} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Split(d, o)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(len(d.Text)); got > most*5/2 {
			t.Errorf("%+v: %d bytes allocated for a text of %d", o, got, most)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("# A\n\na b c\r\n\r\nd\xff\u2028e"), uint8(2), uint8(5), uint8(2), uint8(0))
	f.Add([]byte("A\n===\n> # b\n"), uint8(0), uint8(1), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, minWords, maxWords, overlap, kind uint8) {
		o := Options{MinWords: int(minWords), MaxWords: int(maxWords), Overlap: int(overlap)}
		o.Strategy = []string{Paragraph, Window, Whole}[kind%3]
		if o.Validate() != nil {
			return
		}
		if got, want := bytesOf(Split(plainDocument(text), o)), simpleSplit(text, o); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v of %q:\n got %v\nwant %v", o, text, got, want)
		}
		d, err := extract.Extract("x.md", text)
		if err != nil {
			return
		}
		checkPassages(t, d, Split(d, o))
	})
}

func BenchmarkSplit(b *testing.B) {
	text := bytes.Repeat([]byte(strings.Repeat("Billing plans renew each year. ", 30)+"\n\n"), 1000)
	for _, o := range []Options{Default(), {Strategy: Window, MaxWords: 60, Overlap: 20}, {Strategy: Whole}} {
		b.Run(o.Strategy, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Split(plainDocument(text), o)
			}
		})
	}
}
