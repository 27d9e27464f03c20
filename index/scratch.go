package index

import (
	"fmt"
	"math/bits"
	"sync"

	"quern/index/segment"
)

// scratch is memory that searches use one after the other. Between searches,
// and in what take gives, sums, dirty and rare are zero.
type scratch struct {
	all   window // of which take gives parts
	taken int    // blocks

	list segment.Postings

	// For searches that prune.
	lists   []*blockList // of frequent terms; those below listed are in use
	listed  int
	supers  []candidate
	waiting []candidate // blocks to be visited
	sorter  sorter

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
	for _, l := range x.lists[:x.listed] {
		*l = blockList{}
	}
	x.listed, x.taken = 0, 0
	x.list, x.text = segment.Postings{}, segment.TextBuffer{} // they hold on to segments
	clear(x.records)
	scratchPool.Put(x)
}

// window is what a search knows of consecutive passages, in blocks of 64.
type window struct {
	sums  []float64 // by passage; 0: no term of the query
	dirty []uint64  // a bit for each passage: its sum was added to
	rare  []float64 // by block, see pruner.boundRare
	upper []float64 // by block that waits to be visited: its bound
}

// reserve makes room for so many blocks. What was taken is given back.
func (x *scratch) reserve(blocks int) {
	x.taken = 0
	if len(x.all.dirty) < blocks {
		x.all = window{
			sums: make([]float64, 64*blocks), dirty: make([]uint64, blocks), rare: make([]float64, blocks),
			upper: make([]float64, blocks),
		}
	}
}

// take gives a window on n passages, of what is reserved.
func (x *scratch) take(n int) window {
	lo := x.taken
	x.taken += (n + 63) / 64
	return window{
		sums: x.all.sums[64*lo : 64*x.taken], dirty: x.all.dirty[lo:x.taken],
		rare: x.all.rare[lo:x.taken], upper: x.all.upper[lo:x.taken],
	}
}

// newList gives a list that is not in use.
func (x *scratch) newList() *blockList {
	if x.listed == len(x.lists) {
		x.lists = append(x.lists, new(blockList))
	}
	x.listed++
	return x.lists[x.listed-1]
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

// sweep offers the passages that have a sum, and clears the sums.
func (r *run) sweep(x *window, i uint32, v *view) {
	for block, w := range x.dirty {
		if w != 0 {
			r.sweepBlock(x, i, v, block)
		}
	}
}

// sweepBlock offers those of a block of 64 passages that have a sum, and clears
// the sums. Those that cannot be among the best are only counted.
func (r *run) sweepBlock(x *window, i uint32, v *view, block int) {
	w := x.dirty[block]
	x.dirty[block] = 0
	sums := x.sums[64*block : 64*block+64]
	live := w &^ v.dead.at(block)
	if r.allowed != nil {
		live &= r.allowed[i][block]
	}
	if r.states != nil {
		live = r.admitAll(v, block, live)
	}
	if !r.o.CollapseDocument {
		r.total += bits.OnesCount64(live)
	}
	least := r.least(v, block)
	for ; w != 0; w &= w - 1 {
		j := bits.TrailingZeros64(w)
		sum := sums[j]
		sums[j] = 0
		if sum >= least && live>>j&1 != 0 {
			r.offer(i, v, 64*block+j, sum)
		}
	}
}

// admitAll gives those of the passages of a block whose documents may be found.
func (r *run) admitAll(v *view, block int, live uint64) uint64 {
	for w := live; w != 0; w &= w - 1 {
		j := bits.TrailingZeros64(w)
		if !r.admit(v, uint32(v.PassageDoc(64*block+j))) {
			live &^= 1 << j
		}
	}
	return live
}

// least is what the sum of a passage of a block must reach for it to be among
// the best.
func (r *run) least(v *view, block int) float64 {
	floor := r.floor.Value()
	if r.q.model == BM25 || r.q.constant {
		return floor * (1 - roundingSlack)
	}
	norm := v.least(block, r.s.drift)
	if floor <= 0 || norm <= 0 {
		return 0
	}
	return floor * norm * (1 - roundingSlack)
}
