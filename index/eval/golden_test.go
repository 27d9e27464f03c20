package eval

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFormatsSayTheSame(t *testing.T) {
	want := []Question{
		{ID: "1", Text: "how long", Evidence: []Evidence{
			{Path: "a.txt", Passage: -1, Grade: 1}, {Path: "b/c.md", Passage: 2, Grade: 1}, {Path: "a.txt", Passage: -1, Lines: [2]int{3, 5}, Grade: 1},
		}},
		{ID: "2", Text: "why", Evidence: []Evidence{{Passage: -1, Quote: "so that it is", Grade: 1}, {Path: "d.txt", Passage: -1, Quote: "x", Grade: 1}}},
	}
	for name, text := range map[string]string{
		"g.toml":  "[[question]]\nquery = 'how long'\nevidence = ['a.txt', './b//c.md#2', 'a.txt:3-5']\n[[question]]\nquery = 'why'\nevidence = ['\"so  that it is\"', 'd.txt \"x\"']\n",
		"g.jsonl": `{"query": "how long", "evidence": ["a.txt", {"path": "b/c.md", "passage": 2}, {"path": "a.txt", "lines": [3, 5]}]}` + "\n\n" + `{"query": "why", "evidence": [{"quote": "so that\nit is"}, "d.txt \"x\""]}`,
		"g.tsv":   "query\tevidence\nhow long\ta.txt\nhow long\tb/c.md#2\r\nwhy\t\"so that it is\"\nhow long\ta.txt:3-5\nwhy\td.txt \"x\"\t1\nwhy\tnone.txt\t0\n",
	} {
		set, err := Load(write(t, name, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range set.Questions {
			set.Questions[i].Line = 0
		}
		if !reflect.DeepEqual(set.Questions, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, set.Questions, want)
		}
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"g.toml", "[[question]]\nquery = 'a'\nevidence = ['']\n", "g.toml:1: evidence is empty"},
		{"g.toml", "# x\n[[question]]\nquery = 'a'\n[[question]]\nquery = 'b'\nevidence = ['x']\n", `g.toml:2: "a" has no evidence`},
		{"g.toml", "[[question]]\nquery = 'a'\nevidense = ['x']\n", `g.toml:3: unknown key "question.evidense"`},
		{"g.toml", "[[question]]\nquery = \n", "g.toml:2: "},
		{"g.jsonl", `{"query": "a", "evidence": ["x"]}` + "\n{", "g.jsonl:2: "},
		{"g.jsonl", `{"query": "a", "evidence": [{"path": "x", "lines": [3, 2]}]}`, "g.jsonl:1: lines 3 to 2"},
		{"g.jsonl", `{"query": "a", "evidence": [{"path": "x", "grade": 0}]}`, "g.jsonl:1: grade 0"},
		{"g.jsonl", `{"id": "1", "query": "a", "evidence": ["x"]}` + "\n" + `{"id": "1", "query": "b", "evidence": ["x"]}`, `g.jsonl:2: the id "1"`},
		{"g.tsv", "a\tx\nb\n", "g.tsv:2: 1 columns"},
		{"g.tsv", "a\tx\tgood\n", `g.tsv:1: grade "good"`},
		{"g.tsv", "a\t\"x\n", "g.tsv:1: "},
		{"g.tsv", "\xff\tx\n", "g.tsv:1: not UTF-8"},
		{"g.tsv", "\n", "no questions"},
		{"g.csv", "a,x\n", "a golden set is a .toml, .jsonl or .tsv file"},
	} {
		if _, err := Load(write(t, c.name, c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, does not say %q", c.text, err, c.says)
		}
	}
}

func TestBEIRFolder(t *testing.T) {
	files := map[string]string{
		"corpus.jsonl":  `{"_id": "d", "title": "T", "text": "añb c", "metadata": {}}`,
		"queries.jsonl": `{"_id": "q", "text": "what", "metadata": {}}` + "\n" + `{"_id": "r", "text": "not judged"}`,
		"qrels.tsv":     "query-id\tcorpus-id\tscore\nq\td\t2\nq\te\t0\n",
	}
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		put(name, text)
	}
	set, err := Load(dir)
	if err != nil || len(set.Questions) != 1 || !reflect.DeepEqual(set.Questions[0].Evidence, []Evidence{{Path: "d", Passage: -1, Grade: 2}}) {
		t.Fatalf("%+v, %v", set, err)
	}
	put("spans.tsv", "query-id\tcorpus-id\tstart\tend\nq\td\t1\t3\n")
	set, err = Load(dir) // offsets are in characters of the text, which follows the title
	if err != nil || set.Questions[0].Evidence[0].Bytes != [2]int{4, 7} {
		t.Errorf("spans: %+v, %v", set, err)
	}
	put("spans.tsv", "query-id\tcorpus-id\tstart\tend\nq\td\t1\t9\n")
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "spans.tsv:2: 1 to 9 is no span") {
		t.Errorf("%v", err)
	}
}

