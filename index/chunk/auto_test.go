package chunk

import (
	"math/rand/v2"
	"strings"
	"testing"

	"quern/index/extract"
)

func autoSplit(t *testing.T, name, text string, o Options) []string {
	t.Helper()
	d, err := extract.Extract(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	passages := Split(d, o)
	checkPassages(t, d, passages)
	var out []string
	for _, p := range passages {
		out = append(out, string(d.Text[p.Start:p.End]))
	}
	return out
}

func TestAutoCutsWhereTheTextDoes(t *testing.T) {
	o := Options{Strategy: Auto, MinWords: 2, MaxWords: 8, Overlap: 3}
	for _, c := range []struct{ name, file, text, want string }{
		{"paragraphs before sentences", "x.txt", "a b c. d e\n\nf g h. i j k l", "a b c. d e / d e\n\nf g h. / f g h. i j k l"},
		{"sentences before words", "x.txt", "a b c d e. f g h i j k", "a b c d e. / f g h i j k"},
		{"the overlap is a sentence", "x.txt", "a b c d. e f. g h i j k", "a b c d. e f. / e f. g h i j k"},
		{"words where there is nothing else", "x.txt", "a b c d e f g h i j k", "a b c d e f g h / f g h i j k"},
		{"code is kept whole", "x.md", "a b c d\n```\ne. f\n\ng h\n```\ni j", "a b c d / ```\ne. f\n\ng h\n```\ni j"},
		{"lists at their items", "x.md", "- a b c\n- d e f\n- g h i", "- a b c\n- d e f / - g h i"},
		{"headings", "x.md", "# A\na b c\n# B\nd e f\n", "a b c / d e f"},
		{"a short tail joins", "x.txt", "a b c d e f g h.\n\ni", "a b c d e f g h.\n\ni"},
		{"one short text", "x.txt", "a", "a"},
		{"nothing", "x.txt", " \n", ""},
	} {
		if got := strings.Join(autoSplit(t, c.file, c.text, o), " / "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// No word is lost, no passage is too long but one that a short tail joined, and
// neighbours share no more than the overlap.
func TestAutoCoversAllWords(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for range 400 {
		d := plainDocument(randomText(r))
		o := Options{Strategy: Auto, MinWords: r.IntN(5), MaxWords: 5 + r.IntN(9), Overlap: r.IntN(5)}
		passages := Split(d, o)
		checkPassages(t, d, passages)
		seen := 0
		words := simpleWords(d.Text)
		for i, p := range passages {
			n := 0
			for _, w := range words {
				if w.start >= p.Start && w.end <= p.End {
					n++
				}
			}
			for seen < len(words) && words[seen].end <= p.End {
				if words[seen].start < p.Start {
					t.Fatalf("%+v of %q: a word is in no passage", o, d.Text)
				}
				seen++
			}
			if n > o.MaxWords && (i+1 < len(passages) || n >= o.MaxWords+o.MinWords) {
				t.Fatalf("%+v of %q: passage %d has %d words", o, d.Text, i, n)
			}
			if i > 0 && words[0].end > 0 {
				shared := 0
				for _, w := range words {
					if w.start >= p.Start && w.end <= passages[i-1].End {
						shared++
					}
				}
				if shared > o.Overlap {
					t.Fatalf("%+v of %q: passages %d and %d share %d words", o, d.Text, i-1, i, shared)
				}
			}
		}
		if seen != len(words) {
			t.Fatalf("%+v of %q: %d of %d words are in passages", o, d.Text, seen, len(words))
		}
	}
}

func FuzzAuto(f *testing.F) {
	f.Add([]byte("# A\n\na b. c\r\n```\nd\n\n```\ne\xff"), uint8(2), uint8(5), uint8(2))
	f.Add([]byte("~~~\na\n"), uint8(0), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, minWords, maxWords, overlap uint8) {
		o := Options{Strategy: Auto, MinWords: int(minWords), MaxWords: int(maxWords), Overlap: int(overlap)}
		if o.Validate() != nil {
			return
		}
		if d, err := extract.Extract("x.md", text); err == nil {
			checkPassages(t, d, Split(d, o))
		}
	})
}
