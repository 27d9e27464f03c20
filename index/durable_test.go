package index

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"quern/index/segment/vfs"

	"pgregory.net/rapid"
)

var crashRuns = flag.Int("crashes", 150, "how many histories are cut off by a power cut, and by a failing disk")

// durableOptions never commit by time, so that a test says when.
func durableOptions(fs vfs.FS) Options {
	o := smallChunks()
	o.FS, o.CommitEvery, o.Threads = fs, time.Hour, 1
	return o
}

// everything chooses all that is on disk.
func everything(views []view) (lo, hi int) { return 0, len(views) }

func (e *Engine) compact(ctx context.Context) error {
	_, err := e.mergeDiskBy(ctx, everything)
	if errors.Is(err, errReplaced) {
		err = nil
	}
	return err
}

// TestAnyHistoryOnDisk is TestAnyHistory with what an index on disk lives
// through besides.
func TestAnyHistoryOnDisk(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		disk := vfs.NewMem()
		h := &history{opts: drawOptions(rt), docs: make(map[string]*Document)}
		reopen := func() {
			o := h.opts
			o.FS, o.CommitEvery = disk, time.Hour
			h.e = openEngine(t, o)
		}
		reopen()
		past := map[uint64]map[string]*Document{0: {}}
		for range rapid.IntRange(1, 14).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"apply", "apply", "apply", "flush", "merge", "restart", "crash"}).Draw(rt, "step") {
			case "apply":
				var batch []Change
				for range rapid.IntRange(0, 5).Draw(rt, "changes") {
					batch = append(batch, h.drawChange(rt))
				}
				past[apply(t, h.e, batch...)] = maps.Clone(h.docs)
			case "flush":
				must(rt, h.e.Flush(t.Context()))
			case "merge":
				must(rt, h.e.compact(t.Context()))
			case "restart":
				must(rt, h.e.Close())
				reopen()
			case "crash":
				least := h.e.Snapshot().Stats().Committed
				crashed := disk.Crash(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "crash"), 0)))
				must(rt, h.e.Close())
				disk = crashed
				reopen()
				g := h.e.Snapshot().Generation()
				if _, ok := past[g]; !ok || g < least {
					rt.Fatalf("generation %d after a crash, committed was %d", g, least)
				}
				h.docs = maps.Clone(past[g])
			}
			if rapid.IntRange(0, 3).Draw(rt, "check") == 0 {
				h.check(rt, t)
			}
		}
		h.check(rt, t)
		must(rt, h.e.Close())
	})
}

