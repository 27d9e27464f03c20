package eval_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/eval"
	"quern/index/extract"
)

// engineSearcher measures an index in memory.
type engineSearcher struct {
	*index.Snapshot
	dir    string
	engine *index.Engine
}

// await waits for the vectors of hybrid ranking.
func (s engineSearcher) await(t *testing.T) {
	t.Helper()
	s.engine.WantEmbedding()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if st := s.engine.Embedding(); st.Name != "" && st.Lacking == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no vectors: %+v", s.engine.Embedding())
		}
	}
}

func (s engineSearcher) Search(ctx context.Context, q eval.Query) ([]eval.Hit, error) {
	r, err := s.Snapshot.Search(ctx, q.Text, index.SearchOptions{
		K: q.K, Model: index.Model(q.Model), TF: index.RawTF, K1: 1.2, B: 0.75, CollapseDocument: q.Collapse, Text: true,
	})
	if err != nil {
		return nil, err
	}
	var out []eval.Hit
	for i := range r.Hits {
		h := &r.Hits[i]
		out = append(out, hitOf(h.Document, &h.Passage, h.Score))
	}
	return out, nil
}

func hitOf(d *index.DocumentInfo, p *index.Passage, score float64) eval.Hit {
	return eval.Hit{Path: d.Path, Rel: d.Rel, Passage: p.N, Lines: p.Lines, Bytes: p.Bytes, Text: p.Text, Score: score}
}

func (s engineSearcher) Passages(_ context.Context, path string) ([]eval.Hit, error) {
	info, passages, err := s.Snapshot.Passages(filepath.Join(s.dir, path))
	if err != nil {
		return nil, fmt.Errorf("%w: no such file", eval.ErrNotIndexed)
	}
	var out []eval.Hit
	for i := range passages {
		out = append(out, hitOf(info, &passages[i], 0))
	}
	return out, nil
}

func (s engineSearcher) Terms(_ context.Context, text string, h eval.Hit) ([]eval.Term, error) {
	x, err := s.Explain(text, index.SearchOptions{Model: index.TFIDF}, h.Path, h.Passage)
	if err != nil {
		return nil, err
	}
	var out []eval.Term
	for _, t := range x.Terms {
		out = append(out, eval.Term{Name: t.Term, TF: t.TF, DF: t.DF})
	}
	return out, nil
}

