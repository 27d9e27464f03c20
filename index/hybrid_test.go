package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern/index/lsa"
	"quern/index/segment/vfs"
)

// topics puts n documents on each of two subjects. Of two words for one thing a
// document has only one.
func topics(n int) []Change {
	var out []Change
	for i := range n {
		thing := []string{"car", "automobile"}[i%2]
		out = append(out,
			putText(fmt.Sprintf("/r%03d.txt", i), strings.Repeat(fmt.Sprintf("The %s has an engine and a wheel on road%d. ", thing, i%5), 3)),
			putText(fmt.Sprintf("/b%03d.txt", i), strings.Repeat(fmt.Sprintf("Flour goes to the oven for bread%d with sugar. ", i%5), 3)))
	}
	return out
}

// embedded waits until all passages have vectors, and none are being made anew.
func embedded(t testing.TB, e *Engine) EmbeddingStats {
	t.Helper()
	e.WantEmbedding()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		st := e.Embedding()
		if st.Name != "" && st.Lacking == 0 && st.Err == nil {
			return st
		}
		if time.Now().After(deadline) {
			t.Fatalf("no vectors: %+v", st)
		}
	}
}

func hybridSearch(t testing.TB, e *Engine, query string, o SearchOptions) *Result {
	t.Helper()
	o.Model, o.K1, o.B = Hybrid, 0.9, 0.4
	res, err := e.Snapshot().Search(context.Background(), query, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func pathsOf(res *Result) (out []string) {
	for _, h := range res.Hits {
		out = append(out, h.Document.Path)
	}
	return out
}

func TestHybridFindsWhatSharesNoWord(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(30)...)
	embedded(t, e)
	res := hybridSearch(t, e, "automobile", SearchOptions{K: 30})
	if res.Degraded != "" || len(res.Hits) != 30 {
		t.Fatalf("degraded %q, %d hits", res.Degraded, len(res.Hits))
	}
	for i, h := range res.Hits {
		if !strings.HasPrefix(h.Document.Path, "/r") {
			t.Errorf("hit %d is %s", i, h.Document.Path)
		}
		if lexical := strings.Contains(h.Document.Path, "x"); i < 15 && !lexical && h.Score < 1 {
			t.Errorf("hit %d, which has the word, has a score of %v", i, h.Score)
		}
	}
}

// TestHybridSeesChangesAtOnce: a new passage is found by its vector by the very next
// query, a removed one is not.
func TestHybridSeesChangesAtOnce(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(30)...)
	embedded(t, e)
	for i := range 30 {
		path := fmt.Sprintf("/new%d.txt", i)
		apply(t, e, putText(path, "engine wheel road1 "+fmt.Sprint("unheard", i)))
		if got := pathsOf(hybridSearch(t, e, "automobile", SearchOptions{K: 100})); !slices.Contains(got, path) {
			t.Fatalf("%s is not among %d hits", path, len(got))
		}
		apply(t, e, remove(path))
		if got := pathsOf(hybridSearch(t, e, "automobile", SearchOptions{K: 100})); slices.Contains(got, path) {
			t.Fatalf("%s is found after its removal", path)
		}
	}
}

func TestHybridPagesFilterAndCollapse(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(40)...)
	embedded(t, e)
	all := hybridSearch(t, e, "engine sugar", SearchOptions{K: 200})
	var paged []string
	for from := 0; from < len(all.Hits); from += 7 {
		paged = append(paged, pathsOf(hybridSearch(t, e, "engine sugar", SearchOptions{K: 7, Offset: from}))...)
	}
	if !slices.Equal(paged, pathsOf(all)) {
		t.Error("pages do not add up to the whole")
	}
	kept := hybridSearch(t, e, "automobile", SearchOptions{K: 200, Keep: func(d *DocumentInfo) bool { return d.Path > "/r020" }})
	for _, p := range pathsOf(kept) {
		if p <= "/r020" {
			t.Errorf("%s is not filtered out", p)
		}
	}
	long := strings.Repeat("engine wheel "+strings.Repeat("filler words to make it long ", 30)+"\n\n", 4)
	apply(t, e, putText("/long.txt", long))
	collapsed := pathsOf(hybridSearch(t, e, "engine", SearchOptions{K: 200, CollapseDocument: true}))
	if !slices.Contains(collapsed, "/long.txt") || len(slices.Compact(slices.Sorted(slices.Values(collapsed)))) != len(collapsed) {
		t.Errorf("documents come twice: %q", collapsed)
	}
}