func TestEvidenceIsInItsPassage(t *testing.T) {
	hit := Hit{Path: "/home/u/notes/a.md", Rel: "a.md", Passage: 2, Lines: [2]int{10, 14}, Bytes: [2]int{100, 200}, Text: "kept for\nthirty days"}
	for evidence, want := range map[string]bool{
		"a.md": true, "notes/a.md": true, "/home/u/notes/a.md": true, "b.md": false, "otes/a.md": false,
		"a.md#2": true, "a.md#1": false, "a.md:14": true, "a.md:15-20": false, "a.md:1-10": true,
		`"for thirty"`: true, `a.md "for thirty"`: true, `b.md "for thirty"`: false, `"thirty for"`: false,
	} {
		e, err := ParseEvidence(evidence)
		if err != nil || e.in(&hit) != want {
			t.Errorf("%s: %v, %v", evidence, e.in(&hit), err)
		}
		if again, err := ParseEvidence(e.String()); err != nil || again != e {
			t.Errorf("%s is written %s and read %+v, %v", evidence, e, again, err)
		}
	}
}

func TestSpansAreCoveredBit(t *testing.T) {
	q := &Question{Text: "x", Evidence: []Evidence{{Path: "d", Passage: -1, Grade: 1, Bytes: [2]int{10, 30}}}}
	hits := []Hit{{Rel: "d", Bytes: [2]int{0, 20}}, {Rel: "e", Bytes: [2]int{0, 99}}, {Rel: "d", Bytes: [2]int{15, 25}, Text: "a b"}, {Rel: "d", Bytes: [2]int{20, 40}, Text: "c"}}
	r := judge(q, hits)
	for k, want := range []float64{0, .5, .5, .75, 1, 1} {
		if got := r.recall(k); got != want {
			t.Errorf("recall@%d %v, want %v", k, got, want)
		}
	}
	if got := r.within(1); got != .75 { // the third hit does not fit
		t.Errorf("within a word: %v", got)
	}
}

func TestPairedTest(t *testing.T) {
	same := []float64{.1, .5, .9}
	if p := pValue(same, same); p != 1 {
		t.Errorf("equal figures: p %v", p)
	}
	a, b := make([]float64, 10), make([]float64, 10)
	for i := range a {
		b[i] = 1
	}
	if p := pValue(a, b); p != 2./1024 { // all ten differences one way: 2 of 2^10
		t.Errorf("ten of ten: p %v", p)
	}
	a, b = make([]float64, 100), make([]float64, 100)
	for i := range a {
		b[i] = float64(i%2*2 - 1)
	}
	if p := pValue(a, b); p < .9 {
		t.Errorf("fifty to fifty: p %v", p)
	}
	clear(b)
	for i := range 80 {
		b[i] = .1
	}
	if p := pValue(a, b); p > .01 || p != pValue(a, b) {
		t.Errorf("eighty one way: p %v", p)
	}
}

func TestFormsOfWords(t *testing.T) {
	for _, c := range []struct {
		question, text string
		want           int
	}{
		{"refund", "Refunds are paid", 1}, {"organise", "organize it", 1}, {"recieve letters", "receive a letter", 2},
		{"server", "outage", 0}, {"does it take", "does not", 0}, {"Rechnung", "Rechnungsnummer", 1}, {"plan", "plant", 1},
	} {
		if got := forms(c.question, c.text); len(got) != c.want {
			t.Errorf("%q in %q: %v", c.question, c.text, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("[[question]]\nquery = 'a'\nevidence = ['x#1', '\"y\"']\n", uint8(0))
	f.Add(`{"query": "a", "evidence": ["x:1-2", {"path": "y", "lines": [1]}]}`, uint8(1))
	f.Add("query\tevidence\na\tx\t2\n", uint8(2))
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		name := []string{".toml", ".jsonl", ".tsv"}[kind%3]
		b := &builder{path: "g" + name, byText: map[string]int{}, byID: map[string]int{}}
		if err := formats[name](b, []byte(text)); err != nil {
			if !strings.HasPrefix(err.Error(), "g"+name+":") {
				t.Fatalf("%q: %v names no place", text, err)
			}
			return
		}
		for _, q := range b.questions {
			if q.Text == "" || q.ID == "" || q.Line < 1 {
				t.Fatalf("%q: %+v", text, q)
			}
		}
	})
}