func must(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// scene is a seeded history, played on a disk that may fail.
type scene struct {
	t    *testing.T
	r    *rand.Rand
	docs map[string]*Document
	past map[uint64]map[string]*Document // by generation
	// certain is the last generation that was durable for certain.
	certain uint64
}

func newScene(t *testing.T, seed uint64) *scene {
	return &scene{
		t: t, r: rand.New(rand.NewPCG(seed, 11)), docs: map[string]*Document{},
		past: map[uint64]map[string]*Document{0: {}},
	}
}

// follow notes what a change makes of docs.
func (c *scene) follow(docs map[string]*Document, x Change) {
	if x.Put != nil {
		docs[x.Put.Path] = x.Put
	} else {
		delete(docs, x.Remove)
	}
}

// play makes some steps and ignores errors; it returns the errors of Apply.
func (c *scene) play(e *Engine, steps int) (errs []error) {
	for range steps {
		switch c.r.IntN(8) {
		case 0, 1:
			if g := e.Snapshot().Generation(); e.Flush(c.t.Context()) == nil {
				c.certain = g
			}
		case 2:
			_ = e.compact(c.t.Context())
		default:
			docs := maps.Clone(c.docs)
			var batch []Change
			for range 1 + c.r.IntN(4) {
				x := randomChange(c.r)
				c.follow(docs, x)
				batch = append(batch, x)
			}
			g, err := e.Apply(c.t.Context(), batch)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			c.docs, c.past[g] = docs, docs
		}
	}
	return errs
}

// holds compares the engine with a naive index of the documents.
func (c *scene) holds(e *Engine, docs map[string]*Document, what string) {
	c.t.Helper()
	s := e.Snapshot()
	if err := s.Verify(); err != nil {
		c.t.Fatalf("%s: %v\n%v", what, err, s)
	}
	n := 0
	for info := range s.Documents() {
		n++
		if d := docs[info.Path]; d == nil || !info.Modified.Equal(d.Modified) || info.Size != d.Size {
			c.t.Fatalf("%s: the index has %+v", what, info)
		}
	}
	if n != len(docs) {
		c.t.Fatalf("%s: %d documents, not %d", what, n, len(docs))
	}
	naive := newNaive(docs, e.opts)
	for _, q := range []string{"ox elk", "gnu hen hen", "fox bee cat dog"} {
		for _, o := range []SearchOptions{{K: 7}, {K: 3, Model: BM25, K1: 1.2, B: 0.75}} {
			total, want := naive.search(s.analyzer.Terms(q), o)
			got := search(c.t, s, q, o)
			same := got.counted(total) && len(got.Hits) == len(want)
			for i := range min(len(got.Hits), len(want)) {
				h := got.Hits[i]
				same = same && naiveHit{h.Score, h.Document.Path, h.N} == want[i]
			}
			if !same {
				c.t.Fatalf("%s: %q finds\n%s\nnot %d %v", what, q, show(got), total, want)
			}
		}
	}
	// One of them: this is called thousands of times.
	asked := []string{`"gnu gnu" hen`, "+el* -bee_cat fix~", "ox-elk", "-hen"}[int(s.Generation())%4]
	findsLikeNaive(c.t, s, naive, mustParse(c.t, asked), SearchOptions{K: 7})
}

// TestPowerCutAtAnyCall cuts the power at each call of the file system that a
// history makes: the index opens as of a generation no older than the last
// that was durable for certain, and is right.
func TestPowerCutAtAnyCall(t *testing.T) {
	opened := map[uint64]bool{}
	for run := range *crashRuns {
		seed := uint64(run)
		c := newScene(t, seed/3)
		mem := vfs.NewMem()
		cut := rand.New(rand.NewPCG(seed, 5))
		left := cut.IntN(150)
		var after *vfs.Mem
		fault := &vfs.Fault{FS: mem}
		fault.Before = lockedCountdown(&left, func() { after = mem.Crash(cut) })
		e, err := Open(durableOptions(fault))
		if err == nil {
			c.play(e, 25)
			_ = e.Close()
		}
		if after == nil {
			after = mem.Crash(cut)
		}
		e, err = Open(durableOptions(after))
		if err != nil {
			t.Fatalf("run %d: after a power cut: %v", run, err)
		}
		g := e.Snapshot().Generation()
		if _, ok := c.past[g]; !ok || g < c.certain {
			t.Fatalf("run %d: generation %d after a power cut, %d was durable", run, g, c.certain)
		}
		opened[g] = true
		c.holds(e, c.past[g], fmt.Sprintf("run %d, cut before call %d", run, left))
		c.docs = c.past[g]
		if errs := c.play(e, 4); len(errs) > 0 {
			t.Fatal(errs)
		}
		c.holds(e, c.docs, "going on")
		must(t, e.Close())
	}
	if len(opened) < 5 {
		t.Errorf("only the generations %v were found: the cuts test too little", opened)
	}
}

var errBroken = errors.New("no space left on device")

// TestFailingDisk makes calls fail, once or for a while: queries and Apply go
// on, and once the disk is well again nothing is lost.
func TestFailingDisk(t *testing.T) {
	for run := range *crashRuns {
		seed := uint64(run)
		c := newScene(t, 1000+seed/3)
		mem := vfs.NewMem()
		fault := &vfs.Fault{FS: mem}
		r := rand.New(rand.NewPCG(seed, 6))
		from := r.IntN(120)
		fault.Before = lockedWindow(from, from+1+r.IntN(1+r.IntN(40)))
		e, err := Open(durableOptions(fault))
		if errors.Is(err, errBroken) {
			continue
		}
		must(t, err)
		if errs := c.play(e, 25); len(errs) > 0 {
			t.Fatalf("run %d: %v", run, errs)
		}
		c.holds(e, c.docs, fmt.Sprintf("run %d, failing from %d", run, from))
		for range 200 { // the window ends
			if err = e.Flush(t.Context()); err == nil {
				break
			}
		}
		must(t, err)
		after := mem.Crash(r)
		_ = e.Close()
		e, err = Open(durableOptions(after))
		must(t, err)
		c.holds(e, c.docs, fmt.Sprintf("run %d, reopened", run))
		must(t, e.Close())
		files, err := after.List()
		must(t, err)
		for _, f := range files {
			if strings.HasSuffix(f.Name, damagedSuffix) {
				t.Fatalf("run %d: %s was set aside", run, f.Name)
			}
		}
	}
}
