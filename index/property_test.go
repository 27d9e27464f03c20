package index

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quern/index/chunk"
	lang "quern/index/query"
	"quern/index/rank"
	"quern/index/segment"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(closing{m})
}

// closing ends what benchmarks share before leaks are looked for.
type closing struct{ *testing.M }

func (m closing) Run() int {
	defer func() { closeBench() }()
	return m.M.Run()
}

// The words of the property tests: few, so that ties and drifts happen.
var (
	words = strings.Fields("ox elk ant bee cat dog emu fox gnu hen the of Ox zoë")
	paths = strings.Fields("/a /b /c /d /e /f /g /a/b /ab /h")
)

// history is an index and what must be in it.
type history struct {
	opts Options
	e    *Engine
	docs map[string]*Document
}

func drawOptions(t *rapid.T) Options {
	o := plainOptions()
	o.Chunk = rapid.SampledFrom([]chunk.Options{
		{Strategy: chunk.Paragraph, MinWords: 3, MaxWords: 7, Overlap: 2},
		{Strategy: chunk.Paragraph, MinWords: 25, MaxWords: 120, Overlap: 30},
		{Strategy: chunk.Window, MaxWords: 5, Overlap: 2},
		{Strategy: chunk.Whole},
	}).Draw(t, "chunk")
	o.HeadingTerms = rapid.Bool().Draw(t, "heading terms")
	o.Threads = rapid.IntRange(1, 3).Draw(t, "threads")
	o.maxima = segment.Maxima{
		Passages: 1, Share: rapid.IntRange(1, 6).Draw(t, "share"), Super: rapid.IntRange(0, 2).Draw(t, "super"),
	}
	o.selectiveShare = rapid.SampledFrom([]int{1, 2, selectiveShare}).Draw(t, "selective share")
	o.eagerChecks = rapid.SampledFrom([]int{0, 3, eagerChecks}).Draw(t, "eager checks")
	return o
}

// drawText makes a text of paragraphs; often one that was made before.
func drawText(t *rapid.T) string {
	paragraph := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 12).Draw(t, "words"), " ")
	})
	stock := rapid.SampledFrom([]string{"ox elk ant bee", "gnu gnu hen", "the of"})
	either := rapid.OneOf(paragraph, stock)
	return strings.Join(rapid.SliceOfN(either, 0, 6).Draw(t, "paragraphs"), "\n\n")
}

func drawContent(t *rapid.T, d *Document) {
	if rapid.Bool().Draw(t, "plain") {
		*d = *putText(d.Path, drawText(t)).Put
		return
	}
	var sections []section
	for range rapid.IntRange(1, 3).Draw(t, "sections") {
		heading := rapid.SliceOfN(rapid.SampledFrom(words), 0, 2).Draw(t, "heading")
		sections = append(sections, section{heading, drawText(t) + "\n"})
	}
	*d = *put(d.Path, structured(rapid.SampledFrom(words).Draw(t, "title"), sections)).Put
}

// editWords changes a text a little: one word of it, or a paragraph in front.
func editWords(t *rapid.T, old []byte) string {
	if rapid.Bool().Draw(t, "in front") {
		return rapid.SampledFrom(words).Draw(t, "word") + " elk gnu hen\n\n" + string(old)
	}
	fields := strings.SplitAfter(string(old), " ")
	fields[rapid.IntRange(0, len(fields)-1).Draw(t, "at")] = rapid.SampledFrom(words).Draw(t, "word") + " "
	return strings.Join(fields, "")
}

// drawChange makes a change and follows it in docs.
func (h *history) drawChange(t *rapid.T) Change {
	path := rapid.SampledFrom(paths).Draw(t, "path")
	there := slices.Sorted(maps.Keys(h.docs))
	kind := rapid.SampledFrom([]string{"put", "put", "edit", "copy", "touch", "remove", "move"}).Draw(t, "kind")
	d := meta(path)
	d.Folder = rapid.SampledFrom([]string{"help", "notes"}).Draw(t, "folder")
	switch {
	case kind == "remove":
		delete(h.docs, path)
		return remove(path)
	case kind == "put" || len(there) == 0:
		folder := d.Folder
		drawContent(t, &d)
		d.Folder = folder
	default:
		from := rapid.SampledFrom(there).Draw(t, "from")
		old := h.docs[from]
		switch kind {
		case "move":
			d.Size = old.Size
			m := &Move{From: from, To: d}
			delete(h.docs, from)
			d.Content = old.Content
			h.docs[path] = &d
			return Change{Move: m}
		case "copy":
			d.Content = old.Content
		case "touch":
			d = *old
		case "edit":
			d = *putText(from, editWords(t, old.Content.Text)).Put
		}
	}
	h.docs[d.Path] = &d
	return Change{Put: &d}
}

