package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quern/index/chunk"
	lang "quern/index/query"
)

func TestNothingNewKeepsTheGeneration(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, billing...)
	for name, batch := range map[string][]Change{
		"no change":             {},
		"the same file":         {putText("/team.txt", string(billing[1].Put.Content.Text))},
		"no file removed":       {remove("/none")},
		"moved to itself":       {move("/team.txt", "/team.txt", billing[1].Put.Size)},
		"there and back":        {move("/team.txt", "/x", 1), move("/x", "/team.txt", billing[1].Put.Size)},
		"made and removed":      {putText("/x", "text"), remove("/x")},
		"removed and made anew": {remove("/team.txt"), putText("/team.txt", string(billing[1].Put.Content.Text))},
	} {
		if g := apply(t, e, batch...); g != 1 {
			t.Errorf("%s: generation %d", name, g)
		}
	}
	later := *billing[1].Put
	later.Modified = later.Modified.Add(1)
	if g := apply(t, e, Change{Put: &later}); g != 2 {
		t.Errorf("a new time: generation %d", g)
	}
}

func TestLaterChangesWin(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, putText("/a", "first"), putText("/b", "old b"))
	apply(t, e,
		putText("/a", "second"), move("/a", "/b", 6), putText("/a", "third"), putText("/c", "gone"), remove("/c"))
	for path, want := range map[string]string{"/a": "third", "/b": "second"} {
		if _, ps, err := e.Snapshot().Passages(path); err != nil || len(ps) != 1 || ps[0].Text != want {
			t.Errorf("%s: %+v, %v", path, ps, err)
		}
	}
	if s := e.Snapshot().Stats(); s.Documents != 2 || s.Generation != 2 {
		t.Errorf("stats %+v", s)
	}
}

// pidsOf are the names of a document's passages: one that is kept keeps its own.
func pidsOf(s *Snapshot, path string) (out []uint64) {
	d, _ := s.lookPath(path)
	for _, p := range d.places {
		out = append(out, p.pid)
	}
	return out
}

func TestUnchangedPassagesAreKept(t *testing.T) {
	o := plainOptions()
	o.Chunk = chunk.Options{Strategy: chunk.Paragraph, MinWords: 1, MaxWords: 50, Overlap: 0}
	e := openEngine(t, o)
	apply(t, e, putText("/a", "one fish\n\ntwo fish\n\nred fish\n\ntwo fish"))
	old := pidsOf(e.Snapshot(), "/a")
	apply(t, e, putText("/a", "new fish\n\none fish\n\ntwo fish\n\ntwo fish\n\ntwo fish"))
	got := pidsOf(e.Snapshot(), "/a")
	if !slices.Equal(got[1:4], []uint64{old[0], old[1], old[3]}) {
		t.Errorf("passages were %v, are %v", old, got)
	}
	_, ps, _ := e.Snapshot().Passages("/a")
	if p := ps[1]; p.N != 1 || p.Bytes != [2]int{10, 18} || p.Lines != [2]int{3, 3} || p.Text != "one fish" {
		t.Errorf("a kept passage says %+v", p)
	}
	kept := pidsOf(e.Snapshot(), "/a")
	apply(t, e, move("/a", "/b", 1))
	if !slices.Equal(pidsOf(e.Snapshot(), "/b"), kept) {
		t.Error("a move names passages anew")
	}
}

// TestDriftThereAndBack takes a term from nowhere to everywhere and back, in
// batches of many sizes, while other terms come and go for good, with answers
// held against the naive scorer; and then removes nearly all.
func TestDriftThereAndBack(t *testing.T) {
	for seed := range uint64(6) {
		x := &driftTest{T: t, r: rand.New(rand.NewPCG(seed, 1))}
		x.opts, x.docs = plainOptions(), make(map[string]*Document)
		x.e = openEngine(t, x.opts)
		x.e.state.drift.free = []int64{0, 200, freeUpkeep}[seed%3]
		x.e.state.drift.fine = []int64{fineUpkeep, freeUpkeep}[seed/3%2]
		const files = 120
		for step := range 4 * files {
			i := step % files
			text := fmt.Sprintf("ox%d elk%d ant%d bee new%d newer%d", i%3, i%7, i, step, step/2)
			if step/files == 1 {
				text += strings.Repeat(" common", 1+x.r.IntN(3))
			}
			x.change(putText(fmt.Sprintf("/%d", i), text))
		}
		x.apply()
		if df := x.e.Snapshot().DF("common"); df != 0 {
			t.Errorf("df of a term that is gone is %d", df)
		}
		for i := range files - 5 {
			x.change(remove(fmt.Sprintf("/%d", i)))
		}
		x.apply()
		if n := len(x.e.state.numbers.free); x.e.Snapshot().stats.len()-n > 100 {
			t.Errorf("%d numbers are in use for %d terms", x.e.Snapshot().stats.len()-n, x.e.Snapshot().terms)
		}
	}
}

// driftTest gathers changes and applies them in batches of random sizes.
type driftTest struct {
	*testing.T
	history
	r     *rand.Rand
	batch []Change
}

func (x *driftTest) change(c Change) {
	x.batch = append(x.batch, c)
	if c.Put != nil {
		x.docs[c.Put.Path] = c.Put
	} else {
		delete(x.docs, c.Remove)
	}
	if x.r.IntN(30) == 0 {
		x.apply()
	}
}

