package watcher

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSyncSeesEveryWrite: a file written just before Sync is there, a file removed
// just before is gone, a thousand times.
func TestSyncSeesEveryWrite(t *testing.T) {
	root := t.TempDir()
	_, c := start(t, Options{}, Root{Path: root})
	path := filepath.Join(root, "f")
	for i := range 1000 {
		want := fmt.Sprint("word", i)
		write(t, path, want)
		c.sync()
		if got := c.table()[path]; got != want {
			t.Fatalf("round %d: %q, want %q", i, got, want)
		}
		if i%2 == 0 {
			continue // also rewrites in place
		}
		must(t, os.Remove(path))
		c.sync()
		if got, ok := c.table()[path]; ok {
			t.Fatalf("round %d: still %q", i, got)
		}
	}
}

// TestUnasked: changes come without a Sync, too.
func TestUnasked(t *testing.T) {
	root := t.TempDir()
	_, c := start(t, Options{}, Root{Path: root})
	path := filepath.Join(root, "a", "b", "c")
	write(t, path, "1")
	eventually(t, "written", func() bool { return c.table()[path] == "1" })
	must(t, os.RemoveAll(filepath.Join(root, "a")))
	eventually(t, "removed", func() bool { return len(c.table()) == 0 })
}

// TestNeverPausing: a writer that never rests holds Sync up as little as it hides
// its file.
func TestNeverPausing(t *testing.T) {
	root := t.TempDir()
	_, c := start(t, Options{Settle: time.Hour}, Root{Path: root})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				os.WriteFile(filepath.Join(root, fmt.Sprint("busy", i%50)), []byte(fmt.Sprint(i)), 0o644)
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for i := range 20 {
		path := filepath.Join(root, fmt.Sprint("f", i))
		write(t, path, "x")
		c.sync()
		if c.table()[path] != "x" {
			t.Fatalf("%s is not seen", path)
		}
	}
}

// TestManySyncs: concurrent syncs share cookies, and each sees its own write.
func TestManySyncs(t *testing.T) {
	root := t.TempDir()
	w, c := start(t, Options{}, Root{Path: root})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			path := filepath.Join(root, fmt.Sprint(i))
			for k := range 20 {
				os.WriteFile(path, []byte(fmt.Sprint(k)), 0o644)
				if err := w.Sync(context.Background()); err != nil {
					t.Error(err)
				}
				if got := c.table()[path]; got != fmt.Sprint(k) {
					t.Errorf("%s: %q, want %d", path, got, k)
				}
			}
		})
	}
	wg.Wait()
	if s := w.State().Counters; s["cookies"] >= s["syncs"] {
		t.Errorf("%d cookies for %d syncs", s["cookies"], s["syncs"])
	}
}

// TestRename: both halves of a rename are in one batch and know each other.
func TestRename(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		write(t, filepath.Join(root, "old", "sub", fmt.Sprint(i)), "content")
	}
	o := Options{CookieDir: t.TempDir()}
	w, err := New(o)
	must(t, err)
	defer w.Close()
	must(t, w.SetRoots([]Root{{Path: root}}))
	drain := func(ctx context.Context, f func(*Batch)) {
		for {
			b, err := w.Next(ctx)
			if err != nil {
				return
			}
			f(b)
			w.Done(b)
		}
	}
	synced := func(f func(*Batch)) {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { drain(ctx, f) })
		must(t, w.Sync(context.Background()))
		cancel()
		wg.Wait()
	}
	synced(func(*Batch) {})
	must(t, os.Rename(filepath.Join(root, "old"), filepath.Join(root, "new")))
	pairs := 0
	synced(func(b *Batch) {
		gone := map[ident]Change{}
		for _, ch := range b.Changes {
			if ch.Op == Remove {
				gone[ch.Info.ident()] = ch
			}
		}
		for _, ch := range b.Changes {
			if old, ok := gone[ch.Info.ident()]; ok && ch.Op == Write {
				pairs++
				if filepath.Base(old.Path) != filepath.Base(ch.Path) || !old.Info.Modified.Equal(ch.Info.Modified) {
					t.Errorf("%+v is paired with %+v", old, ch)
				}
			}
		}
	})
	if pairs != 300 {
		t.Errorf("%d pairs, want 300", pairs)
	}
}

