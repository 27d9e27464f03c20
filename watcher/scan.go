package watcher

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// enqueue has a directory scanned. Directories found first by a job are scanned
// first, so that a scan of a large tree does not keep a small one waiting.
func (w *Watcher) enqueue(n *node, j job) {
	w.mu.Lock()
	push := true
	if n.queued {
		n.epoch = w.ledger.move(n.epoch, j.epoch)
		n.soft = n.soft && j.soft
		push = j.lane < n.lane
		n.lane = min(n.lane, j.lane)
	} else {
		w.ledger.add(j.epoch)
		n.queued, n.epoch, n.lane, n.soft = true, j.epoch, j.lane, j.soft
		n.root.queued.Add(1)
	}
	w.mu.Unlock()
	n.ask(j)
	if push {
		w.rec.stack = append(w.rec.stack, n)
	}
}

// ask notes what a scan of the directory is to do more than the usual.
func (n *node) ask(j job) {
	n.deep, n.force = n.deep || j.deep, n.force || j.force
}

// postpone leaves a scan to the one that will follow when a directory on the way
// has been looked at.
func (w *Watcher) postpone(n, bad *node, j job) {
	n.ask(j)
	w.suspect(bad, j.epoch)
}

// step scans the next directory and reports whether there was one.
func (w *Watcher) step() bool {
	for len(w.rec.stack) > 0 {
		last := len(w.rec.stack) - 1
		n := w.rec.stack[last]
		w.rec.stack[last] = nil
		w.rec.stack = w.rec.stack[:last]
		if n.queued {
			w.scanQueued(n)
			return true
		}
	}
	return false
}

func (w *Watcher) scanQueued(n *node) {
	j := job{epoch: n.epoch, lane: n.lane, deep: n.deep, force: n.force, soft: n.soft}
	j.event = !j.soft // whose hint it was may be lost with a watch given up
	n.queued = false
	if !n.dropped && !n.root.suspended { // what is asked of a suspended root stays asked
		n.deep, n.force = false, false
		w.holdChanges()
		w.scanDir(n, j)
	}
	if n.root.queued.Add(-1) == 0 {
		n.root.scanning.Store(false)
	}
	if len(w.rec.stack) == 0 || len(w.rec.links.seek) >= seekBatch {
		w.seekLinks()
	}
	w.mu.Lock()
	w.queue.release(false)
	w.ledger.done(j.epoch)
	w.mu.Unlock()
	notify(w.avail)
}

// holdChanges keeps changes back until release, so that the halves of a rename
// come together.
func (w *Watcher) holdChanges() {
	w.mu.Lock()
	w.queue.hold = true
	w.mu.Unlock()
}

// scanDir makes the table of one directory true: it is watched first and listed
// then, so that nothing that appears in between is missed.
func (w *Watcher) scanDir(n *node, j job) {
	w.stat.add(cScanned, 1)
	f, err := lstat(n.path, n.link || n.parent == nil)
	if err != nil || !f.mode.IsDir() || f.id != n.id {
		w.postpone(n, n, j)
		return
	}
	if !w.watchDir(n, j.epoch) {
		n.ask(j)
		return
	}
	if bad := w.broken(n); bad != nil {
		w.unwatch(n)
		w.postpone(n, bad, j)
		return
	}
	entries, err := w.o.readDir(n.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.postpone(n, n, j)
	case errors.Is(err, fs.ErrPermission):
		w.deny(n, err, j)
	case exhausted(err):
		w.later(n, j)
	case err != nil:
		w.stat.add(cErrors, 1)
		w.alarm(n.path, w.o.Retry)
	default:
		if n.watch == nil && n.root.Poll <= 0 && n.polled == "" {
			w.poll(n, watchReason(fs.ErrPermission))
		}
		n.blocked, n.wait = false, 0
		w.children(n, entries, j)
		if !n.blocked {
			w.allow(n, j)
		}
	}
}

// children reconciles a directory's names with its listing.
func (w *Watcher) children(n *node, entries []fs.DirEntry, j job) {
	paths := pathsOf(n, entries)
	if w.reloadListed(n, entries, paths) {
		j.deep = true
	}
	if l := n.root.lister; l != nil {
		l.Listed(n.root.rel(n.path), func(name string) bool { return listed(entries, name) })
	}
	var down []*node
	for i, e := range entries {
		if n.dropped || n.blocked {
			return
		}
		if !w.wants(n.root, paths[i], e) {
			w.drop(n, e.Name(), j)
		} else if j.soft && n.watch != nil && !n.has(e.Name()) {
			w.hint(paths[i], 0, j.epoch)
		} else if c := w.place(n, paths[i], j.asked(e)); c != nil {
			down = append(down, c)
		}
	}
	w.dropUnlisted(n, entries, j)
	for _, c := range slices.Backward(down) { // the first comes off the stack first
		if !c.dropped {
			w.enqueue(c, j)
		}
	}
}

// pathsOf are the paths of a directory's entries. Each is made once: a scan of a
// large tree is mostly made of them.
func pathsOf(n *node, entries []fs.DirEntry) []string {
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = join(n.path, e.Name())
	}
	return paths
}

// asked is the job for an entry that the filter has just let pass by its type.
func (j job) asked(e fs.DirEntry) job {
	switch {
	case e.IsDir():
		j.passed = passedDir
	case e.Type()&fs.ModeSymlink == 0:
		j.passed = passedFile
	}
	return j
}

// wants asks the filter about an entry by its type alone, which spares a look at
// what is ignored.
func (w *Watcher) wants(r *rootState, path string, e fs.DirEntry) bool {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return r.FollowSymlinks
	case r.Filter == nil:
		return true
	case e.IsDir():
		return r.Filter.Dir(r.rel(path))
	}
	return r.Filter.File(r.rel(path))
}

// listed reports whether a listing, which is sorted, has the name.
func listed(entries []fs.DirEntry, name string) bool {
	_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, s string) int {
		return strings.Compare(e.Name(), s)
	})
	return ok
}

// dropUnlisted removes what the directory no longer holds, after making sure that
// it is still the directory it was: an unmounted tree has not lost its files.
func (w *Watcher) dropUnlisted(n *node, entries []fs.DirEntry, j job) {
	var gone []string
	for name := range n.files {
		if !listed(entries, name) {
			gone = append(gone, name)
		}
	}
	for name := range n.dirs {
		if !listed(entries, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return
	}
	if bad := w.broken(n); bad != nil {
		w.suspect(bad, j.epoch)
		return
	}
	for _, name := range gone {
		w.lose(n, name, j)
	}
}

// lose removes what a look at the directory found gone. A soft job leaves it, and
// what is new, to the event, with which comes the other half of a rename.
func (w *Watcher) lose(n *node, name string, j job) {
	if j.soft && n.watch != nil {
		w.hint(join(n.path, name), 0, j.epoch)
		return
	}
	w.drop(n, name, j)
}

// reloadListed tells the filter of the files that a scan lists, and of those that
// were listed before, and reports whether rules have changed.
func (w *Watcher) reloadListed(n *node, entries []fs.DirEntry, paths []string) bool {
	r := n.root.reload
	if r == nil {
		return false
	}
	changed := false
	tell := func(path string) {
		if r.Reload(n.root.rel(path)) {
			changed = true
		}
	}
	for _, name := range n.dots {
		if !listed(entries, name) {
			tell(join(n.path, name))
		}
	}
	n.dots = nil
	for i, e := range entries {
		if e.IsDir() {
			continue
		}
		tell(paths[i])
		if strings.HasPrefix(e.Name(), ".") {
			n.dots = append(n.dots, e.Name())
		}
	}
	return changed
}
