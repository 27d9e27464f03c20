package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestSuspended(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	w, c := start(t, Options{RootCheck: 5 * time.Millisecond}, Root{Path: root})
	state := func() RootState { return w.State().Roots[0] }
	c.sync()
	if s := state(); s.State != "suspended" || s.Reason == "" {
		t.Fatalf("a root that is missing is %+v", s)
	}
	write(t, root+"/d/f", "1")
	eventually(t, "found", func() bool { return c.table()[root+"/d/f"] == "1" })
	c.sync()
	before := len(c.changes())
	must(t, os.Rename(root, root+"2"))
	eventually(t, "suspended", func() bool { return state().State == "suspended" })
	must(t, os.WriteFile(root+"2/d/g", []byte("2"), 0o644))
	must(t, os.Rename(root+"2", root))
	eventually(t, "resumed", func() bool { return c.table()[root+"/d/g"] == "2" })
	c.expect(root)
	for _, ch := range c.changes()[before:] {
		if ch.Op == Remove {
			t.Errorf("a root that was away reported %+v", ch)
		}
	}
	checkWatches(t, w, root)
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	root := t.TempDir()
	write(t, root+"/d/e/f", "1")
	w, c := start(t, Options{}, Root{Path: root})
	c.sync()
	for _, mode := range []os.FileMode{0, 0o444, 0o111} {
		must(t, os.Chmod(root+"/d", mode))
		c.sync()
		w.Rescan(root)
		c.sync()
		os.Chmod(root+"/d", 0o755)
		if tab, sk := c.table(), c.skipped(); len(tab) != 0 || sk[root+"/d"] == "" {
			t.Errorf("mode %o: %v, %v", mode, tab, sk)
		}
		c.expect(root)
		if sk := c.skipped(); len(sk) != 0 {
			t.Errorf("mode %o, readable again: %v", mode, sk)
		}
	}
	must(t, os.Chmod(root, 0))
	c.sync()
	s := w.State().Roots[0]
	os.Chmod(root, 0o755)
	if s.State != "suspended" || len(c.table()) != 1 {
		t.Errorf("an unreadable root is %+v, with %v", s, c.table())
	}
	c.expect(root)
}

func TestCookieDir(t *testing.T) {
	root, base := t.TempDir(), t.TempDir()
	dir := base + "/cookies"
	must(t, os.Mkdir(dir, 0o755))
	w, c := start(t, Options{CookieDir: dir}, Root{Path: root})
	see := func(what string) {
		t.Helper()
		write(t, root+"/f", what)
		c.sync()
		if got := c.table()[root+"/f"]; got != what {
			t.Fatalf("%s: %q", what, got)
		}
	}
	see("cookie")
	must(t, os.RemoveAll(dir))
	see("removed")
	must(t, os.RemoveAll(dir))
	must(t, os.Mkdir(dir, 0o755))
	see("made anew")
	must(t, os.RemoveAll(dir))
	write(t, dir, "a file")
	see("a file in the way")
	if n := w.State().Counters["sync_scans"]; n != 1 {
		t.Errorf("%d syncs by scan, want 1", n)
	}
	must(t, os.Remove(dir))
	see("mended")
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) > 1 { // the last may not be removed yet
		t.Errorf("%d cookies are left", len(entries))
	}
}

func TestCookieLost(t *testing.T) {
	root, cookies := t.TempDir(), t.TempDir()
	var deaf atomic.Bool
	var gate sync.RWMutex
	o := Options{CookieDir: cookies, CookieTimeout: 20 * time.Millisecond, RebuildPause: time.Millisecond}
	o.newSource = func() (source, error) {
		return newSieve(func(fsnotify.Event) bool { return !deaf.Load() }, &gate)
	}
	w, c := start(t, o, Root{Path: root})
	c.sync()
	deaf.Store(true)
	write(t, root+"/f", "x")
	var wg sync.WaitGroup
	wg.Go(func() { c.sync() })
	eventually(t, "rebuilt", func() bool { return w.State().Counters["rebuilds"] > 0 })
	deaf.Store(false)
	wg.Wait()
	c.expect(root)
	if s := w.State().Counters; s["cookie_timeouts"] < 2 {
		t.Errorf("counters %v", s)
	}
}

func TestPolled(t *testing.T) {
	root := t.TempDir()
	w, c := start(t, Options{}, Root{Path: root, Poll: 20 * time.Millisecond})
	write(t, root+"/a/b", "1")
	c.expect(root)
	if s := w.State().Roots[0]; s.State != "polled" && s.State != "scanning" {
		t.Errorf("state %+v", s)
	}
	write(t, root+"/a/b", "22")
	eventually(t, "polled", func() bool { return c.table()[root+"/a/b"] == "22" })
	must(t, w.SetRoots([]Root{{Path: root}}))
	c.sync()
	checkWatches(t, w, root)
}

