package chunk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"quern/index/extract"
)

// The rules once more, by regular expression and over a slice of all words:
// slow, and short enough to be believed. Regular expressions see a byte that is
// not UTF-8 as U+FFFD, which is no white space.
const spaces = `\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`

var (
	wordRule  = regexp.MustCompile(`[^` + spaces + `]+`)
	blankRule = regexp.MustCompile(`\n[` + spaces + `]*\n`)
)

type simpleWord struct{ start, end, para int }

func simpleWords(text []byte) []simpleWord {
	var out []simpleWord
	cuts := append(blankRule.FindAllIndex(text, -1), []int{len(text), len(text)})
	start := 0
	for para, cut := range cuts {
		for _, m := range wordRule.FindAllIndex(text[start:cut[0]], -1) {
			out = append(out, simpleWord{start + m[0], start + m[1], para})
		}
		start = cut[1]
	}
	return out
}

func simpleWindows(n int, o Options) (out [][2]int) {
	for s := 0; n > 0 && s < max(n-o.Overlap, 1); s += o.MaxWords - o.Overlap {
		out = append(out, [2]int{s, min(s+o.MaxWords, n)})
	}
	return out
}

// simpleRanges returns passages as half-open ranges of words.
func simpleRanges(w []simpleWord, o Options) (out [][2]int) {
	switch {
	case len(w) == 0:
		return nil
	case o.Strategy == Whole:
		return [][2]int{{0, len(w)}}
	case o.Strategy == Window:
		return simpleWindows(len(w), o)
	}
	begin := 0
	for i := 1; i <= len(w); i++ {
		if i < len(w) && w[i].para == w[i-1].para || i-begin < o.MinWords {
			continue
		}
		for _, r := range simpleWindows(i-begin, o) {
			out = append(out, [2]int{begin + r[0], begin + r[1]})
		}
		begin = i
	}
	switch {
	case begin == len(w):
	case len(out) == 0:
		out = append(out, [2]int{begin, len(w)})
	default:
		out[len(out)-1][1] = len(w)
	}
	return out
}

// simpleSplit returns the passages of a text without headings as byte spans.
func simpleSplit(text []byte, o Options) [][2]int {
	w := simpleWords(text)
	out := [][2]int{}
	for _, r := range simpleRanges(w, o) {
		out = append(out, [2]int{w[r[0]].start, w[r[1]-1].end})
	}
	return out
}

func bytesOf(passages []Passage) [][2]int {
	out := [][2]int{}
	for _, p := range passages {
		out = append(out, [2]int{p.Start, p.End})
	}
	return out
}

// plainDocument is a document of one section, as of a plain text.
func plainDocument(text []byte) *extract.Document {
	return &extract.Document{Type: "txt", Text: text, Sections: []extract.Section{{End: len(text)}}}
}

// atoms are what generated texts are made of: words, all white space, what
// only looks like white space, and bytes that are not UTF-8.
var atoms = []string{
	"a", "word", "naïve", "語", "x", "y", "#", "\x00", "é",
	" ", " ", " ", "\t", "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\v", "\f",
	"\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000",
	"\x1c", "\x1d", "\x1e", "\x1f", "\u200b", "\u2060", "\ufeff", "\u180e", "\u0084", "\u00a1", "\u200b", "\u202e", "\u3001", "\u1681",
	"\xff", "\xc2", "\xe2", "\xe2\x80", "\xe3\x80", "\xa0", "\x80", "\xe1\x9a", "\xed\xa0\x80", "\xf0\x90", "\xc0\x8a", "\xf4\x90\x80\x80",
}

func randomText(r *rand.Rand) []byte {
	var text []byte
	kinds := 1 + r.IntN(len(atoms))
	base := r.IntN(len(atoms))
	for range r.IntN(300) {
		switch r.IntN(4) {
		case 0:
			text = append(text, "w "...)
		case 1:
			text = append(text, atoms[r.IntN(len(atoms))]...)
		default:
			text = append(text, atoms[(base+r.IntN(kinds))%len(atoms)]...)
		}
	}
	return text
}

func randomOptions(r *rand.Rand) Options {
	size := 1 + r.IntN(12)
	o := Options{Strategy: Paragraph, MinWords: r.IntN(16), MaxWords: size, Overlap: r.IntN(size)}
	switch r.IntN(5) {
	case 0:
		o.Strategy = Window
	case 1:
		o.Strategy = Whole
	case 2:
		o = Default()
		o.MinWords, o.MaxWords, o.Overlap = 5, 24, 6
	}
	return o
}

func TestSplitIsTheSimpleRules(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text, o := randomText(r), randomOptions(r)
		got, want := bytesOf(Split(plainDocument(text), o)), simpleSplit(text, o)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v of %q:\n got %v\nwant %v", o, text, got, want)
		}
	}
}

// oracleScript prints the byte spans of each case in a JSON file, as the
// reference program has them.
const oracleScript = `
import argparse, importlib.util, json, sys
spec = importlib.util.spec_from_file_location("reference", sys.argv[1])
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)
size = lambda s: len(s.encode("utf-8", "surrogateescape"))
out = []
for c in json.load(open(sys.argv[2])):
    text = bytes(c["Text"]).decode("utf-8", "surrogateescape")
    w, ranges = reference.chunk(text, argparse.Namespace(**c["Options"]))
    out.append([[size(text[:w[a][0]]), size(text[:w[b - 1][1]])] for a, b in ranges])
json.dump(out, sys.stdout)
`

// TestSplitIsTheReference compares with the reference program that the
// environment variable QUERN_REFERENCE names.
func TestSplitIsTheReference(t *testing.T) {
	reference := os.Getenv("QUERN_REFERENCE")
	if reference == "" {
		t.Skip("QUERN_REFERENCE does not name the reference program")
	}
	type oracleCase struct {
		Text    []int
		Options map[string]any
	}
	r := rand.New(rand.NewPCG(3, 4))
	var cases []oracleCase
	var got [][][2]int
	for range 1500 {
		text, o := randomText(r), randomOptions(r)
		c := oracleCase{[]int{}, map[string]any{"strategy": o.Strategy, "min_words": o.MinWords, "max_words": o.MaxWords, "overlap": o.Overlap}}
		for _, b := range text {
			c.Text = append(c.Text, int(b))
		}
		cases = append(cases, c)
		got = append(got, bytesOf(Split(plainDocument(text), o)))
	}
	data, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", "-c", oracleScript, reference, path).Output()
	if err != nil {
		t.Fatal(fmt.Errorf("running the reference: %w", err))
	}
	var want [][][2]int
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%v of %v:\n got %v\nwant %v", cases[i].Options, cases[i].Text, got[i], want[i])
		}
	}
}
