package index

import (
	"context"
	"math"
	"math/bits"

	"quern/index/rank"
	"quern/index/segment"
)

// visitor is a goroutine's part in a search: it adds up scores, or what is to be
// divided by a norm, and offers the passages that may be among the best. Between
// searches sums and dirty are zero.
type visitor struct {
	*run
	candidates []candidate
	total      int  // hits seen
	partial    bool // there may be hits that were not seen
	decoded    int  // postings

	sums    [64]float64 // of the block being visited, see prune.go
	dirty   uint64      // … a bit for each of its passages that was added to
	tfs     [64]uint32
	common  [64]float64 // by block of a superblock: what frequent terms are worth
	cursors [][]segment.Postings
	waiting []candidate // blocks to be visited

	list    segment.Postings
	lengths [4096]float64 // BM25: query.lengthNorm of short lengths; 0: not computed
}

// begin makes the visitor ready for a search.
func (w *visitor) begin(r *run) {
	w.run = r
	w.candidates, w.waiting = w.candidates[:0], w.waiting[:0]
	w.total, w.partial, w.decoded = 0, false, 0
	if r.q.model == BM25 {
		w.lengths = [4096]float64{}
	}
}

// end lets go of the search and of its segments.
func (w *visitor) end() {
	w.run, w.list = nil, segment.Postings{}
	for _, c := range w.cursors {
		clear(c)
	}
}

// lengthNorm is query.lengthNorm, remembered.
func (w *visitor) lengthNorm(length uint32) float64 {
	if length >= uint32(len(w.lengths)) {
		return w.q.lengthNorm(length)
	}
	if w.lengths[length] == 0 {
		w.lengths[length] = w.q.lengthNorm(length)
	}
	return w.lengths[length]
}

// visitAll offers all passages of a view.
func (w *visitor) visitAll(i int) error {
	v := &w.s.views[i]
	x := w.window(v.blocks())
	for n, p := range w.wanted[i] {
		if n%16 == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if w.selective {
			w.accumulateAllowed(&x, i, p)
		} else {
			w.accumulate(&x, v, p)
		}
	}
	if w.q.constant {
		w.fill(&x, i)
	}
	for block, dirty := range x.dirty {
		if dirty != 0 {
			w.sweep(uint32(i), v, block, (*[64]float64)(x.sums[64*block:]), dirty)
			x.dirty[block] = 0
		}
	}
	return context.Cause(w.ctx)
}

// accumulate adds a term's part to the sum of every passage that has it.
func (w *visitor) accumulate(x *window, v *view, p present) {
	t := &w.q.terms[p.term]
	v.read(int(p.rank), &w.list)
	factor := w.q.factor(t)
	for w.list.Next() {
		w.addTo(x, v, t, factor, w.list.Docs, w.list.TFs)
	}
	w.decoded += w.list.Decoded
	v.must(w.list.Err())
}

// addTo adds a term's part to the sums of a window.
func (w *visitor) addTo(x *window, v *view, t *queryTerm, factor float64, ids, tfs []uint32) {
	w.add(x.sums, math.MaxUint32, v, t, factor, ids, tfs)
	for _, p := range ids {
		x.dirty[p>>6] |= 1 << (p & 63)
	}
}

// add adds a term's part to sums, which are those of the passages whose numbers
// have mask's bits: for BM25 the contribution itself, for the cosine what is to
// be divided by the passage's norm.
func (w *visitor) add(sums []float64, mask uint32, v *view, t *queryTerm, factor float64, ids, tfs []uint32) {
	switch {
	case w.q.model == BM25:
		for i, p := range ids {
			length := w.lengthNorm(v.PassageLength(int(p)))
			sums[p&mask] += rank.BM25(t.times, t.idf, float64(tfs[i]), length)
		}
	case w.q.raw:
		for i, p := range ids {
			sums[p&mask] += factor * rank.RawTF(tfs[i])
		}
	default:
		for i, p := range ids {
			sums[p&mask] += factor * rank.LogTF(tfs[i])
		}
	}
}

// sweep offers those of a block of 64 passages that have a sum, which dirty
// says, and clears the sums. Those that cannot be among the best are only
// counted.
func (w *visitor) sweep(i uint32, v *view, block int, sums *[64]float64, dirty uint64) {
	live := dirty &^ v.dead.at(block)
	if w.allowed != nil {
		live &= w.allowed[i][block]
	}
	if w.admission.on {
		live = w.admitAll(v, block, live)
	}
	if !w.o.CollapseDocument {
		w.total += bits.OnesCount64(live)
	}
	least := w.least(v, block)
	for ; dirty != 0; dirty &= dirty - 1 {
		j := bits.TrailingZeros64(dirty)
		sum := sums[j]
		sums[j] = 0
		if sum >= least && live>>j&1 != 0 {
			w.offer(i, v, 64*block+j, sum)
		}
	}
}

// least is what the sum of a passage of a block must reach for it to be among
// the best.
func (w *visitor) least(v *view, block int) float64 {
	floor := w.floor.Value()
	if w.q.model == BM25 || w.q.constant {
		return floor * (1 - roundingSlack)
	}
	norm := v.least(block, w.s.drift)
	if floor <= 0 || norm <= 0 {
		return 0
	}
	return floor * norm * (1 - roundingSlack)
}

// offer takes a passage that may be found.
func (w *visitor) offer(i uint32, v *view, local int, sum float64) {
	lower, upper := w.bounds(v, local, sum)
	if upper < w.floor.Value() {
		return
	}
	owner := int32(0)
	if w.o.CollapseDocument {
		owner = int32(v.PassageDoc(local))
	}
	w.candidates = append(w.candidates, candidate{upper, i, uint32(local)})
	if !w.unchecked {
		w.floor.Raise(owner, lower)
	}
}

// bounds returns what the passage's score lies between. The norms kept are
// those of logarithmic weights. A raw tf is never less than its logarithmic
// weight, so neither are raw norms, and they have no other bound.
func (r *run) bounds(v *view, local int, sum float64) (lower, upper float64) {
	if r.q.model == BM25 || r.q.constant {
		return sum, sum // added up in the order of the terms
	}
	norm := math.Sqrt(v.norms.at(local))
	slack := r.s.drift * float64(v.Root(local))
	if norm <= slack {
		return 0, math.Inf(1)
	}
	if !r.q.raw {
		lower = sum / (norm + slack) * (1 - roundingSlack)
	}
	return lower, sum / (norm - slack) * (1 + roundingSlack)
}