// apply applies the batch and then does background work or not.
func (x *driftTest) apply() {
	apply(x.T, x.e, x.batch...)
	x.batch = nil
	x.hold(x.T, x.r)
	if x.r.IntN(2) == 0 || len(x.docs) < 10 {
		if err := x.e.mergeAll(x.Context()); err != nil {
			x.Fatal(err)
		}
		x.hold(x.T, x.r)
	}
	if x.r.IntN(3) == 0 {
		if err := x.e.refine(x.Context()); err != nil {
			x.Fatal(err)
		}
		x.hold(x.T, x.r)
	}
}

// hold compares some answers with the naive scorer's.
func (h *history) hold(t *testing.T, r *rand.Rand) {
	t.Helper()
	s, n := h.e.Snapshot(), newNaive(h.docs, h.opts)
	certified(t, h.e)
	for _, q := range []string{"common", "common bee", fmt.Sprintf("common ox%d elk%d ant%d", r.IntN(3), r.IntN(7), r.IntN(120))} {
		for _, o := range []SearchOptions{{K: 5}, {K: 5, TF: RawTF}, {K: 300, Model: BM25, K1: 1.2, B: 0.75}} {
			total, want := n.search(s.analyzer.Terms(q), o)
			got := search(t, s, q, o)
			same := got.counted(total) && len(got.Hits) == len(want)
			for i := range min(len(got.Hits), len(want)) {
				g := got.Hits[i]
				same = same && naiveHit{g.Score, g.Document.Path, g.N} == want[i]
			}
			if !same {
				t.Fatalf("%q %+v:\n%s\nwant %d %v", q, o, show(got), total, want)
			}
		}
	}
}

// TestManyEqualFiles has ten thousand copies: ties go by path, and all are
// scored by one computation.
func TestManyEqualFiles(t *testing.T) {
	e := openEngine(t, plainOptions())
	const copies = 10_000
	batch := []Change{putText("/other", "another text about lions and their cubs")}
	for i := range copies {
		batch = append(batch, putText(fmt.Sprintf("/%05d", copies-1-i), "the same text about lions"))
	}
	apply(t, e, batch...)
	for _, o := range []SearchOptions{cosine, bm25} {
		for _, o.CollapseDocument = range []bool{false, true} {
			o.Offset = 2
			r := search(t, e.Snapshot(), "lions text", o)
			if r.Total != copies+1 || len(r.Hits) != o.K {
				t.Fatalf("total %d, %d hits", r.Total, len(r.Hits))
			}
			for i, h := range r.Hits {
				if want := fmt.Sprintf("/%05d", i+2); h.Document.Path != want || h.Score != r.Hits[0].Score {
					t.Fatalf("hit %d is %s, %v", i, h.Document.Path, h.Score)
				}
			}
		}
	}
	s := e.Snapshot()
	q, _ := s.newQuery(t.Context(), lang.Literal("lions text"), cosine)
	r := newRun(t.Context(), s, q, cosine)
	if err := r.gather(); err != nil {
		t.Fatal(err)
	}
	x := &scorer{run: r}
	for _, c := range r.candidates {
		x.score(c)
	}
	computed := 0
	for _, m := range x.memo {
		computed += len(m)
	}
	if x.n < copies || computed > 2*len(s.views) {
		t.Errorf("%d scores wanted, %d remembered", x.n, computed)
	}
}

// TestHugeQuery asks with a mebibyte of words.
func TestHugeQuery(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, newCorpus(5).files(50, 400)...)
	var b strings.Builder
	for i := uint64(0); b.Len() < 1<<20; i++ {
		b.WriteString(wordOf(i))
		b.WriteByte(' ')
	}
	for _, o := range []SearchOptions{cosine, bm25} {
		if r := search(t, e.Snapshot(), b.String(), o); r.Total != r.Passages || len(r.Hits) != o.K {
			t.Errorf("total %d of %d, %d hits", r.Total, r.Passages, len(r.Hits))
		}
	}
}

// TestSegmentsStayFew applies many small batches.
func TestSegmentsStayFew(t *testing.T) {
	e := openEngine(t, plainOptions())
	c := newCorpus(4)
	for i := range 300 {
		apply(t, e, putText(fmt.Sprintf("/%d", i%70), c.text(60)))
	}
	if err := e.mergeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.Snapshot()
	held := 0
	for i := range s.views {
		held += s.views[i].Passages()
	}
	if len(s.views) > 20 || held > 4*s.passages/3+tinySegment {
		t.Errorf("%d segments hold %d passages, %d live", len(s.views), held, s.passages)
	}
	if s.stats.len() > 3*termsHeld(s) {
		t.Errorf("%d numbers for %d terms, %d live", s.stats.len(), termsHeld(s), s.terms)
	}
}

func termsHeld(s *Snapshot) (n int) {
	for i := range s.views {
		n += s.views[i].Terms()
	}
	return n
}

// TestRemovingAllFreesAll holds an engine whose documents are all gone
// against an empty one.
func TestRemovingAllFreesAll(t *testing.T) {
	e := openEngine(t, plainOptions())
	files := newCorpus(6).files(200, 300)
	apply(t, e, files...)
	var gone []Change
	for _, f := range files {
		gone = append(gone, remove(f.Put.Path))
	}
	apply(t, e, gone...)
	if err := e.mergeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.Snapshot()
	stats := s.Stats()
	if stats.Documents != 0 || stats.Passages != 0 || stats.Terms != 0 || stats.Length != 0 ||
		len(stats.Folders) != 0 || len(s.views) != 0 || s.postings != 0 {
		t.Errorf("stats %+v, %d segments", stats, len(s.views))
	}
	if g := apply(t, e, files[0]); g != 3 || e.Snapshot().Stats().Documents != 1 {
		t.Errorf("generation %d after all was gone", g)
	}
}
