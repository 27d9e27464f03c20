package watcher

import (
	"hash/maphash"
	"time"
)

// flags say what is known of a hint.
type flags uint8

const (
	// structural: the name may stand for something else than before, so the
	// watches at and below it may be stale.
	structural flags = 1 << iota
	// listing: many names of the directory had events; list it.
	listing
	// force: report even what looks unchanged.
	force
	// deep: scan the whole tree below.
	deep
	// echo: another name of the same file had the event.
	echo
)

// hint is a path that something may have happened to.
type hint struct {
	path        string
	flags       flags
	epoch       uint64
	first, last time.Time

	// Of a listing: the hashes of the names that had structural events, or
	// everyMoved when they were too many.
	moved      map[uint64]struct{}
	everyMoved bool
}

// movedLimit bounds hint.moved.
const movedLimit = 1 << 14

var nameSeed = maphash.MakeSeed()

// noteMoved keeps of a structural event what a listing must know.
func (h *hint) noteMoved(name string, f flags) {
	switch {
	case f&structural == 0 || h.everyMoved:
	case len(h.moved) >= movedLimit:
		h.moved, h.everyMoved = nil, true
	default:
		if h.moved == nil {
			h.moved = map[uint64]struct{}{}
		}
		h.moved[maphash.String(nameSeed, name)] = struct{}{}
	}
}

// mayHaveMoved reports whether a listed name may have had a structural event.
func (h *hint) mayHaveMoved(name string) bool {
	if h.everyMoved {
		return true
	}
	_, ok := h.moved[maphash.String(nameSeed, name)]
	return ok
}

// settler gathers hints until they have settled: until a path was quiet for
// `quiet`, or until `limit` after its first event, for a busy writer. It is pure
// but for the tokens it takes in the ledger, one a hint. Guarded by Watcher.mu.
type settler struct {
	quiet, limit        time.Duration
	dirBurst, treeBurst int
	treeOf              func(path string) (root string, dirs int)
	ledger              *ledger

	dirs    map[string]*dirHints // by parent directory
	n       int
	checkAt int // number of directories at which to look for trees again
	// Lower bounds of when a hint is due and of the hints' epochs, so that
	// asking costs nothing while nothing is due.
	earliest time.Time
	oldest   uint64
}

// dirHints are the hints on the names of one directory.
type dirHints struct {
	names map[string]*hint // by path
	all   *hint            // stands for many names, when there were too many
}

func (s *settler) init(l *ledger, o Options) {
	s.ledger = l
	s.quiet, s.limit = o.Settle, 4*o.Settle
	s.dirBurst, s.treeBurst = o.DirBurst, o.TreeBurst
	s.dirs = map[string]*dirHints{}
	s.oldest = ^uint64(0)
}

// add merges a hint.
func (s *settler) add(path string, f flags, now time.Time, epoch uint64) {
	dir := parentOf(path)
	g := s.dirs[dir]
	if g == nil {
		g = &dirHints{names: map[string]*hint{}}
		s.dirs[dir] = g
	}
	switch h := g.names[path]; {
	case h != nil:
		s.merge(h, f, now, epoch)
	case g.all != nil && f&(force|deep) == 0:
		s.merge(g.all, 0, now, epoch)
		g.all.noteMoved(base(path), f)
	default:
		g.names[path] = s.make(path, f, now, epoch)
		s.collapseDir(dir, g)
	}
	if len(s.dirs) > max(s.treeBurst, s.checkAt) {
		s.collapseTrees(now)
		s.checkAt = 2 * len(s.dirs)
	}
}

func (s *settler) make(path string, f flags, now time.Time, epoch uint64) *hint {
	s.n++
	s.ledger.add(epoch)
	s.note(now.Add(s.quiet), epoch)
	return &hint{path: path, flags: f, epoch: epoch, first: now, last: now}
}

func (s *settler) merge(h *hint, f flags, now time.Time, epoch uint64) {
	only := h.flags & f & echo // an event of the name itself outweighs an echo
	h.flags = (h.flags|f)&^echo | only
	h.last = now
	h.epoch = s.ledger.move(h.epoch, epoch)
	s.oldest = min(s.oldest, h.epoch)
}

func (s *settler) note(due time.Time, epoch uint64) {
	if s.n == 1 || due.Before(s.earliest) {
		s.earliest = due
	}
	s.oldest = min(s.oldest, epoch)
}

