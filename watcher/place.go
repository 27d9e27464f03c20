package watcher

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// foreign reports whether a path is left out of its root's tree: it is excluded,
// or a root of its own.
func (w *Watcher) foreign(path string) bool {
	if w.roots[path] != nil {
		return true
	}
	for _, x := range w.o.Exclude {
		if path == x {
			return true
		}
	}
	return false
}

// place makes the table true for one path in a directory. It returns the directory
// of that name if that must be scanned.
func (w *Watcher) place(n *node, path string, j job) *node {
	r, name := n.root, base(path)
	if w.foreign(path) {
		w.drop(n, name, j)
		return nil
	}
	f, err := lstat(path, r.FollowSymlinks)
	r.noteLink(path, f.link)
	switch {
	case err != nil:
		w.missing(n, name, f, err, j)
	case f.mode.IsDir():
		return w.placeDir(n, path, f, j)
	case f.mode&fs.ModeSymlink != 0, j.passed != passedFile && r.Filter != nil && !r.Filter.File(r.rel(path)):
		w.drop(n, name, j)
	default:
		if c := n.dirs[name]; c != nil {
			w.dropDir(c, j)
		}
		w.placeFile(n, path, f, j)
	}
	return nil
}

// missing deals with a name that cannot be looked at.
func (w *Watcher) missing(n *node, name string, f found, err error, j job) {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), f.link:
		if bad := w.broken(n); bad != nil {
			w.suspect(bad, j.epoch)
			return
		}
		w.lose(n, name, j)
	case errors.Is(err, fs.ErrPermission):
		w.deny(n, err, j)
	case n.root.Filter != nil && !n.root.Filter.File(n.rel(name)):
		w.drop(n, name, j)
	default:
		w.stat.add(cErrors, 1)
		w.alarm(n.path, w.o.Retry)
		if c := n.dirs[name]; c != nil {
			w.dropDir(c, j)
		}
		w.record(n, join(n.path, name), entry{reason: err.Error()}, j)
	}
}

// placeDir makes a directory known under its name.
func (w *Watcher) placeDir(n *node, path string, f found, j job) *node {
	r, name := n.root, base(path)
	if w.rec.excluded[f.id] || j.passed != passedDir && r.Filter != nil && !r.Filter.Dir(r.rel(path)) {
		w.drop(n, name, j)
		return nil
	}
	if _, ok := n.files[name]; ok {
		w.dropFile(n, name, j)
	}
	c := n.dirs[name]
	switch {
	case c == nil:
		c = w.newNode(r, n, path, f)
		if !w.claim(c, j) {
			return nil
		}
		if n.dirs == nil {
			n.dirs = map[string]*node{}
		}
		n.dirs[name] = c
		r.dirs.Add(1)
	case c.id != f.id || c.link != f.link:
		w.unwatchTree(c)
		w.disown(c, j)
		c.id, c.link = f.id, f.link
		c.remote = w.remoteKind(c)
		if !w.claim(c, j) {
			w.dropDir(c, j)
			return nil
		}
	}
	if j.hint || j.deep || j.force || c.watch == nil && c.polled == "" && r.Poll <= 0 {
		return c
	}
	return nil
}

// placeFile compares a file with what was last reported of it.
func (w *Watcher) placeFile(n *node, path string, f found, j job) {
	now, name := time.Now(), base(path)
	e := entry{stamp: f.stamp, reason: skipReason(f, n.root.MaxFileSize)}
	e.racy = e.reason == "" && f.racy(now, w.o.Granularity)
	old, known := n.files[name]
	if known && old.stamp == e.stamp && old.reason == e.reason && !j.force {
		// The same. But a racy file may have changed without a trace: with
		// an event it is reported at once, otherwise once it can be trusted.
		if !old.racy || e.racy && !j.event {
			return
		}
		w.stat.add(cRacy, 1)
	} else if j.audit && !w.hinted(path) {
		w.stat.add(cAuditFound, 1)
	}
	w.linked(n, path, f, j)
	if e.racy {
		w.alarm(n.path, f.tick(w.o.Granularity))
	}
	w.record(n, path, e, j)
}

// record keeps and reports an entry.
func (w *Watcher) record(n *node, path string, e entry, j job) {
	name := base(path)
	old, known := n.files[name]
	if n.files == nil {
		n.files = map[string]entry{}
	}
	n.files[name] = e
	switch {
	case !known:
		n.root.files.Add(1)
	case old.id != e.id:
		w.unlinked(path, old.id, j.epoch)
	}
	c := Change{Op: Write, Path: path, Root: n.root.Path, Info: e.info()}
	if e.reason != "" {
		if known && old.reason == e.reason && !j.force {
			return
		}
		c.Op, c.Reason = Skip, e.reason
	}
	w.report(c, j)
}

// drop removes what is known under a name.
func (w *Watcher) drop(n *node, name string, j job) {
	if _, ok := n.files[name]; ok {
		w.dropFile(n, name, j)
	}
	if c := n.dirs[name]; c != nil {
		w.dropDir(c, j)
	}
}

func (w *Watcher) dropFile(n *node, name string, j job) {
	e, path := n.files[name], join(n.path, name)
	delete(n.files, name)
	w.unlinked(path, e.id, j.epoch)
	n.root.files.Add(-1)
	if j.audit && !w.hinted(path) {
		w.stat.add(cAuditFound, 1)
	}
	w.report(Change{Op: Remove, Path: path, Root: n.root.Path, Info: e.info()}, j)
}

// dropDir removes a directory and all below it.
func (w *Watcher) dropDir(c *node, j job) {
	w.dropContents(c, j)
	w.unwatch(c)
	w.allow(c, j)
	c.dropped = true
	w.disown(c, j)
	if c.parent != nil {
		delete(c.parent.dirs, base(c.path))
	}
	c.root.dirs.Add(-1)
}

func (w *Watcher) dropContents(n *node, j job) {
	if r := n.root.reload; r != nil {
		for _, name := range n.dots { // rules that do not hold for what comes here next
			r.Reload(n.rel(name))
		}
		n.dots = nil
	}
	for name := range n.files {
		w.dropFile(n, name, j)
	}
	for _, c := range n.dirs {
		w.dropDir(c, j)
	}
}

// deny deals with a directory that may not be read: what it held is out of the
// index, as it would be in a fresh one. A root is suspended instead.
func (w *Watcher) deny(n *node, err error, j job) {
	n.blocked = true
	w.alarm(n.path, w.o.Retry)
	if n.parent == nil {
		w.suspend(n.root, err.Error())
		return
	}
	w.dropContents(n, j)
	if n.denied && !j.force {
		return
	}
	n.denied = true
	w.stat.add(cUnreadable, 1)
	w.report(Change{Op: Skip, Path: n.path, Root: n.root.Path, Reason: "cannot be read: " + err.Error()}, j)
}

// allow ends that.
func (w *Watcher) allow(n *node, j job) {
	if n.denied {
		n.denied = false
		w.report(Change{Op: Remove, Path: n.path, Root: n.root.Path}, j)
	}
}

// report puts a change in the queue.
func (w *Watcher) report(c Change, j job) {
	w.mu.Lock()
	w.queue.put(c, j.epoch, j.lane)
	w.mu.Unlock()
	if c.Op != Remove {
		notify(w.avail)
	} else if w.rec.releaseAt.IsZero() {
		w.rec.releaseAt = time.Now().Add(holdRemoves)
	}
}

func (w *Watcher) hinted(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settler.has(path)
}
