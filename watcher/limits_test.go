package watcher

import (
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestGuard: a root that comes, goes or is replaced is seen at once, with whatever
// lies above it, and not with the next check.
func TestGuard(t *testing.T) {
	if _, err := newGuardQueue(); err != nil {
		t.Skip(err)
	}
	base := t.TempDir()
	root := base + "/up/root"
	w, c := start(t, Options{RootCheck: time.Hour}, Root{Path: root})
	state := func(want string) func() bool {
		return func() bool { return w.State().Roots[0].State == want }
	}
	has := func(name, text string) func() bool { return func() bool { return c.table()[root+name] == text } }
	eventually(t, "suspended", state("suspended"))
	write(t, root+"/f", "1")
	eventually(t, "it has come", has("/f", "1"))
	must(t, os.Rename(base+"/up", base+"/away"))
	eventually(t, "what lies above it has gone", state("suspended"))
	must(t, os.WriteFile(base+"/away/root/f", []byte("22"), 0o600))
	must(t, os.Rename(base+"/away", base+"/up"))
	eventually(t, "it is back", has("/f", "22"))
	write(t, base+"/up/other/f", "333")
	must(t, os.Rename(root, base+"/up/old"))
	must(t, os.Rename(base+"/up/other", root))
	eventually(t, "it is another", has("/f", "333"))
	c.expect(root)
	checkWatches(t, w, root)
}

// TestExhausted: a listing that fails for want of open files is tried again soon,
// and Sync waits for it.
func TestExhausted(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/d/f", "x")
	var fail atomic.Int32
	fail.Store(3)
	o := Options{Retry: time.Hour, AuditRate: -1, readDir: func(dir string) ([]fs.DirEntry, error) {
		if strings.HasSuffix(dir, "/d") && fail.Add(-1) >= 0 {
			return nil, &os.PathError{Op: "open", Path: dir, Err: syscall.EMFILE}
		}
		return os.ReadDir(dir)
	}}
	w, c := start(t, o, Root{Path: root})
	c.expect(root)
	if n := w.State().Counters["exhausted"]; n != 3 {
		t.Errorf("%d listings were put off, want 3", n)
	}
}

// TestDeepTree: what a deep tree is walked by tells the same as the look at each
// path, and finds an ancestor that is another directory, or a link to one.
func TestDeepTree(t *testing.T) {
	root := t.TempDir()
	deep := root + strings.Repeat("/d", 600)
	write(t, deep+"/f", "1")
	w, c := start(t, Options{}, Root{Path: root})
	c.expect(root)
	checkWatches(t, w, root)
	at := root + strings.Repeat("/d", 20)
	must(t, w.do(func() { // before it can be seen
		must(t, os.Rename(at, root+"/away"))
		must(t, os.Symlink(root+"/away", at))
		for _, depth := range []int{20, 21, 600} {
			chain := w.rec.chainTo(w, root, depth)
			if len(chain) != depth+1 {
				t.Fatalf("the way to depth %d has %d directories", depth, len(chain))
			}
			if bad := w.broken(chain[depth]); bad == nil || bad.path != at {
				t.Errorf("depth %d: broken at %v", depth, bad)
			}
		}
	}))
	c.expect(root)
	must(t, os.Remove(at))
	must(t, os.Rename(root+"/away", at))
	write(t, deep+"/g", "2")
	c.expect(root)
	checkWatches(t, w, root)
}

// chainTo is the chain of the known directories d/d/d… below the root.
func (*reconciler) chainTo(w *Watcher, root string, depth int) []*node {
	n := w.roots[root].find(root + strings.Repeat("/d", depth))
	if n == nil {
		return nil
	}
	return n.chain()
}

// TestRemoteIsPolled: a file system that others change is polled and not watched,
// unless the root says never, and says so.
func TestRemoteIsPolled(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/d/f", "1")
	for _, poll := range []time.Duration{0, -1} {
		o := Options{Retry: 10 * time.Millisecond}
		o.remote = func(string) (string, bool, error) { return "nfs", true, nil }
		w, c := start(t, o, Root{Path: root, Poll: poll})
		c.expect(root)
		s := w.State()
		if polled := s.Roots[0].State == "polled" && s.Watches == 0; polled != (poll == 0) {
			t.Errorf("poll %d: %+v", poll, s)
		}
		if poll == 0 {
			if r := s.Roots[0]; r.Polled != 2 || len(r.PolledAt) != 2 || !strings.Contains(r.Reason, "2 of 2 directories are polled: its file system (nfs)") {
				t.Errorf("state %+v", r)
			}
			write(t, root+"/d/new/f", "22")
			eventually(t, "polled", func() bool { return c.table()[root+"/d/new/f"] == "22" })
		}
		w.Close()
		c.end()
	}
}

// TestPollShare: polling rests fifty times as long as it works, and between rounds
// at least Retry.
func TestPollShare(t *testing.T) {
	now := time.Unix(1000, 0)
	p := poller{todo: []*node{nil}, round: now}
	if p.goOn(now, time.Second, time.Hour); !p.next.Equal(now.Add(pollShare * time.Second)) {
		t.Errorf("within a round it goes on at %v", p.next)
	}
	p.todo = nil
	if p.goOn(now, time.Second, time.Hour); !p.next.Equal(now.Add(time.Hour)) {
		t.Errorf("the next round begins at %v", p.next)
	}
	if p.goOn(now, time.Second, time.Millisecond); !p.next.Equal(now.Add(pollShare * time.Second)) {
		t.Errorf("after a long round the next begins at %v", p.next)
	}
}

// TestUnmountedAtStart: an empty root on another file system than its files were on
// is one that is not mounted.
func TestUnmountedAtStart(t *testing.T) {
	root := t.TempDir()
	f, err := lstat(root, true)
	must(t, err)
	if f.id.dev == 0 {
		t.Skip("file systems have no numbers here")
	}
	w, c := start(t, Options{}, Root{Path: root, Device: f.id.dev + 1})
	c.sync()
	if s := w.State().Roots[0]; s.State != "suspended" || !strings.Contains(s.Reason, "not mounted") {
		t.Errorf("state %+v", s)
	}
	write(t, root+"/f", "x") // it is in use after all
	c.expect(root)
	w2, c2 := start(t, Options{}, Root{Path: t.TempDir(), Device: f.id.dev})
	c2.sync()
	if s := w2.State().Roots[0]; s.State != "watching" {
		t.Errorf("an empty root on its own file system is %+v", s)
	}
}

// TestCheckRoots tells State what is so now, and Turned that it has changed.
func TestCheckRoots(t *testing.T) {
	base := t.TempDir()
	root := base + "/root"
	write(t, root+"/f", "x")
	w, c := start(t, Options{RootCheck: time.Hour, newSource: func() (source, error) { return newFake(), nil }}, Root{Path: root})
	eventually(t, "scanned", func() bool { return len(c.table()) == 1 })
	must(t, os.Rename(root, base+"/away"))
	must(t, w.CheckRoots(t.Context()))
	if s := w.State().Roots[0]; s.State != "suspended" {
		t.Errorf("state %+v", s)
	}
	select {
	case <-w.Turned():
	default:
		t.Error("nothing tells that the root was suspended")
	}
	w.Close()
	if err := w.CheckRoots(t.Context()); err != ErrClosed {
		t.Errorf("closed: %v", err)
	}
}

// TestClockJump: when the wall's clock has gone on without us, all is scanned.
func TestClockJump(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/f", "x")
	src := newFake() // which tells of nothing
	o := Options{RootCheck: 5 * time.Millisecond, AuditRate: -1, newSource: func() (source, error) { return src, nil }}
	w, c := start(t, o, Root{Path: root})
	eventually(t, "scanned, and not to be looked at again", func() bool {
		alarms := 1
		must(t, w.do(func() { alarms = len(w.rec.alarms) }))
		return alarms == 0 && len(c.table()) == 1
	})
	write(t, root+"/g", "y")
	must(t, w.do(func() { w.rec.wall = w.rec.wall.Add(-time.Hour) }))
	eventually(t, "what came while it slept", func() bool { return c.table()[root+"/g"] == "y" })
	if n := w.State().Counters["clock_jumps"]; n != 1 {
		t.Errorf("%d clock jumps", n)
	}
}