// collapseDir replaces many hints on the names of a directory by one to list it.
// What is to be reported in any case keeps its own.
func (s *settler) collapseDir(dir string, g *dirHints) {
	if len(g.names) <= s.dirBurst || dir == "" {
		return
	}
	for path, h := range g.names {
		if h.flags&(force|deep) != 0 {
			continue
		}
		delete(g.names, path)
		f := h.flags
		if g.all == nil {
			g.all = h
			h.path, h.flags = dir, listing
		} else {
			s.absorb(g.all, h)
		}
		g.all.noteMoved(base(path), f)
	}
}

// absorb adds what h knows to the hint that takes its place.
func (s *settler) absorb(into, h *hint) {
	if h.first.Before(into.first) {
		into.first = h.first
	}
	if h.last.After(into.last) {
		into.last = h.last
	}
	into.epoch = s.ledger.move(into.epoch, h.epoch)
	s.n--
	s.ledger.done(h.epoch)
}

// collapseTrees replaces the hints on much of a tree by one to scan it all.
func (s *settler) collapseTrees(now time.Time) {
	dirty := map[string]int{}
	size := map[string]int{}
	for dir := range s.dirs {
		root, n := s.treeOf(dir)
		dirty[root]++
		size[root] = n
	}
	for root, n := range dirty {
		if root != "" && n > max(s.treeBurst, size[root]/4) {
			s.collapseTree(root, now)
		}
	}
}

func (s *settler) collapseTree(root string, now time.Time) {
	top := s.make(root, structural|deep, now, s.ledger.epoch)
	for dir, g := range s.dirs {
		if r, _ := s.treeOf(dir); r != root {
			continue
		}
		for path, h := range g.names {
			if h.flags&force == 0 {
				delete(g.names, path)
				s.absorb(top, h)
			}
		}
		if g.all != nil {
			s.absorb(top, g.all)
			g.all = nil
		}
		if len(g.names) == 0 {
			delete(s.dirs, dir)
		}
	}
	dir := parentOf(root)
	if s.dirs[dir] == nil {
		s.dirs[dir] = &dirHints{names: map[string]*hint{}}
	}
	if old := s.dirs[dir].names[root]; old != nil {
		top.flags |= old.flags
		s.absorb(top, old)
	}
	s.dirs[dir].names[root] = top
	s.oldest = min(s.oldest, top.epoch)
}

// due returns when the hint settles.
func (s *settler) due(h *hint) time.Time {
	quiet, limit := h.last.Add(s.quiet), h.first.Add(s.limit)
	if limit.Before(quiet) {
		return limit
	}
	return quiet
}

// take removes and returns the hints that have settled, and those that a barrier
// waits for. Their tokens pass to the caller.
func (s *settler) take(now time.Time, barrier uint64) []*hint {
	if s.n == 0 || (now.Before(s.earliest) && s.oldest > barrier) {
		return nil
	}
	if !now.Before(s.earliest) {
		// The halves of a rename had their events one after the other: what is
		// as good as due comes along.
		now = now.Add(s.quiet / 8)
	}
	var out []*hint
	s.earliest, s.oldest = time.Time{}, ^uint64(0)
	ready := func(h *hint) bool {
		due := s.due(h)
		if h.epoch <= barrier || !due.After(now) {
			out = append(out, h)
			return true
		}
		if s.earliest.IsZero() || due.Before(s.earliest) {
			s.earliest = due
		}
		s.oldest = min(s.oldest, h.epoch)
		return false
	}
	for dir, g := range s.dirs {
		for path, h := range g.names {
			if ready(h) {
				delete(g.names, path)
			}
		}
		if g.all != nil && ready(g.all) {
			g.all = nil
		}
		if len(g.names) == 0 && g.all == nil {
			delete(s.dirs, dir)
		}
	}
	s.n -= len(out)
	s.checkAt = 0
	return out
}

// next returns the time before which no hint is due.
func (s *settler) next() (time.Time, bool) { return s.earliest, s.n > 0 }

// has reports whether there is a hint on the path.
func (s *settler) has(path string) bool {
	g := s.dirs[parentOf(path)]
	return g != nil && (g.all != nil || g.names[path] != nil)
}
