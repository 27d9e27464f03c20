package index

import (
	"fmt"
	"sync"

	"quern/index/segment"
)

// scratch is memory that searches use one after the other. Between searches
// sums, dirty and rare are zero.
type scratch struct {
	all   window // of views all of whose passages are visited
	parts blocks // of the others
	taken int    // … as far as views have them

	visitors []*visitor
	visiting int // how many of them this search has

	// For searches that prune.
	lists  []*list // those below listed are in use
	listed int
	supers []candidate
	worth  []float64   // of frequent terms, by superblock
	rest   []candidate // blocks to be visited
	sorter sorter

	terms []segment.TermTF
	text  segment.TextBuffer

	admission admission
	idfs      idfMemo
	found     []occurrence
	records   map[uint32]*document // read in this search, by slot
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// takeScratch returns scratch memory for searches of s. It goes back by
// release; after an error it is left to the garbage collector.
func takeScratch(s *Snapshot) *scratch {
	x := scratchPool.Get().(*scratch)
	x.idfs.reset(s.passages)
	return x
}

func (x *scratch) release() {
	for _, l := range x.lists[:x.listed] {
		l.release()
	}
	for _, w := range x.visitors[:x.visiting] {
		w.end()
	}
	x.admission.on = false
	x.listed, x.taken, x.visiting = 0, 0, 0
	x.text = segment.TextBuffer{} // it holds on to a segment
	clear(x.records)
	scratchPool.Put(x)
}

// visitor gives visitor n of the search; those before it must be there.
func (r *run) visitor(n int) *visitor {
	if n == len(r.visitors) {
		r.visitors = append(r.visitors, new(visitor))
	}
	if n == r.visiting {
		r.visiting++
		r.visitors[n].begin(r)
	}
	return r.visitors[n]
}

// window is what a search knows of consecutive passages.
type window struct {
	sums  []float64 // by passage; 0: no term of the query
	dirty []uint64  // a bit for each passage: its sum was added to
}

// window gives one for so many blocks of 64 passages.
func (x *scratch) window(blocks int) window {
	return window{x.all.sums[:64*blocks], x.all.dirty[:blocks]}
}

// blocks is what a search knows of consecutive blocks of 64 passages.
type blocks struct {
	rare   []float64 // what rare terms are worth at most, see pruner.boundRare
	common []float64 // likewise frequent terms, of blocks that wait to be visited
}

// reserve makes room for windows of so many blocks, and for so many blocks of
// all pruned views.
func (x *scratch) reserve(all, pruned int) {
	x.taken = 0
	if len(x.all.dirty) < all {
		x.all = window{make([]float64, 64*all), make([]uint64, all)}
	}
	if len(x.parts.rare) < pruned {
		x.parts = blocks{make([]float64, pruned), make([]float64, pruned)}
	}
}

// take gives the blocks of a view, of what is reserved.
func (x *scratch) take(n int) blocks {
	lo := x.taken
	x.taken += n
	return blocks{x.parts.rare[lo:x.taken], x.parts.common[lo:x.taken]}
}

// newList gives a list that is not in use.
func (x *scratch) newList() *list {
	if x.listed == len(x.lists) {
		x.lists = append(x.lists, new(list))
	}
	x.listed++
	return x.lists[x.listed-1]
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
