package watcher

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	stormCount = flag.Int("watcher.storms", 4, "number of storms")
	stormSeed  = flag.Int64("watcher.seed", 1, "first storm's seed")
	stormOps   = flag.Int("watcher.ops", 1500, "operations in a storm")
)

// storm is a seeded source of file operations on a small name space, so that
// collisions are frequent.
type storm struct {
	root, outside string
	r             *rand.Rand
}

func (s *storm) name() string { return string(rune('a' + s.r.Intn(6))) }

func (s *storm) path() string {
	p := s.root
	for range 1 + s.r.Intn(4) {
		p += "/" + s.name()
	}
	return p
}

func (s *storm) content() string { return fmt.Sprint(s.r.Int63()) }

// step does one operation. Errors are part of the game.
func (s *storm) step() {
	switch p := s.path(); s.r.Intn(18) {
	case 0:
		os.MkdirAll(p, 0o755)
	case 1, 2, 3:
		os.WriteFile(p, []byte(s.content()), 0o644)
	case 4, 5:
		os.Rename(p, s.path())
	case 6:
		os.Remove(p)
	case 7:
		if s.r.Intn(3) == 0 {
			os.RemoveAll(p)
			os.MkdirAll(p, 0o755)
			os.WriteFile(p+"/"+s.name(), []byte(s.content()), 0o644)
		}
	case 8: // atomic save
		if os.WriteFile(p+".tmp", []byte(s.content()), 0o644) == nil {
			os.Rename(p+".tmp", p)
		}
	case 9:
		s.deep(p)
	case 10:
		os.Symlink(s.path(), p)
	case 11:
		os.Link(s.path(), p)
	case 12:
		exchange(p, s.path())
	case 13:
		s.append(p)
	case 14:
		os.Truncate(p, int64(s.r.Intn(8)))
	case 15: // out of the tree and into it
		out := s.outside + "/" + s.name()
		if s.r.Intn(2) == 0 {
			os.Rename(p, out)
		} else {
			os.Rename(out, p)
		}
	case 16:
		os.Chmod(p, 0)
		os.Chmod(p, 0o755)
	case 17: // a change of case, and back
		up := p[:len(p)-1] + strings.ToUpper(p[len(p)-1:])
		os.Rename(p, up)
		if s.r.Intn(2) == 0 {
			os.Rename(up, p)
		}
	}
}

// deep makes directories and writes into each at once.
func (s *storm) deep(p string) {
	for range 3 {
		if os.MkdirAll(p, 0o755) != nil {
			return
		}
		os.WriteFile(p+"/f", []byte(s.content()), 0o644)
		p += "/" + s.name()
	}
}

func (s *storm) append(p string) {
	f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	for range 5 {
		f.WriteString("x")
	}
}

// rage runs the storm with two writers and, at times, moves the root away and back.
func rage(root, outside string, seed int64, ops int) {
	r := rand.New(rand.NewSource(seed))
	var wg sync.WaitGroup
	for range 2 {
		s := &storm{root, outside, rand.New(rand.NewSource(r.Int63()))}
		wg.Go(func() {
			for range ops / 2 {
				s.step()
			}
		})
	}
	if r.Intn(2) == 0 {
		wg.Go(func() {
			time.Sleep(time.Duration(r.Intn(30)) * time.Millisecond)
			os.Rename(root, root+"-away")
			time.Sleep(time.Duration(r.Intn(5)) * time.Millisecond)
			os.RemoveAll(root) // a writer may have made it anew
			os.Rename(root+"-away", root)
		})
	}
	wg.Wait()
}

// probe writes a file in every directory.
func probe(t *testing.T, root, name string) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.WriteFile(filepath.Join(p, name), []byte(p), 0o644)
		}
		return err
	})
	must(t, err)
}

// TestStorms: after a storm and a Sync, the consumer's table is that of a fresh
// walk, every directory is watched under its right name, and no watch is left over.
func TestStorms(t *testing.T) {
	for i := range *stormCount {
		seed := *stormSeed + int64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { oneStorm(t, seed) })
	}
}

func oneStorm(t *testing.T, seed int64) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
	must(t, os.MkdirAll(root, 0o755))
	must(t, os.MkdirAll(outside, 0o755))
	var o Options
	if seed%3 == 0 {
		o.DirBurst, o.TreeBurst = 3, 16 // so that hints collapse
	}
	w, c := start(t, o, Root{Path: root})
	for round := range 2 {
		rage(root, outside, seed+int64(round)<<32, *stormOps/2)
		c.expect(root)
		probe(t, root, fmt.Sprintf("probe%d", round))
		c.expect(root)
		c.quiet()
		checkWatches(t, w, root)
	}
}

// checkWatches compares the kernel's watches, ours, and the directories there are.
func checkWatches(t *testing.T, w *Watcher, root string) {
	t.Helper()
	dirs := 0
	must(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs++
		}
		return err
	}))
	var ours, table int
	must(t, w.do(func() {
		ours = len(w.rec.watched)
		for _, r := range w.roots {
			r.top.walk(func(n *node) {
				table++
				checkNode(t, w, n)
			})
		}
	}))
	if ours != dirs || table != dirs {
		t.Fatalf("%d watches, %d directories in the table, %d on disk", ours, table, dirs)
	}
	if k, ok := kernelWatches(w); ok && k != ours+1 {
		t.Fatalf("the kernel has %d watches, we have %d and the cookies'", k, ours)
	}
}

func checkNode(t *testing.T, w *Watcher, n *node) {
	t.Helper()
	if n.watch == nil || w.rec.byID[n.id] != n.watch {
		t.Errorf("%s is not watched", n.path)
	}
	if f, err := lstat(n.path, n.parent == nil); err != nil || f.id != n.id {
		t.Errorf("%s is watched as %v, is %v (%v)", n.path, n.id, f.id, err)
	}
}