// fresh makes an index of the documents as they are, in one batch or several.
func (h *history) fresh(t testing.TB, batch int) *Engine {
	e := openEngine(t, h.opts)
	var changes []Change
	for _, d := range h.docs { // in any order
		c := *d
		changes = append(changes, Change{Put: &c})
	}
	if batch <= 0 {
		batch = len(changes) + 1
	}
	for part := range slices.Chunk(changes, batch) {
		apply(t, e, part...)
	}
	return e
}

func drawSearch(t *rapid.T) (string, SearchOptions) {
	q := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, "unseen")), 0, 6).Draw(t, "query"), " ")
	o := SearchOptions{
		K:                rapid.SampledFrom([]int{0, 1, 2, 3, 10, 1 << 62}).Draw(t, "k"),
		Offset:           rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "offset"),
		Model:            rapid.SampledFrom([]Model{TFIDF, BM25}).Draw(t, "model"),
		TF:               rapid.SampledFrom([]TF{LogTF, RawTF}).Draw(t, "tf"),
		K1:               rapid.SampledFrom([]float64{0, 0.9, 1.2}).Draw(t, "k1"),
		B:                rapid.SampledFrom([]float64{0, 0.4, 1}).Draw(t, "b"),
		CollapseDocument: rapid.Bool().Draw(t, "collapse"),
		Text:             rapid.Bool().Draw(t, "text"),
	}
	if rapid.IntRange(0, 3).Draw(t, "keep") == 0 {
		o.Keep = func(d *DocumentInfo) bool { return d.Folder == "help" && d.Path < "/e" }
	}
	return q, o
}

// TestAnyHistory holds an index after any sequence of changes against a fresh
// one and against the naive scorer, bit for bit.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{opts: drawOptions(rt), docs: make(map[string]*Document)}
		h.e = openEngine(t, h.opts)
		h.e.state.drift.free = rapid.SampledFrom([]int64{0, 20, freeUpkeep}).Draw(rt, "free upkeep")
		h.e.state.drift.fine = rapid.SampledFrom([]int64{0, 20, freeUpkeep}).Draw(rt, "fine upkeep")
		defer h.e.Close()
		for range rapid.IntRange(1, 12).Draw(rt, "batches") {
			var batch []Change
			for range rapid.IntRange(0, 6).Draw(rt, "changes") {
				batch = append(batch, h.drawChange(rt))
			}
			apply(t, h.e, batch...)
			if rapid.IntRange(0, 3).Draw(rt, "refine") == 0 {
				if err := h.e.refine(t.Context()); err != nil {
					rt.Fatal(err)
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "check") == 0 {
				h.check(rt, t)
			}
		}
		h.check(rt, t)
	})
}

func (h *history) check(rt *rapid.T, t testing.TB) {
	fresh := h.fresh(t, rapid.IntRange(0, 3).Draw(rt, "fresh batch"))
	defer fresh.Close()
	a, b := h.e.Snapshot(), fresh.Snapshot()
	sameContents(rt, a, b)
	certified(rt, h.e)
	n := newNaive(h.docs, h.opts)
	for _, w := range words {
		if a.DF(w) != b.DF(w) || a.DF(w) != n.df[w] {
			rt.Fatalf("df of %s: %d, fresh %d, naive %d", w, a.DF(w), b.DF(w), n.df[w])
		}
	}
	for range 4 {
		q, o := drawSearch(rt)
		sameAnswers(rt, a, b, lang.Literal(q), o)
		likeNaive(rt, a, n, q, o)
		asked := drawQuery(rt)
		sameAnswers(rt, a, b, asked, o)
		findsLikeNaive(rt, a, n, asked, o)
	}
}

// sameContents compares all that two snapshots hold.
func sameContents(t *rapid.T, a, b *Snapshot) {
	x, y := a.Stats(), b.Stats()
	x, y = onlyContents(x), onlyContents(y)
	if !reflect.DeepEqual(x, y) {
		t.Fatalf("stats %+v, fresh %+v", x, y)
	}
	byPath := func(a, b *DocumentInfo) int { return cmp.Compare(a.Path, b.Path) }
	d, f := slices.SortedFunc(a.Documents(), byPath), slices.SortedFunc(b.Documents(), byPath)
	if !reflect.DeepEqual(d, f) {
		t.Fatalf("documents %v, fresh %v", d, f)
	}
	for _, info := range d {
		got, p, err := a.Passages(info.Path)
		_, q, errFresh := b.Passages(info.Path)
		if err != nil || errFresh != nil || !reflect.DeepEqual(p, q) || !reflect.DeepEqual(got, info) {
			t.Fatalf("passages of %s: %+v, fresh %+v, %v, %v", info.Path, p, q, err, errFresh)
		}
	}
}

// onlyContents leaves out of Stats what depends on the history.
func onlyContents(s Stats) Stats {
	return Stats{Documents: s.Documents, Passages: s.Passages, Terms: s.Terms, Length: s.Length, Folders: s.Folders}
}

