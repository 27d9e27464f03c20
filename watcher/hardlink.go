package watcher

import "slices"

// seekBatch bounds the identities that wait for seekLinks.
const seekBatch = 1024

// hardLinks knows the names of files that have several: a change through one of
// them is an event of that name alone.
type hardLinks struct {
	names map[ident][]string
	seek  map[ident]bool // newly found to have several names; others may be in the table
	epoch uint64         // of the token held while seek is not empty
}

func (l *hardLinks) init() { l.names, l.seek = map[ident][]string{}, map[ident]bool{} }

// linked is told of every file that has changed, and of every racy one that had an
// event, and has its other names looked at.
func (w *Watcher) linked(n *node, path string, f found, j job) {
	l := &w.rec.links
	if f.nlink < 2 || f.id.ino == 0 {
		return
	}
	if l.names[f.id] == nil {
		w.wantLinks(f.id, j.epoch)
	}
	if !slices.Contains(l.names[f.id], path) {
		l.names[f.id] = append(l.names[f.id], path)
	}
	if j.echo {
		return
	}
	for _, other := range l.names[f.id] {
		if other != path && w.differs(other, f.stamp) {
			w.hint(other, echo, j.epoch)
		}
	}
}

// differs reports whether what was last reported of a file may not be what f is of.
func (w *Watcher) differs(path string, f stamp) bool {
	r := rootOf(w.roots, path)
	if r == nil || r.top == nil {
		return false
	}
	n := r.find(parentOf(path))
	if n == nil {
		return false
	}
	e, ok := n.files[base(path)]
	return ok && e.id == f.id && (e.racy || e.stamp != f)
}

// unlinked forgets a name, and has the file's other names looked at: it may have
// been changed through this one, whose event now finds nothing. (A name that comes,
// is written through and goes before it settles cannot be told from any other
// passing file; what it did to the file's other names is found by the audit.)
func (w *Watcher) unlinked(path string, id ident, epoch uint64) {
	l := &w.rec.links
	names, ok := l.names[id]
	if !ok {
		return
	}
	names = slices.DeleteFunc(names, func(p string) bool { return p == path })
	if len(names) == 0 {
		delete(l.names, id)
		return
	}
	l.names[id] = names
	for _, other := range names {
		w.hint(other, echo, epoch)
	}
}

func (w *Watcher) wantLinks(id ident, epoch uint64) {
	l := &w.rec.links
	w.mu.Lock()
	if len(l.seek) == 0 {
		l.epoch = epoch
		w.ledger.add(epoch)
	} else {
		l.epoch = w.ledger.move(l.epoch, epoch)
	}
	w.mu.Unlock()
	l.seek[id] = true
}

// seekLinks finds in the table the names that files had before they got a second
// one. It looks at the table only, once for many files.
func (w *Watcher) seekLinks() {
	l := &w.rec.links
	if len(l.seek) == 0 {
		return
	}
	for _, r := range w.roots {
		if r.top == nil {
			continue
		}
		r.top.walk(func(n *node) {
			for name, e := range n.files {
				path := ""
				if l.seek[e.id] {
					path = join(n.path, name)
				}
				if path != "" && !slices.Contains(l.names[e.id], path) {
					l.names[e.id] = append(l.names[e.id], path)
					w.hint(path, echo, l.epoch)
				}
			}
		})
	}
	clear(l.seek)
	w.mu.Lock()
	w.ledger.done(l.epoch)
	w.mu.Unlock()
}
