package watcher

import (
	"strings"
	"sync/atomic"
	"time"
)

// rootState is a root and what is known of its tree. Its tree is owned by the
// reconciler; the counts and what Watcher.mu guards are for all.
type rootState struct {
	Root
	reload Reloader // the Filter, if it is one
	lister Lister   // the same
	top    *node

	// Symbolic links followed: which directory is walked under which name, the
	// names that are not walked because of that, and the links themselves.
	owner  map[ident]*node
	shadow map[ident][]string
	links  map[string]bool

	dirs, files, queued, polled atomic.Int64
	scanning                    atomic.Bool // a scan of the whole tree is under way
	nextPoll                    time.Time

	device uint64 // the file system that held the root when it was last there, 0: not known

	// Guarded by Watcher.mu.
	suspended  bool
	reason     string          // of a suspended root
	pollReason string          // of the directory last found not to be watchable
	polledAt   map[string]bool // some such directories
}

// node is a directory.
type node struct {
	path   string
	parent *node // nil: the top of its root
	root   *rootState
	id     ident
	link   bool             // reached through a symbolic link
	dirs   map[string]*node // nil: none, as files
	files  map[string]entry
	dots   []string // dot files the filter does not want, which may be rule files

	watch   *watch        // nil: not watched
	polled  string        // why it cannot be watched
	remote  string        // the kind of its file system, if others change that without events
	wait    time.Duration // before it is listed again, for want of means
	denied  bool          // unreadable, and reported so
	blocked bool          // found unreadable by the scan under way
	dropped bool          // no longer in the tree

	queued bool // in the scan queue, with:
	deep   bool
	force  bool
	soft   bool
	epoch  uint64
	lane   lane
}

// entry is what was last reported of a file.
type entry struct {
	stamp
	racy   bool
	reason string // skipped
}

func (w *Watcher) newNode(r *rootState, parent *node, path string, f found) *node {
	n := &node{path: path, parent: parent, root: r, id: f.id, link: f.link}
	n.remote = w.remoteKind(n)
	return n
}

// rel returns a name of the directory as the filter knows it.
func (n *node) rel(name string) string { return n.root.rel(join(n.path, name)) }

// rel returns a path of the root as the filter knows it.
func (r *rootState) rel(path string) string { return relTo(path, r.Path) }

// has reports whether something is known under the name.
func (n *node) has(name string) bool {
	_, file := n.files[name]
	return file || n.dirs[name] != nil
}

// rootOf returns the innermost root that holds the path, or nil.
func rootOf(roots map[string]*rootState, path string) *rootState {
	for p := path; p != ""; p = parentOf(p) {
		if r := roots[p]; r != nil {
			return r
		}
	}
	return nil
}

// treeOf returns the path of the root that holds the path, and the number of its
// directories. w.mu must be held.
func (w *Watcher) treeOf(path string) (string, int) {
	r := rootOf(w.roots, path)
	if r == nil {
		return "", 0
	}
	return r.Path, int(r.dirs.Load())
}

// nearest returns the deepest known directory on the way from the root to path,
// path's own included, and the path of the next step, "" if there is none.
func (r *rootState) nearest(path string) (*node, string) {
	n := r.top
	for n != nil && len(path) > len(n.path) {
		rest := strings.TrimPrefix(path[len(n.path):], sep)
		name, _, _ := strings.Cut(rest, sep)
		c := n.dirs[name]
		if c == nil {
			return n, join(n.path, name)
		}
		n = c
	}
	return n, ""
}

// find returns the directory with the path, or nil.
func (r *rootState) find(path string) *node {
	n, next := r.nearest(path)
	if next != "" {
		return nil
	}
	return n
}

// walk calls f for the directory and all below it, parents first.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, c := range n.dirs {
		c.walk(f)
	}
}