// handbook indexes the twelve passages, stop words left out, with a stemmer.
func handbook(t *testing.T, stemmer string) engineSearcher {
	t.Helper()
	e, err := index.Open(index.Options{
		Chunk:    chunk.Default(),
		Analysis: analysis.Options{Tokenizer: analysis.Unicode, Stopwords: analysis.English, Stemmer: stemmer, MinLength: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	dir, err := filepath.Abs(filepath.Join("testdata", "handbook"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) != 12 {
		t.Fatalf("the handbook has %d passages, %v", len(files), err)
	}
	var changes []index.Change
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d, err := extract.Extract(f, data)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, index.Change{Put: &index.Document{Path: f, Rel: filepath.Base(f), Folder: "handbook", Content: d}})
	}
	if _, err := e.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	return engineSearcher{e.Snapshot(), dir, e}
}

// one is the golden set with one of its questions.
func one(t *testing.T, id string) *eval.Set {
	t.Helper()
	set, err := eval.Load(filepath.Join("testdata", "handbook.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		set.Questions = slices.DeleteFunc(set.Questions, func(q eval.Question) bool { return q.ID != id })
	}
	return set
}

func measure(t *testing.T, s eval.Searcher, set *eval.Set, models ...string) *eval.Report {
	t.Helper()
	r, err := eval.Run(t.Context(), s, set, eval.Options{Models: models, Sweep: []int{1, 2, 5, 12}, K: 2, Diagnose: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The three kinds of miss, each with the figures that it is known by.
func TestHandbook(t *testing.T) {
	plain, stemmed := handbook(t, analysis.None), handbook(t, analysis.English)
	for _, c := range []struct {
		question          string
		s                 engineSearcher
		recall, precision [4]float64 // at k 1, 2, 5, 12
		elbow             int
		misses            string
	}{
		{"export", plain, [4]float64{.5, 1, 1, 1}, [4]float64{1, 1, .4, 2. / 12}, 2, ""},
		{"refund", plain, [4]float64{.5, .5, .5, .5}, [4]float64{1, .5, .2, 1. / 12}, 1, "word form [[refund refunds]]"},
		{"refund", stemmed, [4]float64{.5, 1, 1, 1}, [4]float64{1, 1, .4, 2. / 12}, 2, ""},
		{"outage", plain, [4]float64{}, [4]float64{}, 1, "vocabulary gap [], vocabulary gap []"},
		{"outage", stemmed, [4]float64{}, [4]float64{}, 1, "vocabulary gap [], vocabulary gap []"},
	} {
		m := measure(t, c.s, one(t, c.question), "tfidf").Models[0]
		for i, f := range m.Sweep {
			if !near(f.Recall, c.recall[i]) || !near(f.Precision, c.precision[i]) {
				t.Errorf("%s at k %d: recall %v, precision %v; want %v, %v", c.question, f.K, f.Recall, f.Precision, c.recall[i], c.precision[i])
			}
		}
		var misses []string
		for _, miss := range m.Misses {
			misses = append(misses, fmt.Sprint(miss.Kind, " ", miss.Forms))
		}
		if got := strings.Join(misses, ", "); got != c.misses || m.Elbow != c.elbow {
			t.Errorf("%s: elbow %d, misses %s; want %d, %s", c.question, m.Elbow, got, c.elbow, c.misses)
		}
	}
}

// TestLatentVectorsAndTheGap says honestly what vectors learned from twelve passages do
// about a vocabulary gap: nothing at the top, and one of the two further down by chance. No
// passage links the question's words with those of the evidence.
func TestLatentVectorsAndTheGap(t *testing.T) {
	s := handbook(t, analysis.None)
	s.await(t)
	for _, f := range measure(t, s, one(t, "outage"), "hybrid").Models[0].Sweep {
		if f.K <= 2 && f.Recall != 0 || f.Recall > .5 {
			t.Errorf("k %d: recall %v", f.K, f.Recall)
		}
	}
}

// A vocabulary gap shows the evidence's own words.
func TestGapShowsTheEvidence(t *testing.T) {
	m := measure(t, handbook(t, analysis.None), one(t, "outage"), "tfidf").Models[0]
	if len(m.Misses) != 2 || !slices.Contains(m.Misses[0].Terms, "outage") || !slices.Contains(m.Misses[1].Terms, "availability") {
		t.Errorf("%+v", m.Misses)
	}
}

// A miss that a larger k mends names it.
func TestRankingMissNamesTheK(t *testing.T) {
	set := one(t, "export")
	r, err := eval.Run(t.Context(), handbook(t, analysis.None), set, eval.Options{Models: []string{"tfidf"}, Sweep: []int{1}, Diagnose: true})
	if err != nil {
		t.Fatal(err)
	}
	misses := r.Models[0].Misses
	if len(misses) != 1 || misses[0].Kind != eval.Ranking || misses[0].Rank != 2 {
		t.Errorf("%+v", misses)
	}
}

func TestNotIndexedSaysWhy(t *testing.T) {
	set := one(t, "export")
	for evidence, reason := range map[string]string{
		"13-nowhere.txt": "no such file", "01-export-data.txt#7": "the document has 1 passages, and none is this one",
		`"a phrase that nobody wrote"`: "none of the first 1000 hits has the phrase",
	} {
		e, err := eval.ParseEvidence(evidence)
		if err != nil {
			t.Fatal(err)
		}
		set.Questions[0].Evidence = []eval.Evidence{e}
		misses := measure(t, handbook(t, analysis.None), set, "tfidf").Models[0].Misses
		if len(misses) != 1 || misses[0].Kind != eval.NotIndexed || !strings.Contains(misses[0].Reason, reason) {
			t.Errorf("%s: %+v", evidence, misses)
		}
	}
}

// The baseline in testdata is what TF-IDF of raw counts reaches: .50 and .50 at k 2.
func TestHandbookBaseline(t *testing.T) {
	path := filepath.Join("testdata", "handbook.baseline.json")
	base, err := eval.ReadBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	if m := base.Models[0]; base.K != 2 || m.Recall != .5 || m.Precision != .5 {
		t.Errorf("the baseline is %+v", base)
	}
	for stemmer, better := range map[string]bool{analysis.None: false, analysis.English: true} {
		changes, err := base.Compare(measure(t, handbook(t, stemmer), one(t, ""), "tfidf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Worse || (c.Figure == "recall@2") && (c.Now > c.Before) != better {
				t.Errorf("stemmer %s: %+v", stemmer, c)
			}
		}
	}
	changes, err := base.Compare(measure(t, handbook(t, analysis.None), worse(one(t, "")), "tfidf"))
	if err != nil || !slices.ContainsFunc(changes, func(c eval.Change) bool { return c.Worse }) {
		t.Errorf("evidence that is nowhere is no worse: %+v, %v", changes, err)
	}
}

// worse asks for something that is not there.
func worse(set *eval.Set) *eval.Set {
	set.Questions[0].Evidence[0].Path = "nowhere.txt"
	return set
}

func TestModelsAreCompared(t *testing.T) {
	r := measure(t, handbook(t, analysis.English), one(t, ""), "tfidf", "bm25", "best")
	if len(r.Models) != 3 || r.Models[0].Against != nil || r.Models[2].Against == nil {
		t.Fatalf("%+v", r)
	}
	for _, m := range r.Models[1:] {
		if p := m.Against.NDCGP; !(p > 0 && p <= 1) {
			t.Errorf("%s: p %v", m.Model, p)
		}
	}
}

func TestPicture(t *testing.T) {
	r := measure(t, handbook(t, analysis.English), one(t, ""), "tfidf", "best")
	r.Set = `<handbook> & "co"`
	var b bytes.Buffer
	if err := r.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	lines, d := 0, xml.NewDecoder(&b)
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 4 {
		t.Errorf("%d curves, want 4", lines)
	}
	plot := strings.Join(r.Models[0].Plot(), "\n")
	if !strings.Contains(plot, "R") || !strings.Contains(plot, "P") || !strings.Contains(plot, "12") {
		t.Errorf("the plot:\n%s", plot)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
