package watcher

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"syscall"
)

// watch is one directory's watch in the kernel, which knows a directory by its
// identity and reports all events under the name first added. A directory that has
// several names (bind mounts, links followed from different roots) has one watch.
type watch struct {
	names []*node // the first one was added
}

// watchDir sees to it that the directory is watched, or polled where that cannot
// be. It reports whether the directory is still there to be read.
func (w *Watcher) watchDir(n *node, epoch uint64) bool {
	if n.watch != nil || n.root.Poll > 0 {
		return true
	}
	if n.remote != "" {
		w.poll(n, remoteReason(n.remote))
		return true
	}
	if o := w.rec.byID[n.id]; o != nil {
		first := o.names[0]
		if w.broken(first) == nil {
			o.names = append(o.names, n)
			n.watch = o
			w.unpoll(n)
			w.stat.add(cAliases, 1)
			return true
		}
		w.unwatchTree(first)
		w.hint(first.path, structural, epoch)
	}
	switch err := w.rec.src.Add(n.path); {
	case err == nil:
		w.unpoll(n)
		n.watch = &watch{names: []*node{n}}
		w.rec.watched[n.watch] = n.id
		w.watches.Store(int64(len(w.rec.watched)))
		if n.id.ino != 0 {
			w.rec.byID[n.id] = n.watch
		}
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		w.hint(n.path, structural, epoch)
		return false
	case errors.Is(err, fs.ErrPermission): // it will not be read either
	default:
		w.poll(n, watchReason(err))
	}
	return true
}

// unwatch gives a directory's watch up. Its other names must be scanned anew.
func (w *Watcher) unwatch(n *node) {
	w.unpoll(n)
	o := n.watch
	if o == nil {
		return
	}
	n.watch = nil
	if o.names[0] != n {
		o.names = slices.DeleteFunc(o.names, func(m *node) bool { return m == n })
		return
	}
	// An error means that the kernel disposed of the watch first.
	_ = w.rec.src.Remove(n.path)
	id := w.rec.watched[o]
	delete(w.rec.watched, o)
	w.watches.Store(int64(len(w.rec.watched)))
	if w.rec.byID[id] == o {
		delete(w.rec.byID, id)
	}
	for _, m := range o.names[1:] {
		m.watch = nil
		w.hint(m.path, structural, newEpoch)
	}
}

// unwatchTree gives up the watches at and below a directory whose name may stand
// for something else now: they would go on reporting the old names.
func (w *Watcher) unwatchTree(n *node) { n.walk(w.unwatch) }

// deepTree is the depth from which on the way to a directory is walked name by
// name: the system's own walk to each of the directories on it costs the square.
const deepTree = 16

// broken returns the topmost directory on the way to n, n included, that is no
// longer the one known under its name (or is a link now), or nil.
func (w *Watcher) broken(n *node) *node {
	if chain := n.chain(); len(chain) > deepTree {
		if bad, ok := brokenWalk(chain); ok {
			return bad
		}
	}
	var bad *node
	for a := n; a != nil; a = a.parent {
		top := a.parent == nil
		f, err := lstat(a.path, a.link || top)
		if err != nil || !f.mode.IsDir() || f.id != a.id || (f.link != a.link && !top) {
			bad = a
		}
	}
	return bad
}

// chain is the way from the top of the root to n, n included.
func (n *node) chain() []*node {
	depth := 0
	for a := n; a != nil; a = a.parent {
		depth++
	}
	chain := make([]*node, depth)
	for a := n; a != nil; a = a.parent {
		depth--
		chain[depth] = a
	}
	return chain
}

// suspect has a directory looked at again that is not what it was.
func (w *Watcher) suspect(bad *node, epoch uint64) {
	w.stat.add(cStale, 1)
	w.hint(bad.path, structural, epoch)
}

// watchReason says why a directory cannot be watched, and what to do where the
// system's own words mislead.
func watchReason(err error) string {
	switch {
	case runtime.GOOS != "linux":
	case errors.Is(err, syscall.ENOSPC):
		return "the limit of watches is reached (raise the sysctl fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE):
		return "the limit of inotify instances or open files is reached (raise the sysctl fs.inotify.max_user_instances, or ulimit -n)"
	}
	return err.Error()
}
