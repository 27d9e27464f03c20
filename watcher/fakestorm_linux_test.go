package watcher

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

var fakeStorms = flag.Int("watcher.fakestorms", 100, "number of storms on the fake event source")

// kernel is an event source that behaves as fsnotify on inotify does, driven by
// the test: a watch belongs to a directory and not to its name, and goes on to
// report under the name that was added first; the queue is bounded, and what does
// not fit is lost and told by an error. Events come late, by a fake clock.
type kernel struct {
	*fakeSource
	r *rand.Rand

	names map[ident]string // of the watched directories, as added
	wake  chan struct{}
	queue []any // events and errors, in order
	bound int
	ended chan struct{} // run has
}

func newKernel(r *rand.Rand, bound int) *kernel {
	k := &kernel{fakeSource: newFake(), r: r, names: map[ident]string{}, wake: make(chan struct{}, 1), bound: bound, ended: make(chan struct{})}
	go k.run() // ended by Close
	return k
}

func (k *kernel) Add(dir string) error {
	f, err := lstat(dir, true)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.names[f.id]; !ok {
		k.names[f.id] = dir
	}
	return nil
}

func (k *kernel) Remove(dir string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, name := range k.names {
		if name == dir {
			delete(k.names, id)
			return nil
		}
	}
	return fsnotify.ErrNonExistentWatch
}

func (k *kernel) Close() error {
	k.once.Do(func() {
		close(k.closed)
		<-k.ended
		close(k.events)
		close(k.errs)
	})
	return nil
}

func (k *kernel) WatchList() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var l []string
	for _, name := range k.names {
		l = append(l, name)
	}
	return l
}

// run delivers the queue, at times after a pause.
func (k *kernel) run() {
	defer close(k.ended)
	for {
		k.mu.Lock()
		var next any
		if len(k.queue) > 0 {
			next, k.queue = k.queue[0], k.queue[1:]
		}
		pause := time.Duration(0)
		if k.r.Intn(20) == 0 {
			pause = time.Duration(k.r.Intn(120)) * time.Millisecond
		}
		k.mu.Unlock()
		if next == nil {
			select {
			case <-k.wake:
				continue
			case <-k.closed:
				return
			}
		}
		select {
		case <-time.After(pause):
		case <-k.closed:
			return
		}
		switch x := next.(type) {
		case fsnotify.Event:
			select {
			case k.events <- x:
			case <-k.closed:
				return
			}
		case error:
			select {
			case k.errs <- x:
			case <-k.closed:
				return
			}
		}
	}
}

// tell queues what happened to a name of the directory.
func (k *kernel) tell(dir ident, name string, op fsnotify.Op) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.names[dir]
	if !ok {
		return
	}
	path := at
	if name != "" {
		path = at + "/" + name
	}
	switch {
	case len(k.queue) < k.bound:
		k.queue = append(k.queue, fsnotify.Event{Name: path, Op: op})
	case len(k.queue) == k.bound:
		k.queue = append(k.queue, fsnotify.ErrEventOverflow)
	}
	notify(k.wake)
}

// gone ends the watch of a directory that was removed.
func (k *kernel) gone(dir ident) {
	k.tell(dir, "", fsnotify.Remove)
	k.mu.Lock()
	delete(k.names, dir)
	k.mu.Unlock()
}

// world does file operations and tells the kernel of the moment of them.
type world struct {
	mu      sync.Mutex
	k       *kernel
	root    string
	r       *rand.Rand
	written int
}

func (o *world) source() (source, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.k = newKernel(rand.New(rand.NewSource(o.r.Int63())), []int{8, 40, 4000}[o.r.Intn(3)])
	return o.k, nil
}

func (o *world) path() string {
	p := o.root
	for range 1 + o.r.Intn(3) {
		p += "/" + string(rune('a'+o.r.Intn(4)))
	}
	return p
}

func idOfPath(p string) (ident, bool) {
	f, err := lstat(p, false)
	return f.id, err == nil && f.mode.IsDir()
}

func (o *world) tellAt(path string, op fsnotify.Op) {
	if id, ok := idOfPath(filepath.Dir(path)); ok {
		o.k.tell(id, filepath.Base(path), op)
	}
}