func TestHybridExplainsItsScores(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(30)...)
	embedded(t, e)
	for _, lexical := range []Model{TFIDF, BM25, Best} {
		o := SearchOptions{K: 60, Model: Hybrid, Lexical: lexical, K1: 0.9, B: 0.4, Weight: 0.5}
		res, err := e.Snapshot().Search(context.Background(), "automobile wheel", o)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			x, err := e.Snapshot().Explain("automobile wheel", o, h.Document.Path, h.N)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, term := range x.Terms {
				sum += term.Contribution
			}
			for _, b := range x.Bonuses {
				sum += b.Contribution
			}
			if x.Score != h.Score || x.Hybrid == nil || sum != x.Hybrid.Lexical || x.Hybrid.Weight != 0.5 {
				t.Fatalf("%s: score %v, explained as %v: %+v", h.Document.Path, h.Score, x.Score, x.Hybrid)
			}
		}
	}
}

// TestHybridIsLexicalWithoutVectors: a corpus too small to learn from is searched
// all the same, in the lexical order.
func TestHybridIsLexicalWithoutVectors(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, putText("/a.txt", "one word"))
	res := hybridSearch(t, e, "word", SearchOptions{K: 5})
	if len(res.Hits) != 1 || res.Hits[0].Score != 1 || res.Degraded == "" {
		t.Fatalf("%+v", res)
	}
	apply(t, e, topics(20)...) // enough now
	embedded(t, e)
	if res := hybridSearch(t, e, "word", SearchOptions{K: 5}); res.Degraded != "" {
		t.Errorf("still degraded: %s", res.Degraded)
	}
}

func TestVectorsSurviveARestart(t *testing.T) {
	fs := vfs.NewMem()
	o := plainOptions()
	o.FS = fs
	e := openEngine(t, o)
	apply(t, e, topics(60)...)
	before := embedded(t, e)
	want := hybridSearch(t, e, "automobile bread1", SearchOptions{K: 50})
	saved(t, fs)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, o)
	if after := embedded(t, e); after.Name != before.Name {
		t.Errorf("learned anew: %q, was %q", after.Name, before.Name)
	}
	got := hybridSearch(t, e, "automobile bread1", SearchOptions{K: 50})
	if !slices.Equal(pathsOf(got), pathsOf(want)) || got.Hits[0].Score != want.Hits[0].Score {
		t.Error("another answer after the restart")
	}
}

// saved waits for the file of vectors.
func saved(t testing.TB, fs vfs.FS) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		list, err := fs.List()
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list, func(i vfs.Info) bool { return i.Name == vectorsName }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the vectors are not written")
		}
	}
}

// TestAnyHistoryHasTheVectorsOfItsPassages: after random changes, restarts and
// crashes each live passage has the vector that the model gives to its terms.
func TestAnyHistoryHasTheVectorsOfItsPassages(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 11))
		fs := vfs.NewMem()
		o := plainOptions()
		o.FS, o.CommitEvery = fs, time.Hour
		e := openEngine(t, o)
		apply(t, e, topics(20)...)
		embedded(t, e)
		for range 12 {
			switch r.IntN(6) {
			case 0:
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
				e = openEngine(t, o)
			case 1:
				fs = fs.Crash(r)
				_ = e.Close()
				o.FS = fs
				e = openEngine(t, o)
			case 2:
				apply(t, e, remove(fmt.Sprintf("/r%03d.txt", r.IntN(20))))
			default:
				var batch []Change
				for range 1 + r.IntN(20) {
					batch = append(batch, putText(fmt.Sprintf("/n%d.txt", r.IntN(40)), newCorpus(r.Uint64()).text(40)+" engine flour"))
				}
				apply(t, e, batch...)
			}
			hybridSearch(t, e, "engine", SearchOptions{K: 3})
		}
		embedded(t, e)
		checkVectors(t, e, seed)
	}
}

// checkVectors compares each vector with the projection of the passage's terms.
func checkVectors(t *testing.T, e *Engine, seed uint64) {
	t.Helper()
	s, sp := e.Snapshot(), e.latent.current.Load()
	for i := range s.views {
		v := &s.views[i]
		v.eachLive(func(local int) {
			want, err := sp.passages(context.Background(), v, []int{local})
			if err != nil {
				t.Fatal(err)
			}
			pid, found := v.PassageID(local), false
			for _, b := range sp.blocks {
				if at, ok := slices.BinarySearch(b.pids, pid); ok {
					found = true
					d := b.vec.Dimensions
					if b.vec.Scale[at] != want.Scale[0] || !slices.Equal(b.vec.Data[at*d:(at+1)*d], want.Data) {
						t.Fatalf("seed %d: passage %d has the vector of another", seed, pid)
					}
				}
			}
			if !found {
				t.Fatalf("seed %d: passage %d has no vector", seed, pid)
			}
		})
	}
}

