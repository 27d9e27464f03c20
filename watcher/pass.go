package watcher

import (
	"slices"
	"strings"
)

// job says how a name or a directory is to be reconciled.
type job struct {
	epoch uint64
	lane  lane
	event bool // something may have happened that the stamps do not show
	hint  bool // the name itself had an event
	deep  bool // all directories below, whether or not they are watched
	force bool // report what looks unchanged
	echo  bool // a file's other name had the event
	audit bool
	soft  bool // nothing is known to have happened: leave what came or went to its event

	passed passed // the filter has let the name pass already, if it is such a thing
}

// passed is what the filter was asked about.
type passed uint8

const (
	passedNothing passed = iota
	passedDir
	passedFile
)

// pass reconciles what settled. First all watches at or below each structurally
// changed path go: a directory that was moved would otherwise be found watched
// under its old name. Then, in path order, each path is looked at.
func (w *Watcher) pass(hints []*hint) {
	hints = w.withAliases(hints)
	slices.SortFunc(hints, func(a, b *hint) int { return strings.Compare(a.path, b.path) })
	for _, h := range hints {
		w.unwatchMoved(h)
	}
	w.holdChanges()
	for _, h := range hints {
		w.check(h)
	}
	w.seekLinks()
	w.mu.Lock()
	w.queue.release(len(w.rec.stack) == 0)
	for _, h := range hints {
		w.ledger.done(h.epoch)
	}
	w.mu.Unlock()
	notify(w.avail)
}

// unwatchMoved gives up the watches that a hint makes doubtful.
func (w *Watcher) unwatchMoved(h *hint) {
	if h.flags&(structural|listing) == 0 {
		return
	}
	r := rootOf(w.roots, h.path)
	if r == nil {
		return
	}
	n := r.find(h.path)
	switch {
	case n == nil:
	case h.flags&structural != 0:
		w.unwatchTree(n)
	default:
		for name, c := range n.dirs {
			if h.mayHaveMoved(name) {
				w.unwatchTree(c)
			}
		}
	}
}

// withAliases adds the hints that the other names of the same directories missed.
func (w *Watcher) withAliases(hints []*hint) []*hint {
	for _, h := range hints {
		r := rootOf(w.roots, h.path)
		if r == nil {
			continue
		}
		n, next := r.nearest(h.path)
		if n == nil {
			continue
		}
		if next == "" { // the directory itself
			hints = w.aliasHints(hints, h, n, "")
			n = n.parent
		}
		if n != nil && join(n.path, base(h.path)) == h.path {
			hints = w.aliasHints(hints, h, n, base(h.path))
		}
	}
	return hints
}

func (w *Watcher) aliasHints(hints []*hint, h *hint, n *node, name string) []*hint {
	if n.watch == nil || len(n.watch.names) < 2 {
		return hints
	}
	for _, m := range n.watch.names {
		if m == n {
			continue
		}
		a := *h
		if a.path = m.path; name != "" {
			a.path = join(m.path, name)
		}
		w.mu.Lock()
		w.ledger.add(a.epoch)
		w.mu.Unlock()
		hints = append(hints, &a)
	}
	return hints
}

// check reconciles one path.
func (w *Watcher) check(h *hint) {
	r := rootOf(w.roots, h.path)
	if r == nil {
		return
	}
	if h.path == r.Path && h.flags&listing == 0 {
		w.checkRoot(r, h.flags, h.epoch)
		if !r.suspended { // it may be readable no longer
			w.enqueue(r.top, job{epoch: h.epoch, lane: urgent})
		}
		return
	}
	if r.suspended || r.top == nil {
		w.remember(r, h)
		return
	}
	j := job{epoch: h.epoch, lane: urgent, event: true, hint: true,
		deep: h.flags&deep != 0, force: h.flags&force != 0, echo: h.flags&^echo == 0 && h.flags != 0}
	if h.flags&listing != 0 {
		w.stat.add(cListings, 1)
		if n := r.find(h.path); n != nil {
			w.enqueue(n, job{epoch: h.epoch, lane: urgent})
			return
		}
	}
	w.reloadFor(r, h)
	n, name := r.nearest(parentOf(h.path))
	if name == "" {
		name = h.path
	}
	// When the path's directory is not known, it is ignored, gone, or not
	// scanned yet: name is then where knowledge ends.
	if bad := w.broken(n); bad != nil {
		w.remember(r, h)
		w.suspect(bad, h.epoch)
		return
	}
	if c := w.place(n, name, j); c != nil {
		w.enqueue(c, j)
	}
}

// reloadFor tells the filter of an event, and scans what new rules apply to.
func (w *Watcher) reloadFor(r *rootState, h *hint) {
	if r.reload == nil || !r.reload.Reload(relTo(h.path, r.Path)) {
		return
	}
	n, _ := r.nearest(parentOf(h.path))
	w.enqueue(n, job{epoch: h.epoch, lane: urgent, deep: true})
}

// remember keeps what the stamps will not show of a hint that cannot be followed
// up now: the scan to come then reports the file, or everything, again.
func (w *Watcher) remember(r *rootState, h *hint) {
	if h.flags&force == 0 || r.top == nil {
		return
	}
	n := r.find(parentOf(h.path))
	if h.flags&deep != 0 || n == nil {
		r.top.force = true
		return
	}
	if e, ok := n.files[base(h.path)]; ok {
		e.racy = true
		n.files[base(h.path)] = e
	}
}
