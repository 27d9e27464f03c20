package index

import (
	"math"
	"sync"
)

// A term's global number, its gid, is the same in all segments that have the
// term; segments keep it. The gid of a term that no segment has any more is
// used again, so that numbers stay few.

// termStat is what a snapshot knows of a term, by gid.
type termStat struct {
	df uint32 // live passages that have it
	// reference is the idf that norms were computed with; NaN is none.
	reference float32
}

var noReference = float32(math.NaN())

// find finds a term's gid in the views.
func (s *Snapshot) gid(term []byte) (uint32, bool) {
	for i := range s.views {
		if rank, ok := s.views[i].rank(term); ok {
			return s.views[i].GID(rank), true
		}
	}
	return 0, false
}

// cachedTerms is how many terms' numbers the writer remembers at most.
const cachedTerms = 1 << 15

// numbering gives terms their gids. It is the writer's, but parts of one batch
// are numbered side by side.
type numbering struct {
	mu    sync.Mutex // guards all fields while a batch is prepared
	cache map[string]uint32
	fresh map[string]uint32 // terms that no view has yet
	free  []uint32
	next  uint32
}

// of gives the gid of a term, a new one if no view of base has the term.
func (n *numbering) of(base *Snapshot, term []byte) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if g, ok := n.cache[string(term)]; ok {
		return g
	}
	if g, ok := n.fresh[string(term)]; ok {
		return g
	}
	g, ok := base.gid(term)
	if !ok {
		g = n.take()
		if n.fresh == nil {
			n.fresh = make(map[string]uint32)
		}
		n.fresh[string(term)] = g
		return g
	}
	n.remember(string(term), g)
	return g
}

func (n *numbering) take() uint32 {
	if k := len(n.free); k > 0 {
		g := n.free[k-1]
		n.free = n.free[:k-1]
		return g
	}
	n.next++
	return n.next - 1
}

func (n *numbering) remember(term string, g uint32) {
	if n.cache == nil || len(n.cache) >= cachedTerms {
		n.cache = make(map[string]uint32)
	}
	n.cache[term] = g
}

// settle makes the batch's new numbers good, or gives them back.
func (n *numbering) settle(good bool) {
	for term, g := range n.fresh {
		if good {
			n.remember(term, g)
		} else {
			n.free = append(n.free, g)
		}
	}
	n.fresh = nil
}

// release gives back the number of a term that no view has.
func (n *numbering) release(term string, g uint32) {
	delete(n.cache, term)
	n.free = append(n.free, g)
}