// TestVectorsOfADamagedFileAreMadeAnew changes each part of the file.
func TestVectorsOfADamagedFileAreMadeAnew(t *testing.T) {
	base := vfs.NewMem()
	o := plainOptions()
	o.FS = base
	e := openEngine(t, o)
	apply(t, e, topics(20)...)
	embedded(t, e)
	saved(t, base)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := base.Map(vectorsName)
	if err != nil {
		t.Fatal(err)
	}
	good := slices.Clone(m.Data)
	for _, at := range []int{0, 9, 13, 30, 61, 80, len(good) / 2, len(good) - 1000, len(good) - 1} {
		for _, bad := range [][]byte{flipped(good, at), good[:at]} {
			if err := replaceFile(base, vectorsTemp, vectorsName, [][]byte{bad}); err != nil {
				t.Fatal(err)
			}
			e := openEngine(t, o)
			embedded(t, e)
			checkVectors(t, e, uint64(at))
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}

// TestVectorsAreLearnedAnew when the passages are others.
func TestVectorsAreLearnedAnew(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(20)...)
	first := embedded(t, e)
	c := newCorpus(3)
	for i := range 200 {
		apply(t, e, putText(fmt.Sprintf("/c%d.txt", i), c.text(60)))
	}
	for deadline := time.Now().Add(20 * time.Second); embedded(t, e).Name == first.Name; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the model stays that of the first passages")
		}
	}
}

// TestWordsOfDeletedTextLeaveTheVectors: the model's terms are on disk, too.
func TestWordsOfDeletedTextLeaveTheVectors(t *testing.T) {
	fs := vfs.NewMem()
	o := plainOptions()
	o.FS, o.PurgeAfter = fs, 20*time.Millisecond
	e := openEngine(t, o)
	apply(t, e, topics(20)...)
	apply(t, e, putText("/s1.txt", "engine topsecret"), putText("/s2.txt", "wheel topsecret"))
	embedded(t, e)
	saved(t, fs)
	apply(t, e, remove("/s1.txt"), remove("/s2.txt"))
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		m, err := fs.Map(vectorsName)
		if err == nil && !strings.Contains(string(m.Data), "topsecret") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the word is still there (%v)", err)
		}
	}
}

// fakeService embeds by counting letters.
type fakeService struct {
	calls atomic.Int32
	down  atomic.Bool
	bad   func([][]float32) [][]float32
}

func (f *fakeService) Name() string { return "letters" }

func (f *fakeService) Embed(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	if f.down.Load() {
		return nil, errors.New("connection refused")
	}
	f.calls.Add(1)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = make([]float32, 26)
		for _, r := range strings.ToLower(t) {
			if r >= 'a' && r <= 'z' {
				out[i][r-'a']++
			}
		}
	}
	if f.bad != nil {
		out = f.bad(out)
	}
	return out, nil
}

func TestAServiceEmbedsAndMayFail(t *testing.T) {
	service := &fakeService{}
	o := plainOptions()
	o.Embedder = service
	e := openEngine(t, o)
	apply(t, e, putText("/z.txt", "zzz zz z zzzz"), putText("/q.txt", "quiet queue"), putText("/a.txt", "aaa aa"))
	embedded(t, e)
	if got := pathsOf(hybridSearch(t, e, "zzzzz", SearchOptions{K: 1})); !slices.Equal(got, []string{"/z.txt"}) {
		t.Errorf("nearest to zzzzz: %q", got)
	}
	service.down.Store(true)
	res := hybridSearch(t, e, "quiet", SearchOptions{K: 1})
	if !slices.Equal(pathsOf(res), []string{"/q.txt"}) || !strings.Contains(res.Degraded, "connection refused") {
		t.Errorf("with the service down: %q, %q", pathsOf(res), res.Degraded)
	}
	apply(t, e, putText("/x.txt", "xxxx"))
	for deadline := time.Now().Add(20 * time.Second); e.Embedding().Err == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody says that the service is down")
		}
	}
	service.down.Store(false)
	if st := embedded(t, e); st.Embedded != 4 { // it goes on by itself
		t.Errorf("%d passages embedded", st.Embedded)
	}
}

