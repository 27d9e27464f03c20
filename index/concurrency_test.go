package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quern/index/chunk"
)

// randomChange is one of the changes that the concurrent tests make.
func randomChange(r *rand.Rand) Change {
	path := paths[r.IntN(len(paths))]
	if r.IntN(4) == 0 {
		return remove(path)
	}
	var b strings.Builder
	for range r.IntN(60) {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{" ", " ", " ", "\n\n"}[r.IntN(4)])
	}
	return putText(path, b.String())
}

func smallChunks() Options {
	o := plainOptions()
	o.Chunk = chunk.Options{Strategy: chunk.Paragraph, MinWords: 2, MaxWords: 6, Overlap: 1}
	return o
}

// answers are what a snapshot says to some questions.
func answers(t testing.TB, s *Snapshot) []any {
	out := []any{s.Generation(), s.Stats(), s.DF("ox"), s.DF("gnu")}
	for _, q := range []string{"ox elk", "gnu", "hen hen fox bee cat dog"} {
		for _, o := range []SearchOptions{cosine, bm25, {K: 3, TF: RawTF, CollapseDocument: true, Text: true}} {
			out = append(out, search(t, s, q, o))
		}
	}
	for _, p := range paths {
		d, passages, _ := s.Passages(p)
		out = append(out, d, passages)
	}
	return out
}

// TestSnapshotsStayAsTheyAre asks snapshots the same questions again and
// again while batches are applied, segments merged and norms refined.
func TestSnapshotsStayAsTheyAre(t *testing.T) {
	e := openEngine(t, smallChunks())
	e.state.drift.free = 0
	var readers sync.WaitGroup
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		var batch []Change
		for range 1 + r.IntN(8) {
			batch = append(batch, randomChange(r))
		}
		apply(t, e, batch...)
		if r.IntN(5) == 0 {
			if err := e.refine(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s := e.Snapshot()
		first := answers(t, s)
		readers.Go(func() {
			for range 5 {
				if again := answers(t, s); !reflect.DeepEqual(first, again) {
					t.Errorf("generation %d answers otherwise than before", s.Generation())
				}
			}
		})
	}
	readers.Wait()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	answers(t, e.Snapshot()) // still served
}

// TestBatchesAreAtomic has every batch give two documents the same new word:
// no snapshot may show it in one alone, nor go back in time.
func TestBatchesAreAtomic(t *testing.T) {
	e := openEngine(t, plainOptions())
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			last := uint64(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				s := e.Snapshot()
				if s.Generation() < last {
					t.Errorf("generation %d after %d", s.Generation(), last)
				}
				last = s.Generation()
				if n := search(t, s, fmt.Sprintf("word%d", last), cosine).Total; last > 0 && n != 2 {
					t.Errorf("generation %d has its word %d times", last, n)
				}
			}
		})
	}
	for i := 1; i <= 300; i++ {
		g := apply(t, e, putText("/a", fmt.Sprintf("one word%d", i)), putText("/b", fmt.Sprintf("other word%d", i)))
		if g != uint64(i) {
			t.Fatalf("batch %d is generation %d", i, g)
		}
	}
	close(done)
	readers.Wait()
}

// TestWritersQueue applies from several goroutines; each batch is a generation.
func TestWritersQueue(t *testing.T) {
	e := openEngine(t, plainOptions())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 50 {
				apply(t, e, putText(fmt.Sprintf("/%d/%d", w, i), fmt.Sprintf("text %d of %d", i, w)))
			}
		})
	}
	writers.Wait()
	if s := e.Snapshot().Stats(); s.Generation != 200 || s.Documents != 200 || s.Passages != 200 {
		t.Errorf("stats %+v", s)
	}
}

func TestBadBatchChangesNothing(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, billing...)
	before := answers(t, e.Snapshot())
	good := putText("/refunds.txt", "Something else.")
	moveWithContent := move("/team.txt", "/b", 1)
	moveWithContent.Move.To.Content = good.Put.Content
	for _, bad := range []Change{
		{},
		{Put: good.Put, Remove: "/team.txt"},
		{Put: &Document{Path: "/x"}},
		{Put: &Document{Content: good.Put.Content}},
		{Move: &Move{From: "/team.txt"}},
		moveWithContent,
		move("/none", "/b", 1),
	} {
		g, err := e.Apply(t.Context(), []Change{good, remove("/team.txt"), bad})
		if err == nil || g != 0 {
			t.Errorf("%+v is applied as generation %d", bad, g)
		}
		if !reflect.DeepEqual(answers(t, e.Snapshot()), before) {
			t.Fatalf("%+v leaves a change behind", bad)
		}
	}
	_, err := e.Apply(t.Context(), []Change{remove("/team.txt"), move("/team.txt", "/b", 1)})
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "change 2 of 2") {
		t.Errorf("moving what was removed: %v", err)
	}
}

func TestCancelledApplyChangesNothing(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, billing...)
	before := answers(t, e.Snapshot())
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, batch := range [][]Change{{putText("/x", "new text")}, {remove("/team.txt")}} {
		if _, err := e.Apply(ctx, batch); !errors.Is(err, why) {
			t.Errorf("a cancelled batch returns %v", err)
		}
	}
	if !reflect.DeepEqual(answers(t, e.Snapshot()), before) {
		t.Error("a cancelled batch leaves a change behind")
	}
	if g := apply(t, e, putText("/x", "new text")); g != 2 {
		t.Errorf("the batch after it is generation %d", g)
	}
}

func TestCancelledSearch(t *testing.T) {
	s := billingIndex(t, plainOptions())
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, o := range []SearchOptions{cosine, bm25} {
		if r, err := s.Search(ctx, "billing refunds", o); !errors.Is(err, why) || r != nil {
			t.Errorf("a cancelled search returns %v, %v", r, err)
		}
	}
	// A search that is cancelled between gathering and choosing leaves no
	// trace for the next one.
	for range 20 {
		ctx := &lateContext{Context: t.Context(), after: 3}
		_, _ = s.Search(ctx, "billing refunds", cosine)
		if r := search(t, s, "billing refunds", cosine); r.Total != 4 {
			t.Fatalf("total %d after a cancelled search", r.Total)
		}
	}
}

// lateContext is cancelled after being asked a few times.
type lateContext struct {
	context.Context
	after int
}

func (c *lateContext) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

func TestClosed(t *testing.T) {
	e := openEngine(t, plainOptions())
	apply(t, e, billing...)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Apply(t.Context(), []Change{remove("/team.txt")}); !errors.Is(err, ErrClosed) {
		t.Errorf("applying to a closed engine: %v", err)
	}
	if r := search(t, e.Snapshot(), "billing", cosine); r.Total != 4 {
		t.Errorf("total %d after closing", r.Total)
	}
}

// TestBackgroundRefines waits, in fake time, for the norms to be refined.
func TestBackgroundRefines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := Open(plainOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.state.drift.free = 0
		apply(t, e, billing...)
		for i := range 30 {
			apply(t, e, putText(fmt.Sprintf("/%d", i), fmt.Sprintf("billing text %d", i)))
		}
		if d := e.Snapshot().drift; d <= 2*fineLimit {
			t.Fatalf("upkeep was not left for later: drift %v", d)
		}
		g := e.Snapshot().Generation()
		time.Sleep(2 * refineAfter)
		synctest.Wait()
		if d := e.Snapshot().drift; d > 2*fineLimit {
			t.Errorf("drift is still %v", d)
		}
		if e.Snapshot().Generation() != g {
			t.Error("refining made a generation")
		}
	})
}
