package index

import (
	"context"

	"quern/index/rank"
)

// found is a hit without its text.
type found struct {
	key  rank.Key
	view *view
	doc  *document
	len  uint32 // |p|
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
	for n := 0; len(heap) > 0 && heap[0].upper >= best.floor.Value(); n++ {
		if n%64 == 0 && r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		c := heap[0]
		heap = popCandidate(heap)
		best.add(c, exact.score(c))
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
	v := &b.s.views[c.view]
	slot := v.docs[c.local]
	doc := b.s.docs.at(int(slot))
	f := found{
		key:  rank.Key{Score: score, Path: doc.info.Path, Passage: int(v.numbers.at(int(c.local)))},
		view: v, doc: doc, len: v.lengths[c.local],
	}
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
	if x.q.model == BM25 {
		return c.upper
	}
	v := &x.s.views[c.view]
	list := v.forward.list(int(c.local))
	if x.n++; x.n <= memoAfter {
		return x.cosine(v, list, x.wanted[c.view])
	}
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
		score = x.cosine(v, list, x.wanted[c.view])
		memo[string(list)] = score
	}
	return score
}

// cosine is the score of the passage with a forward list.
func (r *run) cosine(v *view, list []byte, wanted []present) float64 {
	found, norm := r.q.occurrences(r.s, v, list, wanted, &r.idfs, r.found[:0])
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
