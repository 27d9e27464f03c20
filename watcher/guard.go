package watcher

import (
	"os"
	"slices"
)

// guard watches the directories that hold the roots, so that a root that comes,
// goes or is replaced is looked at at once and not with the next check. It has an
// event queue of its own, for names that come and go alone: whatever else happens
// in such a directory, which may be a busy one, wakes nobody and cannot crowd out
// the events of the trees.
type guard struct {
	queue guardQueue // nil: none could be had, or the system has none
	dirs  map[string]bool
}

// guardQueue tells of names that come to some directories, or leave them.
type guardQueue interface {
	add(dir string) error
	// clear gives all directories up: one that was moved would go on under its
	// old name.
	clear()
	// run calls seen with the path of each such name, and with "" when some may
	// have been lost, until close.
	run(seen func(path string))
	close()
}

// guardRoots sees to it that the nearest directory above each root that is there
// is watched, and no other. doubt says that any root may have gone since the last
// check.
func (w *Watcher) guardRoots(doubt bool) {
	g := &w.rec.guard
	want, paths := map[string]bool{}, make([]string, 0, len(w.roots))
	for path, r := range w.roots {
		paths = append(paths, path)
		if dir := nearestDir(path, doubt || r.suspended); dir != "" {
			want[dir] = true
		}
	}
	w.guarded.Store(&paths)
	if w.o.noGuard || g.queue == nil && (len(want) == 0 || !w.openGuard()) {
		return
	}
	for dir := range g.dirs {
		if !want[dir] {
			w.unguard()
			break
		}
	}
	for dir := range want {
		if !g.dirs[dir] && g.queue.add(dir) == nil {
			g.dirs[dir] = true
		}
	}
}

// nearestDir is the directory that holds a root or, where that may be missing,
// the nearest one above that is there.
func nearestDir(path string, missing bool) string {
	dir := parentOf(path)
	for missing && dir != "" {
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			break
		}
		dir = parentOf(dir)
	}
	return dir
}

// openGuard makes the guard's queue.
func (w *Watcher) openGuard() bool {
	q, err := newGuardQueue()
	if err != nil {
		return false // the checks go on, and it is tried again
	}
	w.rec.guard = guard{q, map[string]bool{}}
	w.readers.Go(func() { q.run(w.sawName) }) // ended by q.close
	return true
}

func (w *Watcher) unguard() {
	w.rec.guard.queue.clear()
	clear(w.rec.guard.dirs)
}

func (w *Watcher) closeGuard() {
	if q := w.rec.guard.queue; q != nil {
		q.close()
	}
}

// sawName has the roots checked when one, or what lies above one, came or went.
func (w *Watcher) sawName(path string) {
	roots := w.guarded.Load()
	if path == "" || slices.ContainsFunc(*roots, func(root string) bool { return under(root, path) }) {
		w.doubt.Store(true)
		w.kick()
	}
}

// doubted checks the roots if something happened to one, or above one.
func (w *Watcher) doubted() {
	if !w.doubt.Swap(false) {
		return
	}
	w.unguard()
	w.guardRoots(true)
	w.checkRoots(newEpoch)
}