// write saves a file; no two contents are of the same length, since the real
// file system's clock, by which the watcher sees changes, may stand still.
func (o *world) write(p string) {
	o.written++
	_, err := os.Lstat(p)
	if os.WriteFile(p, []byte(strings.Repeat("x", o.written)), 0o600) != nil {
		return
	}
	if err != nil {
		o.tellAt(p, fsnotify.Create)
	}
	o.tellAt(p, fsnotify.Write)
}

func (o *world) mkdir(p string) {
	if os.Mkdir(p, 0o700) == nil {
		o.tellAt(p, fsnotify.Create)
	}
}

func (o *world) remove(p string) {
	id, dir := idOfPath(p)
	if dir {
		entries, _ := os.ReadDir(p)
		for _, e := range entries {
			o.remove(p + "/" + e.Name())
		}
	}
	if os.Remove(p) != nil {
		return
	}
	if dir {
		o.k.gone(id)
	}
	o.tellAt(p, fsnotify.Remove)
}

func (o *world) rename(from, to string) {
	moved, dir := idOfPath(from)
	over, overDir := idOfPath(to)
	if os.Rename(from, to) != nil {
		return
	}
	if overDir && over != moved {
		o.k.gone(over)
	}
	o.tellAt(from, fsnotify.Rename)
	o.tellAt(to, fsnotify.Create)
	if dir {
		o.k.tell(moved, "", fsnotify.Rename)
	}
}

// pause is how long nothing is done between two steps.
func (o *world) pause() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Duration(max(0, o.r.Intn(320)-240)) * time.Millisecond
}

func (o *world) step() {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch p := o.path(); o.r.Intn(9) {
	case 0, 1:
		o.mkdir(p)
	case 2, 3:
		o.write(p)
	case 4:
		o.remove(p)
	case 5, 6:
		o.rename(p, o.path())
	case 7: // an atomic save
		o.write(p + "~")
		o.rename(p+"~", p)
	case 8: // deep, and something in it at once
		for range 3 {
			o.mkdir(p)
			p += "/" + string(rune('a'+o.r.Intn(4)))
		}
		o.write(p)
	}
}

// TestFakeStorms: thousands of small storms on a source that is late, keeps stale
// names and overflows, in no time. Without a Sync, all is found by events and what
// follows from their loss.
func TestFakeStorms(t *testing.T) {
	for i := range *fakeStorms {
		seed := *stormSeed + int64(i)
		synctest.Test(t, func(t *testing.T) { fakeStorm(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d (go test -run FakeStorms -watcher.seed %[1]d -watcher.fakestorms 1)", seed)
		}
	}
}

func fakeStorm(t *testing.T, seed int64) {
	r := rand.New(rand.NewSource(seed))
	o := &world{root: t.TempDir(), r: r}
	opts := Options{Settle: 50 * time.Millisecond, AuditRate: -1, Retry: time.Hour, newSource: o.source}
	if seed%2 == 0 {
		opts.DirBurst, opts.TreeBurst = 2, 3
	}
	w, err := New(opts)
	must(t, err)
	c := &consumer{t: t, w: w, files: map[string]string{}, skips: map[string]string{}, roots: map[string]string{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			b, err := w.Next(t.Context())
			if err != nil {
				return
			}
			time.Sleep(time.Duration(len(b.Changes)) * time.Millisecond) // it takes its time
			c.apply(b)
			w.Done(b)
		}
	}()
	defer func() { w.Close(); <-ended }()
	must(t, w.SetRoots([]Root{{Path: o.root}}))
	for range 120 {
		o.step()
		time.Sleep(o.pause())
	}
	time.Sleep(time.Minute) // of the fake clock
	synctest.Wait()
	if d := differences(c.table(), walkFiles(o.root)); len(d) > 0 || w.State().Pending != 0 {
		t.Errorf("%d differences: %q\nstate %+v", len(d), d[:min(5, len(d))], w.State())
	}
	must(t, w.do(func() {
		w.roots[o.root].top.walk(func(n *node) {
			if name := o.k.names[n.id]; name != n.path {
				t.Errorf("%s is watched as %q", n.path, name)
			}
		})
	}))
	if s := w.State().Counters; fmt.Sprint(s["audit_found"]) != "0" {
		t.Errorf("counters %v", s)
	}
}
