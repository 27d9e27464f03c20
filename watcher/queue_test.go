package watcher

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"
)

// TestQueueProperties: whatever is put, the changes delivered lead a consumer to
// the last state of each path; a path is in one outstanding batch; tokens add up.
func TestQueueProperties(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		var l ledger
		l.init()
		var q queue
		q.init(&l)
		want, got := map[string]Change{}, map[string]Change{}
		var out []*Batch
		busy := map[string]bool{}
		take := func() bool {
			b := q.take(1 + r.Intn(6))
			if b == nil {
				return false
			}
			for _, c := range b.Changes {
				if busy[c.Path] {
					t.Fatalf("seed %d: %s is in two batches", seed, c.Path)
				}
				busy[c.Path] = true
			}
			out = append(out, b)
			return true
		}
		finish := func(i int) {
			for _, c := range out[i].Changes {
				got[c.Path] = c
				delete(busy, c.Path)
			}
			q.finish(out[i])
			q.finish(out[i]) // without effect
			out = slices.Delete(out, i, i+1)
		}
		for range 300 {
			switch k := r.Intn(10); {
			case k < 6:
				c := Change{Op: Op(1 + r.Intn(3)), Path: fmt.Sprint("/", r.Intn(20)),
					Info: Info{Ino: uint64(r.Intn(10)), Size: int64(r.Intn(2)), Modified: time.Unix(0, 0)}}
				want[c.Path] = c
				q.put(c, l.epoch-uint64(r.Intn(2)), lane(r.Intn(int(lanes))))
			case k == 6:
				q.release(r.Intn(2) == 0)
				q.hold = r.Intn(3) == 0
			case k == 7 && len(out) > 0:
				finish(r.Intn(len(out)))
			case k == 8:
				l.epoch++
			default:
				take()
			}
		}
		for q.release(true); take() || len(out) > 0; {
			for len(out) > 0 {
				finish(0)
			}
		}
		for p, c := range want {
			if got[p] != c {
				t.Fatalf("seed %d: %s ends as %+v, want %+v", seed, p, got[p], c)
			}
		}
		if l.total != 0 || len(l.live) != 0 || len(q.items)+len(q.out)+len(q.gone)+len(q.came) != 0 {
			t.Fatalf("seed %d: left over: %+v, ledger %+v", seed, q, l)
		}
	}
}

// TestUrgentFirst: a change found by an event does not wait behind a scan's.
func TestUrgentFirst(t *testing.T) {
	var l ledger
	l.init()
	var q queue
	q.init(&l)
	for i := range 10000 {
		q.put(Change{Op: Write, Path: fmt.Sprintf("/a%05d", i)}, 1, bulk)
	}
	q.put(Change{Op: Write, Path: "/z"}, 1, urgent)
	b := q.take(512)
	if len(b.Changes) != 512 || b.Changes[511].Path != "/z" || b.Changes[0].Path != "/a00000" {
		t.Errorf("first batch: %d changes, from %s to %s", len(b.Changes), b.Changes[0].Path, b.Changes[len(b.Changes)-1].Path)
	}
}

// TestLedger: a barrier is passed when all of its epoch and the earlier ones is
// done, and not held up by what is later.
func TestLedger(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		var l ledger
		l.init()
		var live []uint64
		type barrier struct {
			epoch uint64
			done  chan struct{}
		}
		var barriers []barrier
		for range 300 {
			switch k := r.Intn(5); {
			case k == 0 && r.Intn(4) == 0:
				b := barrier{l.seal(), make(chan struct{})}
				live = append(live, b.epoch)
				l.wait(b.epoch, b.done)
				barriers = append(barriers, b)
			case k <= 1:
				l.add(l.epoch)
				live = append(live, l.epoch)
			case k == 2 && len(live) > 0:
				i := r.Intn(len(live))
				to := live[r.Intn(len(live))]
				live[i] = l.move(live[i], to)
			case len(live) > 0:
				i := r.Intn(len(live))
				l.done(live[i])
				live = slices.Delete(live, i, i+1)
			}
			for _, b := range barriers {
				held := slices.ContainsFunc(live, func(e uint64) bool { return e <= b.epoch })
				passed := false
				select {
				case <-b.done:
					passed = true
				default:
				}
				if held && !passed {
					continue
				}
				if !held && !passed {
					t.Fatalf("seed %d: barrier %d is not passed", seed, b.epoch)
				}
			}
			if l.total != len(live) {
				t.Fatalf("seed %d: %d tokens, want %d", seed, l.total, len(live))
			}
		}
	}
}

func TestPaths(t *testing.T) {
	for _, x := range []struct{ p, parent, base string }{
		{"/", "", ""}, {"/a", "/", "a"}, {"/a/b", "/a", "b"},
	} {
		if parentOf(x.p) != x.parent || base(x.p) != x.base {
			t.Errorf("%s: parent %q, base %q", x.p, parentOf(x.p), base(x.p))
		}
	}
	if !under("/a/b", "/") || !under("/a/b", "/a") || under("/ab", "/a") || !under("/a", "/a") || relTo("/a/b", "/") != "a/b" {
		t.Error("under or relTo")
	}
	order := []string{"/a", "/a/b", "/a/b/c", "/a-b", "/a.c", "/ab"}
	for i, a := range order {
		for k, b := range order {
			if before(a, b) != (i < k) {
				t.Errorf("before(%s, %s) = %v", a, b, before(a, b))
			}
		}
	}
}
