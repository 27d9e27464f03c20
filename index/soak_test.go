package index

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

var soakFor = flag.Duration("soak", 2*time.Second, "how long TestSoak edits, asks, merges and restarts")

// TestSoak edits, asks, flushes, merges, collects garbage (which unmaps files)
// and restarts in a real directory, all at once, and compares the answers of
// every snapshot it looks at with those of a naive index of its generation.
func TestSoak(t *testing.T) {
	o := smallChunks()
	o.Dir, o.CommitEvery, o.PurgeAfter = t.TempDir(), 2*time.Millisecond, 50*time.Millisecond
	o.OnDamage = func(err error) { t.Error(err) }
	c := newScene(t, 77)
	deadline := time.Now().Add(*soakFor)
	for round := 0; time.Now().Before(deadline); round++ {
		e, err := Open(o)
		must(t, err)
		if g := e.Snapshot().Generation(); round > 0 && !maps.Equal(c.past[g], c.docs) {
			t.Fatalf("generation %d after a restart", g)
		}
		c.soak(e)
		c.holds(e, c.docs, fmt.Sprintf("round %d", round))
		must(t, e.Close())
		c.past = map[uint64]map[string]*Document{e.Snapshot().Generation(): c.docs}
	}
}

// soak changes the engine while others read it.
func (c *scene) soak(e *Engine) {
	var mu sync.Mutex // guards c.past
	done := make(chan struct{})
	var readers sync.WaitGroup
	for k := range 2 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(k), 3))
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				s := e.Snapshot()
				mu.Lock()
				docs, ok := c.past[s.Generation()]
				mu.Unlock()
				if ok {
					c.likeNaive(s, newNaive(docs, e.opts), r)
				}
				if n%5 == 0 {
					runtime.GC()
				}
			}
		})
	}
	for range 60 {
		docs := maps.Clone(c.docs)
		var batch []Change
		for range 1 + c.r.IntN(6) {
			x := randomChange(c.r)
			c.follow(docs, x)
			batch = append(batch, x)
		}
		g := apply(c.t, e, batch...)
		mu.Lock()
		c.docs, c.past[g] = docs, docs
		mu.Unlock()
		if c.r.IntN(10) == 0 {
			must(c.t, e.compact(c.t.Context()))
		}
	}
	close(done)
	readers.Wait()
}

// likeNaive compares an answer with the naive one.
func (c *scene) likeNaive(s *Snapshot, naive *naive, r *rand.Rand) {
	q := words[r.IntN(len(words))] + " " + words[r.IntN(len(words))]
	for _, o := range []SearchOptions{{K: 5, Text: true}, {K: 5, Model: BM25, K1: 1.2, B: 0.75}} {
		total, want := naive.search(s.analyzer.Terms(q), o)
		got, err := s.Search(c.t.Context(), q, o)
		if err != nil {
			c.t.Errorf("%q: %v", q, err)
			return
		}
		same := got.counted(total) && len(got.Hits) == len(want)
		for i := range min(len(got.Hits), len(want)) {
			h := got.Hits[i]
			same = same && naiveHit{h.Score, h.Document.Path, h.N} == want[i]
		}
		if !same {
			c.t.Errorf("generation %d: %q finds\n%s\nnot %d %v", s.Generation(), q, show(got), total, want)
		}
	}
}
