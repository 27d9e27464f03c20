package watcher

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
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
	n.deep, n.force, n.list = n.deep || j.deep, n.force || j.force, n.list || j.list
	if push {
		w.rec.stack = append(w.rec.stack, n)
	}
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
	j := job{epoch: n.epoch, lane: n.lane, deep: n.deep, force: n.force, list: n.list, soft: n.soft}
	j.event = !j.soft // whose hint it was may be lost with a watch given up
	n.queued = false
	if !n.dropped && !n.root.suspended { // what is asked of a suspended root stays asked
		n.deep, n.force, n.list = false, false, false
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
		w.suspect(n, j.epoch)
		return
	}
	if !w.watchDir(n, j.epoch) {
		return
	}
	if bad := w.broken(n); bad != nil {
		w.unwatch(n)
		w.suspect(bad, j.epoch)
		return
	}
	n.ctime = f.ctime
	if f.racy(time.Now(), w.o.Granularity) {
		n.ctime = 0
	}
	entries, err := os.ReadDir(n.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.suspect(n, j.epoch)
	case errors.Is(err, fs.ErrPermission):
		w.deny(n, err, j)
	case err != nil:
		w.stat.add(cErrors, 1)
		w.alarm(n.path, w.o.Retry)
	default:
		if n.watch == nil && n.root.Poll == 0 && n.polled == "" {
			w.poll(n, fs.ErrPermission)
		}
		n.blocked = false
		w.children(n, entries, j)
		if !n.blocked {
			w.allow(n, j)
		}
	}
}

// children reconciles a directory's names with its listing.
func (w *Watcher) children(n *node, entries []fs.DirEntry, j job) {
	if w.reloadListed(n, entries) {
		j.deep = true
	}
	var down []*node
	for _, e := range entries {
		if n.dropped || n.blocked {
			return
		}
		if !w.wants(n, e) {
			w.drop(n, e.Name(), j)
		} else if j.soft && n.watch != nil && !n.has(e.Name()) {
			w.hint(join(n.path, e.Name()), 0, j.epoch)
		} else if c := w.place(n, e.Name(), j); c != nil {
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

// wants asks the filter about an entry by its type alone, which spares a look at
// what is ignored.
func (w *Watcher) wants(n *node, e fs.DirEntry) bool {
	r := n.root
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return r.FollowSymlinks
	case r.Filter == nil:
		return true
	case e.IsDir():
		return r.Filter.Dir(n.rel(e.Name()))
	}
	return r.Filter.File(n.rel(e.Name()))
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
func (w *Watcher) reloadListed(n *node, entries []fs.DirEntry) bool {
	r := n.root.reload
	if r == nil {
		return false
	}
	changed := false
	tell := func(name string) {
		if r.Reload(n.rel(name)) {
			changed = true
		}
	}
	for _, name := range n.dots {
		if !listed(entries, name) {
			tell(name)
		}
	}
	n.dots = nil
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		tell(e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			n.dots = append(n.dots, e.Name())
		}
	}
	return changed
}

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

// place makes the table true for one name of a directory. It returns the directory
// of that name if that must be scanned.
func (w *Watcher) place(n *node, name string, j job) *node {
	r, path := n.root, join(n.path, name)
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
		return w.placeDir(n, name, f, j)
	case f.mode&fs.ModeSymlink != 0, r.Filter != nil && !r.Filter.File(n.rel(name)):
		w.drop(n, name, j)
	default:
		if c := n.dirs[name]; c != nil {
			w.dropDir(c, j)
		}
		w.placeFile(n, name, f, j)
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
	default:
		w.stat.add(cErrors, 1)
		w.alarm(n.path, w.o.Retry)
		if c := n.dirs[name]; c != nil {
			w.dropDir(c, j)
		}
		w.record(n, name, entry{reason: err.Error()}, j)
	}
}

// placeDir makes a directory known under its name.
func (w *Watcher) placeDir(n *node, name string, f found, j job) *node {
	r, path := n.root, join(n.path, name)
	if w.rec.excluded[f.id] || r.Filter != nil && !r.Filter.Dir(n.rel(name)) {
		w.drop(n, name, j)
		return nil
	}
	if _, ok := n.files[name]; ok {
		w.dropFile(n, name, j)
	}
	c := n.dirs[name]
	switch {
	case c == nil:
		c = newNode(r, n, path, f)
		if !w.claim(c, j) {
			return nil
		}
		n.dirs[name] = c
		r.dirs.Add(1)
	case c.id != f.id || c.link != f.link:
		w.unwatchTree(c)
		w.disown(c, j)
		if c.id, c.link = f.id, f.link; !w.claim(c, j) {
			w.dropDir(c, j)
			return nil
		}
	case j.list && (c.ctime == 0 || c.ctime != f.ctime):
		// It may have been moved, or away and back, and the hint that
		// said so is lost.
		w.unwatchTree(c)
	}
	if j.hint || j.deep || j.force || c.watch == nil && c.polled == "" && r.Poll == 0 {
		return c
	}
	return nil
}

// placeFile compares a file with what was last reported of it.
func (w *Watcher) placeFile(n *node, name string, f found, j job) {
	now := time.Now()
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
	} else if j.audit && !w.hinted(join(n.path, name)) {
		w.stat.add(cAuditFound, 1)
	}
	w.linked(n, join(n.path, name), f, j)
	if e.racy {
		w.alarm(n.path, f.tick(w.o.Granularity))
	}
	w.record(n, name, e, j)
}

// record keeps and reports an entry.
func (w *Watcher) record(n *node, name string, e entry, j job) {
	old, known := n.files[name]
	n.files[name] = e
	switch {
	case !known:
		n.root.files.Add(1)
	case old.id != e.id:
		w.unlinked(join(n.path, name), old.id, j.epoch)
	}
	c := Change{Op: Write, Path: join(n.path, name), Root: n.root.Path, Info: e.info()}
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
