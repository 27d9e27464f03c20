package watcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestOverflow: more events than the kernel keeps, while nobody reads, end in a
// table that equals a fresh walk, and in a counter that says so.
func TestOverflow(t *testing.T) {
	root := t.TempDir()
	for i := range 10 {
		write(t, fmt.Sprintf("%s/old%d/f", root, i), "x")
	}
	var gate sync.RWMutex
	o := Options{RebuildPause: 5 * time.Millisecond}
	o.newSource = func() (source, error) {
		return newSieve(func(fsnotify.Event) bool { return true }, &gate)
	}
	w, c := start(t, o, Root{Path: root})
	c.expect(root)
	gate.Lock()
	must(t, os.Mkdir(root+"/flood", 0o755))
	write(t, root+"/x", "x")
	write(t, root+"/y", "y")
	for range 12000 { // more than the kernel and the source keep; the same event twice in a row would be kept once
		must(t, os.Chmod(root+"/x", 0o600))
		must(t, os.Chmod(root+"/y", 0o600))
	}
	for i := range 10 { // their events are lost
		must(t, os.Rename(fmt.Sprintf("%s/old%d", root, i), fmt.Sprintf("%s/flood/%d", root, i)))
		write(t, fmt.Sprintf("%s/flood/%d/new/f", root, i), fmt.Sprint(i))
	}
	gate.Unlock()
	c.expect(root)
	probe(t, root, "probe")
	c.expect(root)
	if s := w.State(); s.Counters["overflows"] == 0 || s.Counters["rebuilds"] == 0 || s.LastLost.IsZero() || s.LastRebuild.IsZero() {
		t.Errorf("state %+v", s)
	}
	checkWatches(t, w, root)
}

// TestErrorsRebuild: any error may mean lost events, so all is scanned again; but
// an error every 5 ms does not mean a scan every 5 ms.
func TestErrorsRebuild(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		src := make(chan *fakeSource, 100)
		o := Options{RebuildPause: 30 * time.Millisecond, AuditRate: -1}
		o.newSource = func() (source, error) {
			s := newFake()
			src <- s
			return s, nil
		}
		w, c := start(t, o, Root{Path: root})
		synctest.Wait()
		write(t, root+"/f", "x") // of which nothing is told
		last := <-src
		for range 40 {
			select {
			case last = <-src:
			default:
			}
			last.fail(errors.New("a strange error"))
			time.Sleep(5 * time.Millisecond)
		}
		if c.table()[root+"/f"] != "x" {
			t.Error("nothing was scanned")
		}
		if n := w.State().Counters["rebuilds"]; n < 2 || n > 4 { // after 0, 30, 90, 210 ms
			t.Errorf("%d rebuilds for 40 errors in 200 ms", n)
		}
	})
}

// TestBurst: many events in one directory, or in many, become listings.
func TestBurst(t *testing.T) {
	root := t.TempDir()
	w, c := start(t, Options{DirBurst: 8, TreeBurst: 4, Settle: 50 * time.Millisecond}, Root{Path: root})
	for i := range 20 {
		write(t, fmt.Sprintf("%s/d%d/f", root, i), "x")
	}
	c.expect(root)
	for i := range 20 {
		for k := range 20 {
			write(t, fmt.Sprintf("%s/d%d/%d", root, i, k), fmt.Sprint(i))
		}
	}
	must(t, os.Rename(root+"/d1", root+"/d0/moved"))
	must(t, os.Rename(root+"/d2", root+"/x"))
	must(t, os.Rename(root+"/d3", root+"/d2"))
	must(t, os.Rename(root+"/x", root+"/d3"))
	c.expect(root)
	probe(t, root, "probe")
	c.expect(root)
	for k := range 20 {
		write(t, filepath.Join(root, "d5", fmt.Sprint("g", k)), "y")
	}
	c.expect(root)
	if s := w.State().Counters; s["listings"] == 0 {
		t.Errorf("counters %v", s)
	}
	checkWatches(t, w, root)
}
