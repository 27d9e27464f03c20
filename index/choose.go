package index

import (
	"context"
	"fmt"

	"quern/index/rank"
	"quern/index/segment"
)

// found is a hit without its text.
type found struct {
	key   rank.Key
	view  *view
	local int
	doc   *document
}

// memoAfter is after how many exact scores equal passages are looked for.
const memoAfter = 64

// choose computes the scores of the candidates, the most promising first,
// until none that is left can be among the best, and returns the best.
func (r *run) choose() ([]found, error) {
	floor := r.floor.Value()
	heap := r.candidates[:0]
	for _, c := range r.candidates {
		if c.upper >= floor {
			heap = append(heap, c)
		}
	}
	heapify(heap)
	exact := &scorer{run: r}
	best := r.newBest()
	if r.unchecked {
		r.total = 0
	}
	for n := 0; len(heap) > 0 && heap[0].upper >= best.floor.Value(); n++ {
		if n%64 == 0 && r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		c := heap[0]
		heap = popCandidate(heap)
		if r.unchecked && !r.confirm(c) {
			continue
		}
		best.add(c, exact.score(c))
	}
	if r.unchecked {
		r.partial = len(heap) > 0
	}
	return best.take(), nil
}

// best gathers scored passages: of each document the best one if hits are
// collapsed.
type best struct {
	*run
	floor *rank.Floor
	top   *rank.Top[found]
	byDoc map[uint32]found // collapsed: each document's best so far
}

func (r *run) newBest() *best {
	b := &best{run: r, floor: rank.NewFloor(r.limit, !r.o.CollapseDocument), top: rank.NewTop[found](r.limit)}
	if r.o.CollapseDocument {
		b.byDoc = make(map[uint32]found)
	}
	return b
}

func (b *best) add(c candidate, score float64) {
	if score < b.floor.Value() {
		return
	}
	v, local := &b.s.views[c.view], int(c.local)
	slot := uint32(v.PassageDoc(local))
	doc := b.record(v, slot)
	n := doc.number(v.PassageID(local))
	if n < 0 {
		v.must(fmt.Errorf("%w: %q does not know one of its passages", segment.ErrCorrupt, doc.info.Path))
	}
	f := found{key: rank.Key{Score: score, Path: doc.info.Path, Passage: n}, view: v, local: local, doc: doc}
	b.floor.Raise(int32(slot), score)
	if b.byDoc == nil {
		b.top.Push(f.key, f)
		return
	}
	if old, ok := b.byDoc[slot]; !ok || rank.Compare(f.key, old.key) < 0 {
		b.byDoc[slot] = f
	}
}

// take returns the hits wanted, best first.
func (b *best) take() []found {
	for _, f := range b.byDoc {
		b.top.Push(f.key, f)
	}
	_, hits := b.top.Take(b.o.Offset)
	return hits
}

// scorer computes exact scores, and those of equal passages only once:
// thousands of copies of a file are no more work than one.
type scorer struct {
	*run
	n    int
	memo []map[string]float64 // by view: forward list → score
}

func (x *scorer) score(c candidate) float64 {
	if x.q.constant || x.q.model == BM25 {
		return c.upper
	}
	v := &x.s.views[c.view]
	if x.n++; x.n <= memoAfter {
		return x.exact(v, int(c.local), x.wanted[c.view])
	}
	list, err := v.ForwardBytes(int(c.local))
	v.must(err)
	if x.memo == nil {
		x.memo = make([]map[string]float64, len(x.s.views))
	}
	memo := x.memo[c.view]
	if memo == nil {
		memo = make(map[string]float64)
		x.memo[c.view] = memo
	}
	score, ok := memo[string(list)]
	if !ok {
		score = x.exact(v, int(c.local), x.wanted[c.view])
		memo[string(list)] = score
	}
	return score
}

// exact is the score of a passage, TFIDF only.
func (r *run) exact(v *view, local int, wanted []present) float64 {
	r.terms = v.terms(local, r.terms)
	found, norm := r.q.occurrences(r.s, v, r.terms, wanted, &r.idfs, r.found[:0])
	r.found = found
	return r.q.score(found, norm)
}

// heapify makes a heap with the highest upper bound at the root.
func heapify(h []candidate) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDown(h, i)
	}
}

func popCandidate(h []candidate) []candidate {
	last := len(h) - 1
	h[0] = h[last]
	siftDown(h[:last], 0)
	return h[:last]
}

func siftDown(h []candidate, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].upper > h[child].upper {
			child++
		}
		if h[child].upper <= h[i].upper {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