// TestRoots: a file belongs to the innermost root, whatever the order in which
// roots come and go.
func TestRoots(t *testing.T) {
	base := t.TempDir()
	dirs := []string{base, base + "/a", base + "/a/b", base + "/c"}
	files := []string{"1", "a/1", "a/b/1", "a/b/c/1", "c/1", "d/1"}
	for _, f := range files {
		write(t, filepath.Join(base, f), f)
	}
	w, c := start(t, Options{})
	r := rand.New(rand.NewSource(1))
	for range 60 {
		var roots []Root
		for _, d := range dirs {
			if r.Intn(2) == 0 {
				roots = append(roots, Root{Path: d})
			}
		}
		must(t, w.SetRoots(roots))
		c.sync()
		want := map[string]string{}
		for _, f := range files {
			p, best := filepath.Join(base, f), ""
			for _, root := range roots {
				if under(p, root.Path) && len(root.Path) > len(best) {
					best = root.Path
				}
			}
			if best != "" {
				want[p] = best
			}
		}
		c.mu.Lock()
		d := differences(c.roots, want)
		c.mu.Unlock()
		if len(d) > 0 {
			t.Fatalf("with %v: %q", roots, d)
		}
	}
}

func TestSetRootsRefuses(t *testing.T) {
	w, _ := start(t, Options{})
	if err := w.SetRoots([]Root{{Path: "a/b"}}); err == nil {
		t.Error("a relative path is accepted")
	}
	if err := w.SetRoots([]Root{{Path: "/a"}, {Path: "/a/"}}); err == nil {
		t.Error("a root named twice is accepted")
	}
}

// TestSuspended: a root that is not there empties nothing, and comes back by itself.
// TestRenameFile: the same for single files, whichever name comes first.
func TestRenameFile(t *testing.T) {
	root := t.TempDir()
	a, b := root+"/a", root+"/b"
	write(t, a, "x")
	w, c := start(t, Options{}, Root{Path: root})
	c.sync()
	c.end()
	for i := range 50 {
		must(t, os.Rename(a, b))
		for got := 0; got < 2; {
			batch, err := w.Next(context.Background())
			must(t, err)
			for _, ch := range batch.Changes {
				if ch.Path == b && ch.Op == Write || ch.Path == a && ch.Op == Remove {
					got++
				}
			}
			if got == 1 {
				t.Fatalf("round %d: one half came in %+v", i, batch.Changes)
			}
			w.Done(batch)
		}
		a, b = b, a
	}
}

// TestSkips: what is no regular file is named, and never opened.
func TestSkips(t *testing.T) {
	root := t.TempDir()
	must(t, mkfifo(root+"/fifo"))
	l, err := net.Listen("unix", root+"/s")
	must(t, err)
	defer l.Close()
	write(t, root+"/large", strings.Repeat("x", 101))
	write(t, root+"/ok", strings.Repeat("x", 100))
	w, c := start(t, Options{}, Root{Path: root, MaxFileSize: 100})
	c.sync()
	got := c.skipped()
	for name, why := range map[string]string{"fifo": "FIFO", "s": "socket", "large": "limit is 100 bytes"} {
		if !strings.Contains(got[root+"/"+name], why) {
			t.Errorf("%s: %q", name, got[root+"/"+name])
		}
	}
	must(t, os.Truncate(root+"/large", 5))
	write(t, root+"/ok", strings.Repeat("x", 200))
	must(t, os.Remove(root+"/fifo"))
	c.sync()
	if tab, sk := c.table(), c.skipped(); tab[root+"/large"] != "xxxxx" || sk[root+"/ok"] == "" || sk[root+"/fifo"] != "" {
		t.Errorf("after the change: %v, %v", tab, sk)
	}
	must(t, w.SetRoots([]Root{{Path: root}}))
	c.sync()
	if len(c.table()) != 2 {
		t.Errorf("without a limit: %v", c.table())
	}
}