func TestTheEmbedderMayChange(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, topics(20)...)
	own := embedded(t, e)
	e.SetEmbedder(&fakeService{})
	if st := embedded(t, e); st.Name == own.Name || st.Dimensions != 32 {
		t.Errorf("after a service was set: %+v", st)
	}
	e.SetEmbedder(nil)
	if st := embedded(t, e); st.Learned == 0 {
		t.Errorf("after it was taken back: %+v", st)
	}
	checkVectors(t, e, 0)
}

func TestAServiceThatTalksNonsense(t *testing.T) {
	for name, bad := range map[string]func([][]float32) [][]float32{
		"too few":       func(v [][]float32) [][]float32 { return v[:len(v)-1] },
		"empty":         func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"not a number":  func(v [][]float32) [][]float32 { v[0][0] = float32(math.NaN()); return v },
		"endless":       func(v [][]float32) [][]float32 { v[0] = make([]float32, 9000); return v },
		"other lengths": func(v [][]float32) [][]float32 { v[0] = v[0][:3]; return v },
	} {
		o := plainOptions()
		o.Embedder = &fakeService{bad: bad}
		e := openEngine(t, o)
		apply(t, e, putText("/q.txt", "quiet queue"), putText("/p.txt", "plain text"))
		res := hybridSearch(t, e, "quiet", SearchOptions{K: 1})
		if !slices.Equal(pathsOf(res), []string{"/q.txt"}) {
			t.Errorf("%s: %q", name, pathsOf(res))
		}
		if name != "other lengths" && res.Degraded == "" {
			t.Errorf("%s: nobody says so", name)
		}
	}
}

// FuzzVectorsFile opens an index beside which any bytes lie as its vectors, with
// right checksums where the parts are told from each other.
func FuzzVectorsFile(f *testing.F) {
	e := openEngine(f, plainOptions())
	apply(f, e, putText("/a.txt", "one"), putText("/b.txt", "two"))
	f.Add([]byte("lsa:1:1"), []byte("QLSM"), []byte{1, 2, 3}, []byte("QLSV"), uint64(2))
	f.Add([]byte("lsa:1:1"), []byte{}, []byte{}, []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, name, model, passages, vectors []byte, frontier uint64) {
		parts := [][]byte{name, model, passages, vectors}
		l := &latent{engine: e}
		_, _, _ = l.decode(&vfs.Mapping{Data: name}, nil)
		_, _, _ = l.decode(&vfs.Mapping{Data: append(vectorsHead(frontier, 0, parts), bytes.Join(parts, nil)...)}, nil)
	})
}

func BenchmarkHybrid(b *testing.B) {
	e := openEngine(b, plainOptions())
	c := newCorpus(1)
	for batch := range slices.Chunk(c.files(20_000, 375), 1000) {
		apply(b, e, batch...)
	}
	st := embedded(b, e)
	for _, m := range []Model{BM25, Best, Hybrid} {
		b.Run(string(m), func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q := c.word() + " " + c.word() + " " + c.word()
				o := SearchOptions{K: 10, Model: m, K1: 0.9, B: 0.4}
				start := time.Now()
				if _, err := e.Snapshot().Search(context.Background(), q, o); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(st.Embedded), "passages")
		})
	}
}

// TestNearestSideBySide: as many goroutines as there may be find the same as one.
func TestNearestSideBySide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	sp := &space{embedding: remote{&fakeService{}}}
	pid := uint64(0)
	for _, n := range []int{90_000, 5, 4096} {
		b := &vectorBlock{vec: lsa.NewVectors(lsa.Lane, n)}
		for i := range n {
			pid += 1 + r.Uint64N(3)
			b.pids = append(b.pids, pid)
			b.vec.Set(i, []float32{r.Float32() - .5, r.Float32() - .5, float32(r.IntN(3))}) // many are equal
		}
		sp.blocks = append(sp.blocks, b)
	}
	vector := make([]float32, lsa.Lane)
	vector[0], vector[2] = .3, 1
	q := lsa.NewQuery(vector)
	find := func(threads int) []near {
		out, err := sp.nearest(context.Background(), q, 500, threads, func(pid uint64) bool { return pid%7 != 0 })
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := find(1)
	if len(want) != 500 || want[0].cosine < want[499].cosine {
		t.Fatalf("%d found", len(want))
	}
	for _, threads := range []int{2, 4, 9} {
		if !slices.Equal(find(threads), want) {
			t.Errorf("%d goroutines find others", threads)
		}
	}
}
