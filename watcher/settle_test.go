package watcher

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func newSettler(o Options) (*settler, *ledger) {
	var l ledger
	l.init()
	var s settler
	s.init(&l, o)
	s.treeOf = func(p string) (string, int) {
		if under(p, "/t") {
			return "/t", 8
		}
		return "", 0
	}
	return &s, &l
}

// TestSettleProperties: whatever comes, every hint is taken by the hard maximum,
// none before its quiet time (but for an eighth) unless a barrier waits for it, what is known of it is
// not lost, and the tokens add up.
func TestSettleProperties(t *testing.T) {
	const quiet = 50 * time.Millisecond
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		s, l := newSettler(Options{Settle: quiet, DirBurst: 1 + r.Intn(6), TreeBurst: 1 + r.Intn(6)})
		now := time.Unix(1000, 0)
		waiting := map[string]time.Time{} // path → its first event
		last := map[string]time.Time{}
		var barrier uint64
		for range 400 {
			now = now.Add(time.Duration(r.Intn(20)) * time.Millisecond)
			path := fmt.Sprintf("/t/%d/%d", r.Intn(8), r.Intn(8))
			if _, ok := waiting[path]; !ok {
				waiting[path] = now
			}
			last[path] = now
			s.add(path, flags(r.Intn(2))*structural|flags(r.Intn(9)/8)*force, now, l.epoch)
			if r.Intn(50) == 0 {
				barrier = l.epoch
				l.epoch++
			}
			got := s.take(now, barrier)
			for _, h := range got {
				if h.epoch > barrier && now.Before(h.last.Add(quiet*7/8)) && now.Before(h.first.Add(4*quiet*31/32)) {
					t.Fatalf("seed %d: %+v is taken too early", seed, h)
				}
				for p := range waiting {
					if p == h.path || h.flags&listing != 0 && parentOf(p) == h.path || h.path == "/t" {
						delete(waiting, p)
					}
				}
				l.done(h.epoch)
			}
			for p, first := range waiting {
				if !now.Before(first.Add(4 * quiet)) {
					t.Fatalf("seed %d: %s is overdue", seed, p)
				}
			}
		}
		got := s.take(now.Add(time.Hour), barrier)
		for _, h := range got {
			l.done(h.epoch)
		}
		if s.n != 0 || len(s.dirs) != 0 || l.total != 0 || len(l.live) != 0 {
			t.Fatalf("seed %d: left over: %d hints, %d directories, ledger %+v", seed, s.n, len(s.dirs), l)
		}
	}
}

// TestSettleKeepsForce: a burst does not swallow what must be reported in any case.
func TestSettleKeepsForce(t *testing.T) {
	s, _ := newSettler(Options{Settle: time.Second, DirBurst: 2, TreeBurst: 1})
	now := time.Unix(1000, 0)
	s.add("/t/a/touched", force, now, 1)
	for i := range 40 {
		s.add(fmt.Sprintf("/t/%d/x", i), 0, now, 1)
		s.add(fmt.Sprintf("/t/a/%d", i), structural, now, 1)
	}
	got := s.take(now.Add(time.Minute), 0)
	if !slices.ContainsFunc(got, func(h *hint) bool { return h.path == "/t/a/touched" && h.flags&force != 0 }) {
		t.Errorf("the touch is lost")
	}
	if len(got) > 5 {
		t.Errorf("%d hints are left of a burst", len(got))
	}
}

// TestEchoMerge: a name's own event is not mistaken for that of its other name.
func TestEchoMerge(t *testing.T) {
	for _, fs := range [][]flags{{echo, 0}, {0, echo}, {echo, structural}, {echo, echo}} {
		s, _ := newSettler(Options{Settle: time.Second, DirBurst: 9, TreeBurst: 9})
		for _, f := range fs {
			s.add("/t/a", f, time.Unix(0, 0), 1)
		}
		want := fs[0] == echo && fs[1] == echo
		if got := s.take(time.Unix(9, 0), 0); (got[0].flags&echo != 0) != want {
			t.Errorf("%v: %+v", fs, got[0])
		}
	}
}

// TestSettleTimes runs the whole watcher on a fake clock and a fake source: a
// change comes when it has been quiet for the settle time, and a busy one by the
// hard maximum.
func TestSettleTimes(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		src := newFake()
		w, err := New(Options{Settle: 50 * time.Millisecond, AuditRate: -1,
			newSource: func() (source, error) { return src, nil }})
		must(t, err)
		defer w.Close()
		must(t, w.SetRoots([]Root{{Path: root}}))
		synctest.Wait()
		reported := make(chan time.Time, 100)
		go func() {
			for {
				b, err := w.Next(t.Context())
				if err != nil {
					return
				}
				reported <- time.Now()
				w.Done(b)
			}
		}()
		send := func() { src.send(fsnotify.Event{Name: root + "/f", Op: fsnotify.Write}) }
		begin := time.Now()
		write(t, root+"/f", "1")
		send()
		time.Sleep(30 * time.Millisecond)
		send()
		if d := (<-reported).Sub(begin); d != 80*time.Millisecond {
			t.Errorf("reported after %v, want 80ms", d)
		}
		begin = time.Now()
		for i := range 20 { // never quiet for 200 ms
			write(t, root+"/f", strings.Repeat("x", i+2))
			send()
			time.Sleep(20 * time.Millisecond)
		}
		if d := (<-reported).Sub(begin); d != 200*time.Millisecond {
			t.Errorf("a busy file is reported after %v, want 200ms", d)
		}
	})
}

// TestIdle: with nothing going on, the watcher wakes for nothing but the root check.
func TestIdle(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/a/f", "x")
	synctest.Test(t, func(t *testing.T) {
		src := newFake()
		w, err := New(Options{AuditRate: -1, newSource: func() (source, error) { return src, nil }})
		must(t, err)
		defer w.Close()
		must(t, w.SetRoots([]Root{{Path: root}}))
		time.Sleep(time.Minute)
		before := w.stat.all()
		var wakes int
		must(t, w.do(func() { wakes = w.rec.wakes }))
		time.Sleep(time.Minute)
		synctest.Wait()
		must(t, w.do(func() { wakes = w.rec.wakes - wakes }))
		if after := w.stat.all(); after["scanned"] != before["scanned"] {
			t.Errorf("idle, %d directories were scanned", after["scanned"]-before["scanned"])
		}
		if wakes > 63 {
			t.Errorf("%d wake-ups in a minute", wakes)
		}
	})
}

// TestListingKeepsMoves: a burst forgets names, but not which of them may be moved
// directories.
func TestListingKeepsMoves(t *testing.T) {
	for _, n := range []int{10, 2 * movedLimit} {
		s, _ := newSettler(Options{Settle: time.Second, DirBurst: 4, TreeBurst: 9})
		now := time.Unix(1000, 0)
		for i := range n {
			s.add(fmt.Sprint("/t/f", i), flags(i%2)*structural, now, 1)
		}
		got := s.take(now.Add(time.Minute), 0)
		if len(got) != 1 || got[0].flags != listing {
			t.Fatalf("a burst became %d hints", len(got))
		}
		for i := range n {
			if i%2 == 1 && !got[0].mayHaveMoved(fmt.Sprint("f", i)) {
				t.Fatalf("f%d is forgotten", i)
			}
		}
		if n < movedLimit && got[0].mayHaveMoved("f2") {
			t.Error("a write is taken for a move")
		}
	}
}
