package watcher

import "slices"

// claim reports whether a directory is to be walked under this name. Where
// symbolic links are followed, a directory is walked once, under the first of its
// names in the order of a walk; that keeps links to an ancestor from looping too.
func (w *Watcher) claim(c *node, j job) bool {
	r := c.root
	if !r.FollowSymlinks || c.id.ino == 0 {
		return true
	}
	o := r.owner[c.id]
	if o != nil && o != c {
		if bad := w.broken(o); bad != nil { // moved from there
			w.unwatchTree(o)
			w.suspect(bad, j.epoch)
			o = nil
		}
	}
	if o != nil && o != c && before(o.path, c.path) {
		r.shade(c.id, c.path)
		return false
	}
	r.owner[c.id] = c
	if o != nil && o != c { // c comes first
		r.shade(c.id, o.path)
		w.dropDir(o, j)
	}
	return true
}

// disown gives a directory's identity up; its other names are looked at again.
func (w *Watcher) disown(c *node, j job) {
	r := c.root
	if !r.FollowSymlinks || r.owner[c.id] != c {
		return
	}
	delete(r.owner, c.id)
	names := r.shadow[c.id]
	delete(r.shadow, c.id)
	for _, p := range names {
		w.hint(p, structural, j.epoch)
	}
}

func (r *rootState) shade(id ident, path string) {
	if !slices.Contains(r.shadow[id], path) {
		r.shadow[id] = append(r.shadow[id], path)
	}
}

// noteLink keeps track of the links followed: what they lead to changes without events.
func (r *rootState) noteLink(path string, link bool) {
	switch {
	case !r.FollowSymlinks:
	case link:
		r.links[path] = true
	default:
		delete(r.links, path)
	}
}

// checkLinks looks at what the links lead to.
func (w *Watcher) checkLinks(r *rootState, epoch uint64) {
	for path := range r.links {
		if r.find(parentOf(path)) == nil {
			delete(r.links, path)
			continue
		}
		w.check(&hint{path: path, epoch: epoch})
	}
}
