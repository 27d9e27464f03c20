package watcher

import (
	"os"
	"runtime"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// guard watches the directories that hold the roots, so that a root that comes,
// goes or is replaced is looked at at once and not with the next check. It has
// an event queue of its own: whatever else happens in such a directory, which may
// be a busy one, is passed over and cannot crowd out the events of the trees.
type guard struct {
	src  source
	dirs map[string]bool
	none bool // the system gives no such queue, or events cost a handle for each file
}

// guardRoots sees to it that the nearest directory above each root that is there
// is watched.
func (w *Watcher) guardRoots() {
	g := &w.rec.guard
	if g.none || !w.openGuard() {
		return
	}
	paths := make([]string, 0, len(w.roots))
	want := map[string]bool{}
	for path, r := range w.roots {
		paths = append(paths, path)
		if dir := nearestDir(path, r.suspended); dir != "" {
			want[dir] = true
		}
	}
	w.guarded.Store(&paths)
	for dir := range g.dirs {
		if !want[dir] {
			_ = g.src.Remove(dir)
			delete(g.dirs, dir)
		}
	}
	for dir := range want {
		if !g.dirs[dir] && g.src.Add(dir) == nil {
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

// openGuard makes the guard's queue with the first root.
func (w *Watcher) openGuard() bool {
	g := &w.rec.guard
	if g.src != nil || len(w.roots) == 0 {
		return g.src != nil
	}
	if runtime.GOOS != "linux" || w.o.noGuard {
		g.none = true
		return false
	}
	src, err := newFsnotify()
	if err != nil {
		return false // the checks go on, and it is tried again
	}
	g.src, g.dirs = src, map[string]bool{}
	w.readers.Add(1)
	go w.readGuard(src) // ended by src.Close
	return true
}

func (w *Watcher) closeGuard() {
	if w.rec.guard.src != nil {
		_ = w.rec.guard.src.Close()
	}
}

// readGuard drains the guard's queue until it is closed.
func (w *Watcher) readGuard(s source) {
	defer w.readers.Done()
	events, errs := s.Events(), s.Errors()
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if w.guards(e) {
				w.doubtRoots()
			}
		case _, ok := <-errs:
			if !ok {
				errs = nil
			} else {
				w.doubtRoots()
			}
		}
	}
}

// guards reports whether an event is about a root or what lies above one.
func (w *Watcher) guards(e fsnotify.Event) bool {
	if e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename|fsnotify.Chmod) == 0 {
		return false
	}
	roots := w.guarded.Load()
	return roots != nil && slices.ContainsFunc(*roots, func(root string) bool { return under(root, e.Name) })
}

// doubtRoots has the roots checked.
func (w *Watcher) doubtRoots() {
	w.doubt.Store(true)
	w.kick()
}

// doubted checks the roots if something happened to one, or above one.
func (w *Watcher) doubted() {
	if !w.doubt.Swap(false) {
		return
	}
	g := &w.rec.guard
	for dir := range g.dirs { // one that was moved would go on under its old name
		_ = g.src.Remove(dir)
		delete(g.dirs, dir)
	}
	w.guardRoots()
	w.checkRoots(newEpoch)
}
