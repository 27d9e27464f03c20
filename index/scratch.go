package index

import (
	"fmt"
	"math/bits"
	"sync"

	"quern/index/segment"
)

// scratch is memory that searches use one after the other. Between searches,
// and between segments, sums and dirty are zero.
type scratch struct {
	sums  []float64 // by passage of a segment; 0: no term of the query
	dirty []uint64  // a bit for each 64 passages: some sum is not 0

	list  segment.Postings
	terms []segment.TermTF
	text  segment.TextBuffer

	states  []docState // by slot; nil if no document is to be told from another
	store   []docState
	lengths [4096]float64 // BM25: lengthNorm of short lengths; 0: not computed
	idfs    idfMemo
	found   []occurrence
	records map[uint32]*document // read in this search, by slot
}

// docState says whether a document may be found.
type docState uint8

const (
	unseen docState = iota
	admitted
	refused
)

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns scratch memory for searches of s. It goes back by
// release; after an error it is left to the garbage collector.
func takeScratch(s *Snapshot) *scratch {
	x := scratchPool.Get().(*scratch)
	x.idfs.reset(s.passages)
	return x
}

func (x *scratch) release() {
	x.states = nil
	x.list, x.text = segment.Postings{}, segment.TextBuffer{} // they hold on to segments
	clear(x.records)
	scratchPool.Put(x)
}

// prepare makes room for the sums of n passages.
func (x *scratch) prepare(n int) {
	if blocks := (n + 63) / 64; len(x.sums) < 64*blocks {
		x.sums = make([]float64, 64*blocks)
		x.dirty = make([]uint64, (blocks+63)/64)
	}
}

func (x *scratch) resetStates(n int) {
	if len(x.store) < n {
		x.store = make([]docState, n)
	}
	x.states = x.store[:n]
	clear(x.states)
}

func (x *scratch) resetLengths() { x.lengths = [4096]float64{} }

// lengthNorm is query.lengthNorm, remembered.
func (x *scratch) lengthNorm(q *query, length uint32) float64 {
	if length >= uint32(len(x.lengths)) {
		return q.lengthNorm(length)
	}
	if x.lengths[length] == 0 {
		x.lengths[length] = q.lengthNorm(length)
	}
	return x.lengths[length]
}

// record reads the record of a passage's document, once in a search; v is the
// passage's view.
func (r *run) record(v *view, slot uint32) *document {
	if d, ok := r.records[slot]; ok {
		return d
	}
	i, ord, ok := r.s.findSlot(slot)
	if !ok {
		v.must(fmt.Errorf("%w: there is no document %d", segment.ErrCorrupt, slot))
	}
	d := r.s.document(i, ord)
	if r.records == nil {
		r.records = make(map[uint32]*document)
	}
	r.records[slot] = d
	return d
}

// sweep offers the passages that have a sum and clears the sums.
func (r *run) sweep(i uint32, v *view) {
	for w, blocks := range r.dirty {
		r.dirty[w] = 0
		for ; blocks != 0; blocks &= blocks - 1 {
			r.sweepBlock(i, v, 64*w+bits.TrailingZeros64(blocks))
		}
	}
}

func (r *run) sweepBlock(i uint32, v *view, block int) {
	dead := v.dead.at(block)
	sums := r.sums[64*block : 64*block+64]
	for j, sum := range sums {
		if sum != 0 && dead>>j&1 == 0 {
			r.offer(i, v, 64*block+j, sum)
		}
	}
	clear(sums)
}