func TestWatchTableFull(t *testing.T) {
	root := t.TempDir()
	for i := range 10 {
		write(t, fmt.Sprintf("%s/%d/sub/f", root, i), "x")
	}
	var full atomic.Bool
	full.Store(true)
	o := Options{Retry: 10 * time.Millisecond, RootCheck: 5 * time.Millisecond}
	o.newSource = func() (source, error) {
		s, err := newFsnotify()
		return limited{s, &full}, err
	}
	w, c := start(t, o, Root{Path: root})
	c.expect(root)
	s := w.State().Roots[0]
	if s.State != "polled" || s.Polled < 17 || !strings.Contains(s.Reason, "max_user_watches") {
		t.Errorf("state %+v", s)
	}
	write(t, root+"/7/sub/g", "y")
	c.expect(root)
	write(t, root+"/7/sub/h", "y")
	eventually(t, "polled", func() bool { return c.table()[root+"/7/sub/h"] == "y" })
	full.Store(false)
	eventually(t, "watched", func() bool { s := w.State().Roots[0]; return s.State == "watching" && s.Reason == "" })
	c.expect(root)
	probe(t, root, "probe")
	c.expect(root)
}

// limited refuses watches, but for four, as a full table does.
type limited struct {
	source
	full *atomic.Bool
}

func (l limited) Add(dir string) error {
	if l.full.Load() && len(l.WatchList()) >= 4 {
		return fmt.Errorf("adding %s: %w", dir, syscall.ENOSPC)
	}
	return l.source.Add(dir)
}

func TestNoEvents(t *testing.T) {
	root := t.TempDir()
	var none atomic.Bool
	none.Store(true)
	o := Options{Retry: 20 * time.Millisecond, RootCheck: 5 * time.Millisecond, RebuildPause: time.Millisecond}
	o.newSource = func() (source, error) {
		if none.Load() {
			return nil, syscall.EMFILE
		}
		return newFsnotify()
	}
	w, c := start(t, o, Root{Path: root})
	write(t, root+"/a/b", "1")
	c.expect(root)
	if s := w.State().Roots[0]; s.State == "watching" {
		t.Errorf("state %+v", s)
	}
	none.Store(false)
	eventually(t, "watched", func() bool { return w.State().Roots[0].State == "watching" })
	c.expect(root)
	checkWatches(t, w, root)
}

func TestAudit(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/a/1", "x")
	write(t, root+"/b/2", "x")
	var gate sync.RWMutex
	var deaf atomic.Bool
	o := Options{RootCheck: 2 * time.Millisecond, AuditPause: 2 * time.Millisecond, AuditRate: 100000}
	o.newSource = func() (source, error) {
		return newSieve(func(fsnotify.Event) bool { return !deaf.Load() }, &gate)
	}
	w, c := start(t, o, Root{Path: root})
	c.expect(root)
	deaf.Store(true)
	write(t, root+"/a/1", "changed")
	write(t, root+"/a/new", "x")
	write(t, root+"/new/dir/f", "x")
	must(t, os.RemoveAll(root+"/b"))
	eventually(t, "found", func() bool { return len(differences(c.table(), walkFiles(root))) == 0 })
	if s := w.State(); s.Counters["audit_found"] == 0 || s.LastAudit.IsZero() {
		t.Errorf("state %+v", s)
	}
}

func TestExclude(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	write(t, root+"/data/log", "x")
	write(t, other+"/secret", "x")
	write(t, root+"/f", "x")
	must(t, os.Symlink(other, root+"/link"))
	w, c := start(t, Options{CookieDir: root + "/cookies", Exclude: []string{root + "/data", other}},
		Root{Path: root, FollowSymlinks: true}, Root{Path: other})
	c.sync()
	write(t, root+"/data/log", "y")
	c.sync()
	if tab := c.table(); len(tab) != 1 || tab[root+"/f"] != "x" {
		t.Errorf("reported %v", tab)
	}
	for _, r := range w.State().Roots {
		if r.Path == other && r.State != "suspended" {
			t.Errorf("an excluded root is %+v", r)
		}
	}
}

func TestRemote(t *testing.T) {
	if kind, remote, err := Remote(t.TempDir()); err != nil || remote {
		t.Skipf("temporary files are on %q (%v)", kind, err)
	}
	if _, _, err := Remote(t.TempDir() + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a path that is missing: %v", err)
	}
}

// TestRacy: a file that was looked at within a clock tick of its change is reported
// again with any event, and once when the tick is over.
func TestRacy(t *testing.T) {
	for _, x := range []struct {
		tick  time.Duration
		event bool
	}{{time.Hour, true}, {500 * time.Millisecond, false}} {
		root := t.TempDir()
		src := newFake()
		o := Options{Granularity: x.tick, newSource: func() (source, error) { return src, nil }}
		write(t, root+"/f", "x")
		w, c := start(t, o, Root{Path: root})
		eventually(t, "reported", func() bool { return len(c.changes()) == 1 })
		if x.event {
			src.send(fsnotify.Event{Name: root + "/f", Op: fsnotify.Write})
		}
		eventually(t, "reported again", func() bool { return len(c.changes()) == 2 })
		alarms := 0
		must(t, w.do(func() { alarms = len(w.rec.alarms) }))
		if !x.event && alarms > 0 {
			t.Error("it is to be reported yet again")
		}
	}
}
