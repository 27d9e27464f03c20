package watcher

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// followWalk is the truth where links are followed: each directory under the first
// of its names in the order of a walk.
func followWalk(dir string, seen map[ident]bool, into map[string]string) {
	f, err := lstat(dir, true)
	if err != nil || seen[f.id] {
		return
	}
	seen[f.id] = true
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		f, err := lstat(p, true)
		switch {
		case err != nil:
		case f.mode.IsDir():
			followWalk(p, seen, into)
		case f.mode.IsRegular():
			b, _ := os.ReadFile(p)
			into[p] = string(b)
		}
	}
}

func (c *consumer) expectFollowed(root string) {
	c.t.Helper()
	c.sync()
	want := map[string]string{}
	followWalk(root, map[ident]bool{}, want)
	if d := differences(c.table(), want); len(d) > 0 {
		c.t.Fatalf("%d differences: %q", len(d), d[:min(8, len(d))])
	}
}

// TestFollow: loops end, a directory is walked once, links may change.
func TestFollow(t *testing.T) {
	base := t.TempDir()
	root, out := base+"/root", base+"/out"
	write(t, root+"/m/f", "1")
	write(t, out+"/g", "2")
	write(t, out+"/deep/h", "3")
	must(t, os.Symlink("..", root+"/m/loop"))
	must(t, os.Symlink(out, root+"/z"))
	must(t, os.Symlink(root+"/m", out+"/back"))
	must(t, os.Symlink(out+"/g", root+"/file"))
	must(t, os.Symlink(out+"/none", root+"/dangling"))
	_, c := start(t, Options{}, Root{Path: root, FollowSymlinks: true})
	step := func(f func()) {
		t.Helper()
		f()
		c.expectFollowed(root)
	}
	step(func() {})
	step(func() { write(t, out+"/g", "changed") })
	step(func() { write(t, out+"/deep/new/f", "x") })
	step(func() { write(t, out+"/none", "now there") })
	step(func() { must(t, os.Symlink(out, root+"/a")) }) // comes before z
	step(func() { write(t, out+"/deep/h", "after") })
	step(func() { must(t, os.Remove(root+"/a")) })
	step(func() { write(t, out+"/deep/h", "back") })
	step(func() { must(t, os.Rename(out+"/deep", out+"/moved")) })
	step(func() { must(t, os.Remove(root+"/z")) })
	step(func() { must(t, os.Remove(out+"/none")) })
}

// TestFollowStorm: whatever links come and go, the table is that of a fresh walk.
func TestFollowStorm(t *testing.T) {
	for seed := range int64(max(2, *stormCount/3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			base := t.TempDir()
			root, outside := base+"/root", base+"/outside"
			must(t, os.Mkdir(root, 0o755))
			must(t, os.Mkdir(outside, 0o755))
			r := rand.New(rand.NewSource(seed))
			_, c := start(t, Options{Settle: 5 * time.Millisecond}, Root{Path: root, FollowSymlinks: true})
			for range 4 {
				s := &storm{root, outside, r}
				for range 40 {
					s.step()
					if r.Intn(3) == 0 {
						os.Symlink(s.path(), s.path())
					}
				}
				c.expectFollowed(root)
			}
		})
	}
}

// TestAliasedRoots: two roots that are one directory both hear of its changes.
func TestAliasedRoots(t *testing.T) {
	base := t.TempDir()
	write(t, base+"/real/d/f", "1")
	must(t, os.Symlink(base+"/real", base+"/alias"))
	w, c := start(t, Options{}, Root{Path: base + "/real"}, Root{Path: base + "/alias"})
	both := func(rel, want string) {
		t.Helper()
		c.sync()
		for _, r := range []string{"/real", "/alias"} {
			if got := c.table()[base+r+rel]; got != want {
				t.Errorf("%s%s: %q, want %q", r, rel, got, want)
			}
		}
	}
	both("/d/f", "1")
	write(t, base+"/real/d/f", "22")
	both("/d/f", "22")
	write(t, base+"/alias/d/e/g", "3")
	both("/d/e/g", "3")
	write(t, base+"/alias/d/e/g", "44")
	both("/d/e/g", "44")
	must(t, w.SetRoots([]Root{{Path: base + "/alias"}}))
	write(t, base+"/real/d/f", "333")
	c.sync()
	write(t, base+"/real/d/e/g", "555")
	c.sync()
	if tab := c.table(); len(tab) != 2 || tab[base+"/alias/d/f"] != "333" || tab[base+"/alias/d/e/g"] != "555" {
		t.Errorf("with the alias alone: %v", tab)
	}
}
