package watcher

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// consumer does what the daemon does with batches: it keeps a table of contents.
type consumer struct {
	t *testing.T
	w *Watcher

	mu    sync.Mutex
	files map[string]string // path → content
	skips map[string]string // path → reason
	roots map[string]string // path → root
	log   []Change          // everything, in order

	stop context.CancelFunc
	done chan struct{}
}

// consume starts a consumer, which ends with the test.
func consume(t *testing.T, w *Watcher) *consumer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &consumer{t: t, w: w, stop: cancel, done: make(chan struct{}),
		files: map[string]string{}, skips: map[string]string{}, roots: map[string]string{}}
	go func() {
		defer close(c.done)
		for {
			b, err := w.Next(ctx)
			if err != nil {
				return
			}
			c.apply(b)
			w.Done(b)
		}
	}()
	t.Cleanup(c.end)
	return c
}

func (c *consumer) end() {
	c.stop()
	<-c.done
}

func (c *consumer) apply(b *Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range b.Changes {
		c.log = append(c.log, ch)
		delete(c.files, ch.Path)
		delete(c.skips, ch.Path)
		delete(c.roots, ch.Path)
		switch ch.Op {
		case Write:
			c.roots[ch.Path] = ch.Root
			c.read(ch.Path)
		case Skip:
			c.skips[ch.Path] = ch.Reason
		}
	}
}

// read reads as a good consumer should: what changes or vanishes meanwhile is dirty again.
func (c *consumer) read(path string) {
	before, err := os.Stat(path)
	if err != nil {
		c.w.Touch(path)
		return
	}
	content, err := os.ReadFile(path)
	if err != nil {
		c.w.Touch(path)
		return
	}
	c.files[path] = string(content)
	after, err := os.Stat(path)
	if err != nil || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		c.w.Touch(path)
	}
}

func (c *consumer) table() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.files)
}

func (c *consumer) skipped() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.skips)
}

func (c *consumer) changes() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

func (c *consumer) sync() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.w.Sync(ctx); err != nil {
		c.t.Fatalf("sync: %v; state %+v", err, c.w.State())
	}
}

// quiet syncs and waits until racy files have been reported again, too.
func (c *consumer) quiet() {
	c.t.Helper()
	c.sync()
	eventually(c.t, "quiet", func() bool {
		n := 0
		must(c.t, c.w.do(func() { n = len(c.w.rec.alarms) }))
		return n == 0 && c.w.State().Pending == 0
	})
}

// walkFiles is the truth: the content of all regular files.
func walkFiles(root string) map[string]string {
	m := map[string]string{}
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if b, err := os.ReadFile(p); err == nil {
				m[p] = string(b)
			}
		}
		return nil
	})
	return m
}

// differences compares two tables.
func differences(got, want map[string]string) []string {
	var d []string
	for p, s := range want {
		if g, ok := got[p]; !ok {
			d = append(d, "missing "+p)
		} else if g != s {
			d = append(d, fmt.Sprintf("stale %s: %.20q, want %.20q", p, g, s))
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok {
			d = append(d, "left over "+p)
		}
	}
	slices.Sort(d)
	return d
}

// expect syncs and compares the consumer's table with a fresh walk.
func (c *consumer) expect(root string) {
	c.t.Helper()
	c.sync()
	if d := differences(c.table(), walkFiles(root)); len(d) > 0 {
		c.t.Fatalf("%d differences: %q\nstate %+v", len(d), d[:min(5, len(d))], c.w.State())
	}
}

// start makes a watcher with a cookie directory, and its consumer.
func start(t *testing.T, o Options, roots ...Root) (*Watcher, *consumer) {
	t.Helper()
	if o.CookieDir == "" {
		o.CookieDir = t.TempDir()
	}
	if o.Settle == 0 {
		o.Settle = 10 * time.Millisecond
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	c := consume(t, w)
	if err := w.SetRoots(roots); err != nil {
		t.Fatal(err)
	}
	return w, c
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}