// TestTouchAndRescan: both report what looks unchanged.
func TestTouchAndRescan(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/a/1", "x")
	write(t, root+"/a/b/2", "x")
	write(t, root+"/3", "x")
	w, c := start(t, Options{}, Root{Path: root}, Root{Path: root + "/a/b"})
	reported := func(do func()) []string {
		c.quiet()
		before := len(c.changes())
		do()
		c.quiet()
		var paths []string
		for _, ch := range c.changes()[before:] {
			if ch.Op != Write {
				t.Errorf("reported %+v", ch)
			}
			paths = append(paths, relTo(ch.Path, root))
		}
		slices.Sort(paths)
		return paths
	}
	for _, x := range []struct {
		do   func()
		want []string
	}{
		{func() {}, nil},
		{func() { w.Touch(root + "/a/1") }, []string{"a/1"}},
		{func() { w.Rescan(root + "/3") }, []string{"3"}},
		{func() { w.Rescan(root + "/a") }, []string{"a/1", "a/b/2"}},
		{func() { w.Rescan(root) }, []string{"3", "a/1", "a/b/2"}},
		{func() { w.Rescan(root + "/none") }, nil},
		{func() { must(t, w.SetRoots([]Root{{Path: root}, {Path: root + "/a/b"}})) }, nil},
	} {
		if got := reported(x.do); !slices.Equal(got, x.want) {
			t.Errorf("reported %q, want %q", got, x.want)
		}
	}
}

// TestOutstanding: batches may be outstanding side by side, a path in one of them.
func TestOutstanding(t *testing.T) {
	root := t.TempDir()
	for i := range 20 {
		write(t, filepath.Join(root, fmt.Sprint(i)), "x")
	}
	w, err := New(Options{CookieDir: t.TempDir(), BatchSize: 5, Settle: time.Millisecond})
	must(t, err)
	defer w.Close()
	must(t, w.SetRoots([]Root{{Path: root}}))
	var out []*Batch
	paths := map[string]bool{}
	for len(paths) < 20 {
		b, err := w.Next(context.Background())
		must(t, err)
		if len(b.Changes) > 5 || !slices.IsSortedFunc(b.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) }) {
			t.Errorf("batch %+v", b.Changes)
		}
		for _, ch := range b.Changes {
			if paths[ch.Path] {
				t.Errorf("%s is in two batches", ch.Path)
			}
			paths[ch.Path] = true
		}
		out = append(out, b)
	}
	for p := range paths {
		write(t, p, "changed")
		w.Touch(p)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if b, err := w.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("batch %+v, error %v while all paths are outstanding", b, err)
	}
	w.Done(out[0])
	b, err := w.Next(context.Background())
	must(t, err)
	if len(b.Changes) == 0 || !slices.ContainsFunc(out[0].Changes, func(c Change) bool { return c.Path == b.Changes[0].Path }) {
		t.Errorf("after Done came %+v", b.Changes)
	}
	if err := w.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sync with outstanding batches: %v", err)
	}
}

func TestClose(t *testing.T) {
	w, err := New(Options{CookieDir: t.TempDir()})
	must(t, err)
	must(t, w.SetRoots([]Root{{Path: t.TempDir()}}))
	errs := make(chan error, 2)
	write(t, w.roots[firstRoot(w)].Path+"/f", "x")
	b, err := w.Next(context.Background()) // so that Sync waits
	must(t, err)
	go func() { _, err := w.Next(context.Background()); errs <- err }()
	go func() { errs <- w.Sync(context.Background()) }()
	must(t, w.Close())
	must(t, w.Close())
	for range 2 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	w.Done(b)
	if err := w.SetRoots(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("SetRoots after Close: %v", err)
	}
}

func firstRoot(w *Watcher) string { return w.State().Roots[0].Path }

// TestHardLinks: two names are two files, and an edit through one changes both,
// though only one has an event.
func TestHardLinks(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/a/1", "x")
	_, c := start(t, Options{}, Root{Path: root})
	c.expect(root)
	must(t, os.Link(root+"/a/1", root+"/2"))
	c.expect(root)
	for i := range 50 {
		write(t, root+"/2", fmt.Sprint(i))
		c.expect(root)
		write(t, root+"/a/1", fmt.Sprint(i+1))
		c.expect(root)
	}
	must(t, os.Remove(root+"/2"))
	c.expect(root)
}

// TestCookiesOfWatchersDiffer: watchers that share a cookie directory must not take
// the event of each other's cookies for that of their own.
func TestCookiesOfWatchersDiffer(t *testing.T) {
	dir, seen := t.TempDir(), map[string]bool{}
	for range 3 {
		w, _ := start(t, Options{CookieDir: dir}, Root{Path: t.TempDir()})
		for range 3 {
			c := &cookie{}
			if err := w.do(func() { w.issue(c) }); err != nil {
				t.Fatal(err)
			}
			if seen[c.path] {
				t.Errorf("%s is the cookie of two watchers", c.path)
			}
			seen[c.path] = true
		}
	}
}
