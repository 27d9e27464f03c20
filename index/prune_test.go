package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quern/index/chunk"
	lang "quern/index/query"
	"quern/index/segment"
)

// prunable is an index of thousands of small passages of few words, so that there
// are many blocks and many ties, and answers are pruned from the first posting
// on.
type prunable struct {
	*testing.T
	history
	r    *rand.Rand
	zipf *rand.Zipf
	next int
}

func newPrunable(t *testing.T, seed uint64) *prunable {
	r := rand.New(rand.NewPCG(seed, 21))
	x := &prunable{T: t, r: r, zipf: rand.NewZipf(r, 1.2, 2, 150)}
	x.docs = make(map[string]*Document)
	x.opts = plainOptions()
	x.opts.Analysis.Stopwords = "none"
	x.opts.Chunk = chunk.Options{Strategy: chunk.Paragraph, MinWords: 1, MaxWords: 1000}
	x.opts.maxima = segment.Maxima{Passages: 1, Share: 1 + r.IntN(40), Super: r.IntN(4)}
	x.e = openEngine(t, x.opts)
	x.e.state.drift.free = []int64{0, 20, freeUpkeep}[r.IntN(3)]
	x.e.state.drift.fine = []int64{freeUpkeep, freeUpkeep, fineUpkeep}[r.IntN(3)]
	return x
}

