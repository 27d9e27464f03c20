package index

import (
	"math"
	"sync"

	"github.com/zeebo/xxh3"
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

// gidHashed is gid for one who has the XXH3 of the term.
func (s *Snapshot) gidHashed(term string, hash uint64) (uint32, bool) {
	for i := range s.views {
		v := &s.views[i]
		if !v.MayHave(hash) {
			continue
		}
		if rank, ok := v.rank([]byte(term)); ok {
			return v.GID(rank), true
		}
	}
	return 0, false
}

// The writer remembers the numbers of about as many terms as it was lately
// asked for, between these bounds; powers of two.
const (
	fewTerms  = 1 << 8
	manyTerms = 1 << 16
)

// numbering gives terms their gids. It is the writer's, but parts of one batch
// are numbered side by side.
type numbering struct {
	mu    sync.Mutex        // guards all fields while a batch is prepared
	cache []numbered        // by hash: one that comes takes the place of another
	known int               // how many of cache there are
	fresh map[string]uint32 // terms that no view has yet
	// epoch is another when a number may have changed its term.
	epoch uint64
	free  []uint32
	next  uint32
}

// numbered is a term with its gid; no term, if hash is 0.
type numbered struct {
	hash uint64
	term string
	gid  uint32
}

// of gives the gid of a term, of which hash is the XXH3: a new one if no view of
// base has the term.
func (n *numbering) of(base *Snapshot, term string, hash uint64) uint32 {
	if g, ok := n.lookup(term, hash); ok {
		return g
	}
	g, ok := base.gidHashed(term, hash)
	n.mu.Lock()
	defer n.mu.Unlock()
	if ok {
		n.remember(term, hash, g)
		return g
	}
	if g, ok := n.fresh[term]; ok { // from another part
		return g
	}
	g = n.take()
	if n.fresh == nil {
		n.fresh = make(map[string]uint32)
	}
	n.fresh[term] = g
	return g
}

func (n *numbering) lookup(term string, hash uint64) (uint32, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.cache) > 0 {
		if e := n.slot(hash); e.hash == hash && e.term == term {
			return e.gid, true
		}
	}
	g, ok := n.fresh[term]
	return g, ok
}

func (n *numbering) slot(hash uint64) *numbered { return &n.cache[hash&uint64(len(n.cache)-1)] }

func (n *numbering) take() uint32 {
	if k := len(n.free); k > 0 {
		g := n.free[k-1]
		n.free = n.free[:k-1]
		return g
	}
	n.next++
	return n.next - 1
}

func (n *numbering) remember(term string, hash uint64, g uint32) {
	if size := len(n.cache); 2*n.known >= size && size < manyTerms {
		old := n.cache
		n.cache, n.known = make([]numbered, max(fewTerms, 2*size)), 0
		for _, e := range old {
			if e.hash != 0 {
				n.put(e)
			}
		}
	}
	if hash != 0 {
		n.put(numbered{hash, term, g})
	}
}

func (n *numbering) put(e numbered) {
	at := n.slot(e.hash)
	if at.hash == 0 {
		n.known++
	}
	*at = e
}

// settle makes the batch's new numbers good, or gives them back.
func (n *numbering) settle(good bool) {
	if !good {
		n.epoch++
	}
	for term, g := range n.fresh {
		if good {
			n.remember(term, xxh3.HashString(term), g)
		} else {
			n.free = append(n.free, g)
		}
	}
	n.fresh = nil
}

// release gives back the number of a term that no view has.
func (n *numbering) release(term string, g uint32) {
	n.epoch++
	hash := xxh3.HashString(term)
	if len(n.cache) > 0 {
		if at := n.slot(hash); at.hash == hash && at.term == term {
			*at = numbered{}
			n.known--
		}
	}
	n.free = append(n.free, g)
}
