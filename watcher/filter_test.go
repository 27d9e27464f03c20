package watcher

import (
	"fmt"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ruled is a filter with rule files: a name in a directory's .rules is ignored in
// it and below. It loads them when asked, as a real one does.
type ruled struct {
	root  string
	mu    sync.Mutex
	rules map[string][]string // by directory
}

func (f *ruled) load(dir string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rules == nil {
		f.rules = map[string][]string{}
	}
	r, ok := f.rules[dir]
	if !ok {
		b, _ := os.ReadFile(filepath.Join(f.root, dir, ".rules"))
		r = strings.Fields(string(b))
		f.rules[dir] = r
	}
	return r
}

func (f *ruled) Dir(rel string) bool { return f.File(rel) }

func (f *ruled) File(rel string) bool {
	name := path.Base(rel)
	if strings.HasPrefix(name, ".") {
		return false
	}
	for dir := path.Dir(rel); ; dir = path.Dir(dir) {
		if slices.Contains(f.load(dir), name) {
			return false
		}
		if dir == "." {
			return true
		}
	}
}

func (f *ruled) Reload(rel string) bool {
	if path.Base(rel) != ".rules" {
		return false
	}
	dir := path.Dir(rel)
	f.mu.Lock()
	old, ok := f.rules[dir]
	delete(f.rules, dir)
	f.mu.Unlock()
	return ok && !slices.Equal(old, f.load(dir))
}

// filtered is the truth under a filter.
func filtered(dir, root string, f *ruled, into map[string]string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		switch {
		case !f.File(relTo(p, root)):
		case e.IsDir():
			filtered(p, root, f, into)
		default:
			b, _ := os.ReadFile(p)
			into[p] = string(b)
		}
	}
}

// TestFilter: rules that change take effect both ways, and what is ignored is not watched.
func TestFilter(t *testing.T) {
	root := t.TempDir()
	w, c := start(t, Options{}, Root{Path: root, Filter: &ruled{root: root}})
	expect := func(what string) {
		t.Helper()
		c.sync()
		want := map[string]string{}
		filtered(root, root, &ruled{root: root}, want)
		if d := differences(c.table(), want); len(d) > 0 {
			t.Fatalf("%s: %q", what, d)
		}
	}
	r := rand.New(rand.NewSource(1))
	s := &storm{root: root, outside: t.TempDir(), r: r}
	for i := range 80 {
		what := fmt.Sprint("round ", i)
		for range r.Intn(4) {
			s.deep(s.path())
		}
		switch dir := filepath.Dir(s.path()); r.Intn(4) {
		case 0:
			os.Remove(dir + "/.rules")
		case 1:
			os.Rename(dir, s.path())
		default:
			os.WriteFile(dir+"/.rules", []byte(s.name()+" "+s.name()), 0o644)
		}
		expect(what)
	}
	dirs := map[string]bool{}
	must(t, w.do(func() {
		for x := range w.rec.watched {
			dirs[x.names[0].path] = true
		}
	}))
	f := &ruled{root: root}
	for d := range dirs {
		if d != root && !f.Dir(relTo(d, root)) {
			t.Errorf("%s is ignored, but watched", d)
		}
	}
	must(t, w.SetRoots([]Root{{Path: root}}))
	c.expect(root)
	must(t, w.SetRoots([]Root{{Path: root, Filter: &ruled{root: root}}}))
	expect("filtered again")
}