// text makes up to 40 passages. Some are said twice, some words many times.
func (x *prunable) text() string {
	var all []string
	for range 1 + x.r.IntN(40) {
		if len(all) > 0 && x.r.IntN(5) == 0 {
			all = append(all, all[x.r.IntN(len(all))])
			continue
		}
		var words []string
		for range 1 + x.r.IntN(14) {
			w := wordOf(x.zipf.Uint64())
			for range 1 + x.r.IntN(3)*x.r.IntN(3)*x.r.IntN(2) {
				words = append(words, w)
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "\n\n")
}

// put adds documents, or replaces some that are there.
func (x *prunable) put(n int) {
	var batch []Change
	for range n {
		if x.r.IntN(4) > 0 || x.next == 0 {
			x.next++
		}
		c := putText(fmt.Sprintf("/%04d", x.r.IntN(x.next)), x.text())
		c.Put.Folder = []string{"help", "notes"}[x.r.IntN(2)]
		x.docs[c.Put.Path] = c.Put
		batch = append(batch, c)
	}
	apply(x.T, x.e, batch...)
}

// remove takes out up to n documents.
func (x *prunable) remove(n int) {
	var batch []Change
	for range n {
		path := fmt.Sprintf("/%04d", x.r.IntN(x.next))
		delete(x.docs, path)
		batch = append(batch, remove(path))
	}
	apply(x.T, x.e, batch...)
}

func (x *prunable) search() (string, SearchOptions) {
	words := make([]string, 1+x.r.IntN(5))
	for i := range words {
		words[i] = wordOf(x.zipf.Uint64())
	}
	o := SearchOptions{
		K:      []int{1, 3, 10, 100}[x.r.IntN(4)],
		Offset: []int{0, 0, 5, 90}[x.r.IntN(4)],
		Model:  []Model{TFIDF, BM25}[x.r.IntN(2)],
		K1:     []float64{0, 0.9, 1.2}[x.r.IntN(3)],
		B:      []float64{0, 0.4, 1}[x.r.IntN(3)],
	}
	o.CollapseDocument = x.r.IntN(3) == 0
	switch x.r.IntN(6) {
	case 0:
		o.TF = RawTF
	case 1:
		o.Keep = func(d *DocumentInfo) bool { return strings.HasSuffix(d.Path, "7") }
	case 2:
		o.Keep = func(d *DocumentInfo) bool { return d.Folder == "help" }
	}
	return strings.Join(words, " "), o
}

// compare holds answers against those of more threads and of a search that visits
// all, and one against the naive scorer. It returns how many were pruned.
func (x *prunable) compare(queries int) (pruned int) {
	x.Helper()
	s := x.e.Snapshot()
	for range queries {
		q, o := x.search()
		x.e.opts.Threads = 1
		got := search(x.T, s, q, o)
		for _, x.e.opts.Threads = range []int{2, 4} {
			if side := search(x.T, s, q, o); !reflect.DeepEqual(side.Hits, got.Hits) {
				x.Fatalf("%q %+v by %d threads:\n%s\nby one %s", q, o, x.e.opts.Threads, show(side), show(got))
			}
		}
		o.Count = true
		want := search(x.T, s, q, o)
		if want.TotalAtLeast || !got.counted(want.Total) || !reflect.DeepEqual(got.Hits, want.Hits) {
			x.Fatalf("%q %+v:\n%s\nwant %s", q, o, show(got), show(want))
		}
		if got.TotalAtLeast {
			pruned++
		}
	}
	x.naive(s)
	return pruned
}

func (x *prunable) naive(s *Snapshot) {
	x.Helper()
	q, o := x.search()
	total, want := newNaive(x.docs, x.opts).search(s.analyzer.Terms(q), o)
	got := search(x.T, s, q, o)
	var hits []naiveHit
	for _, h := range got.Hits {
		hits = append(hits, naiveHit{h.Score, h.Document.Path, h.N})
	}
	if !got.counted(total) || !slices.Equal(hits, want) {
		x.Fatalf("%q %+v:\n%s\nwant %d %v", q, o, show(got), total, want)
	}
}

// TestPrunedAnswers holds pruned answers against those of an exhaustive search,
// after any history: norms that have drifted since the maxima were made, dead
// passages, segments with maxima and without.
func TestPrunedAnswers(t *testing.T) {
	pruned := 0
	for seed := range uint64(6) {
		x := newPrunable(t, seed)
		for step := range 12 {
			switch {
			case step < 4:
				x.put(35)
			case x.r.IntN(2) == 0:
				x.put(1 + x.r.IntN(12))
			default:
				x.remove(1 + x.r.IntN(12))
			}
			if step%4 == 3 || x.r.IntN(3) == 0 {
				must(t, x.e.mergeAll(t.Context()))
			}
			pruned += x.compare(12)
		}
		certified(t, x.e)
		must(t, x.e.Close())
	}
	if pruned < 100 {
		t.Errorf("only %d answers were pruned: the test proves little", pruned)
	}
}

// TestPruningVisitsLittle: a search for a few passages, of words that most
// passages have, reads only a small part of the postings.
func TestPruningVisitsLittle(t *testing.T) {
	o := plainOptions()
	o.Chunk = chunk.Options{Strategy: chunk.Paragraph, MinWords: 1, MaxWords: 1000}
	e := openEngine(t, o)
	r := rand.New(rand.NewPCG(4, 4))
	var batch []Change
	for i := range 600 {
		var all []string
		for range 40 {
			text := "lion cub " + wordOf(r.Uint64N(3000)) + " " + wordOf(r.Uint64N(3000))
			if r.IntN(1000) == 0 {
				text += strings.Repeat(" lion cub", 1+r.IntN(6))
			}
			all = append(all, text)
		}
		batch = append(batch, putText(fmt.Sprintf("/%d", i), strings.Join(all, "\n\n")))
	}
	apply(t, e, batch...)
	must(t, e.mergeAll(t.Context()))
	must(t, e.compactMemory(t.Context()))
	s := e.Snapshot()
	for _, o := range []SearchOptions{cosine, bm25} {
		q, err := s.newQuery(t.Context(), lang.Literal("lion cub"), o)
		must(t, err)
		run := newRun(t.Context(), s, q, o)
		must(t, run.gather())
		postings := q.terms[0].df + q.terms[1].df
		if run.decoded*5 > postings {
			t.Errorf("%s: visited %d of %d postings", o.Model, run.decoded, postings)
		}
		got := search(t, s, "lion cub", o)
		if n := s.passages; !got.TotalAtLeast || got.Total != n {
			t.Errorf("%s: total %d, at least: %v, of %d", o.Model, got.Total, got.TotalAtLeast, n)
		}
		o.Count = true
		if want := search(t, s, "lion cub", o); !reflect.DeepEqual(got.Hits, want.Hits) || want.Total != s.passages || want.TotalAtLeast {
			t.Errorf("%s:\n%s\nwant %s", o.Model, show(got), show(want))
		}
		if one := search(t, s, "lion", o); one.TotalAtLeast || one.Total != s.passages {
			t.Errorf("%s: a single word has its df for a total, not %d", o.Model, one.Total)
		}
	}
}

// compactMemory makes one segment of all in an index without a directory.
func (e *Engine) compactMemory(ctx context.Context) error {
	s := e.Snapshot()
	m := newMerge(s, 0, len(s.views))
	if err := m.inMemory(ctx); err != nil {
		return err
	}
	return e.exchange(m)
}