// sameAnswers compares answers and explanations bit for bit.
func sameAnswers(t *rapid.T, a, b *Snapshot, q *lang.Query, o SearchOptions) {
	x, err := a.Find(context.Background(), q, o)
	y, errFresh := b.Find(context.Background(), q, o)
	if err != nil || errFresh != nil {
		t.Fatal(err, errFresh)
	}
	x.Generation, y.Generation = 0, 0
	if x.TotalAtLeast || y.TotalAtLeast { // what was passed by depends on the history
		x.Total, x.TotalAtLeast, y.Total, y.TotalAtLeast = 0, false, 0, false
	}
	if !reflect.DeepEqual(x, y) {
		t.Fatalf("%q %+v:\n%s\nfresh:\n%s", q, o, show(x), show(y))
	}
	for _, h := range x.Hits {
		ex, err := a.ExplainQuery(q, o, h.Document.Path, h.N)
		ey, errFresh := b.ExplainQuery(q, o, h.Document.Path, h.N)
		if err != nil || errFresh != nil || !reflect.DeepEqual(ex, ey) {
			t.Fatalf("explain %+v, fresh %+v, %v, %v", ex, ey, err, errFresh)
		}
		sum := 0.0
		for _, term := range ex.Terms {
			sum += term.Contribution
		}
		for _, d := range ex.Demands {
			if !d.Met {
				t.Fatalf("%q: a hit does not meet %s", q, d.Clause)
			}
		}
		if sum != h.Score || ex.Score != h.Score {
			t.Fatalf("%q %+v: score %v, explained as %v, contributions %v", q, o, h.Score, ex.Score, sum)
		}
	}
}

// counted reports whether Total is right.
func (r *Result) counted(total int) bool {
	return r.Total == total || r.TotalAtLeast && r.Total < total && r.Total >= len(r.Hits)
}

func show(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "N %d, total %d (at least: %v)\n", r.Passages, r.Total, r.TotalAtLeast)
	for _, h := range r.Hits {
		fmt.Fprintf(&b, "%v %+v\n", h.Score, h)
	}
	return b.String()
}

func likeNaive(t *rapid.T, s *Snapshot, n *naive, q string, o SearchOptions) {
	r, err := s.Search(context.Background(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	if o.K > 1<<32 {
		o.K = 1 << 32 // that Offset + K may not overflow here
	}
	total, want := n.search(s.analyzer.Terms(q), o)
	var got []naiveHit
	for _, h := range r.Hits {
		got = append(got, naiveHit{h.Score, h.Document.Path, h.N})
	}
	if !r.counted(total) || r.Passages != len(n.passages) || !slices.Equal(got, want) {
		t.Fatalf("%q %+v:\ngot %d %v\nwant %d %v", q, o, r.Total, got, total, want)
	}
}

// certified checks that every term's reference, every reference norm and every
// floor is as near the true one as the snapshot promises, and that everything
// counted is right.
func certified(t interface{ Fatalf(string, ...any) }, e *Engine) {
	s := e.Snapshot()
	for gid := range s.stats.len() {
		if st := s.stats.at(gid); st.df > 0 {
			off := math.Abs(rank.IDF(s.passages, int(st.df)) - float64(st.reference))
			if !(off <= s.drift) {
				t.Fatalf("idf of term %d is %v from its reference, promised %v", gid, off, s.drift)
			}
		}
	}
	for i := range s.views {
		v := &s.views[i]
		v.eachLive(func(local int) { certifiedNorm(t, s, v, local) })
	}
	if err := s.Verify(); err != nil {
		t.Fatalf("%v", err)
	}
}

func certifiedNorm(t interface{ Fatalf(string, ...any) }, s *Snapshot, v *view, local int) {
	q := &query{model: TFIDF, n: s.passages}
	_, norm := q.occurrences(s, v, v.terms(local, nil), nil, &idfMemo{n: s.passages}, nil)
	off := math.Abs(norm - math.Sqrt(v.norms.at(local)))
	if slack := s.drift * float64(v.Root(local)); !(off <= slack+1e-6*norm) {
		t.Fatalf("norm %v is %v from its reference, promised %v", norm, off, slack)
	}
	if v.HasMaxima() {
		kept := math.Sqrt(float64(v.Norm2(local)))
		for _, shift := range []normShift{v.shifts.at(local / 64), v.superShifts.at(local / (64 * shiftBlocks))} {
			if least := kept * shift.least(s.drift); !(least <= norm*(1+1e-6)) {
				t.Fatalf("norm %v is less than %v, which its block has at least", norm, least)
			}
		}
	}
	if least := v.least(local/64, s.drift); !(least <= norm*(1+1e-6)) {
		t.Fatalf("norm %v is less than the least of its block, %v", norm, least)
	}
}
