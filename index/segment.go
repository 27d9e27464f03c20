package index

import (
	"math"
	"math/bits"
	"runtime"
	"sort"
	"time"

	"quern/index/segment"
	"quern/index/segment/vfs"
)

// seg is an open segment, on disk or not yet. It never changes; what does
// change about its passages is in its view.
//
// Passages are numbered from 0, in the order of their pids. Terms are
// numbered from 0 in byte order (their rank), so that ascending order in a
// forward list is the order in which weights are added.
type seg struct {
	*segment.Reader
	name string // of its file; "" while it is only in memory
	data []byte
}

// memorySegment opens what was just written to memory.
func memorySegment(data []byte) (*seg, error) {
	r, err := segment.Open(data, true)
	if err != nil {
		return nil, err
	}
	return &seg{Reader: r, data: data}, nil
}

// fileSegment maps a file. The map lasts as long as anything holds the seg.
func fileSegment(fs vfs.FS, name string) (*seg, error) {
	m, err := fs.Map(name)
	if err != nil {
		return nil, err
	}
	r, err := segment.Open(m.Data, false)
	if err != nil {
		_ = m.Close() // the error above is the one to tell
		return nil, err
	}
	s := &seg{Reader: r, name: name, data: m.Data}
	runtime.AddCleanup(s, func(m *vfs.Mapping) { _ = m.Close() }, m)
	return s, nil
}

// view is a segment as a snapshot sees it.
type view struct {
	*seg
	// first bounds the pids: those of earlier views are lower, those of this
	// one and later ones are not.
	first    uint64
	live     int            // passages that are not dead
	liveDocs int            // document records that are not dead
	dead     pages[uint64]  // a bit for each passage
	deadDocs pages[uint64]  // a bit for each document record
	norms    pages[float64] // square of each passage's reference norm, see drift.go
	// floors bounds, for each 64 passages, their reference norms from
	// below and their roots from above.
	floors pages[normFloor]
	// shifts says, for each 64 passages, how far norms have moved since the
	// segment was written, if it has maxima; superShifts, for shiftBlocks
	// times as many.
	shifts, superShifts pages[normShift]
	// since is when the first of what is dead died; zero if nothing is.
	since time.Time
	// derived is the snapshot's.
	derived *seg
}

func newView(txn uint64, s *seg, first uint64) view {
	v := view{seg: s, first: first, live: s.Passages(), liveDocs: s.Documents()}
	v.dead.grow(txn, (s.Passages()+63)/64)
	v.deadDocs.grow(txn, (s.Documents()+63)/64)
	v.norms.grow(txn, s.Passages())
	v.floors.grow(txn, (s.Passages()+63)/64)
	if s.HasMaxima() {
		v.shifts.grow(txn, (s.Passages()+63)/64)
		v.superShifts.grow(txn, (s.Passages()+64*shiftBlocks-1)/(64*shiftBlocks))
	}
	return v
}

// shiftBlocks is how many blocks share a normShift: no fewer than make a
// superblock.
const shiftBlocks = 64

// normShift bounds, from above, what the reference norms of some passages have
// to do with others: squared, with those that the segment keeps, and their roots
// with them.
type normShift struct{ grown, root float32 }

// least is what a true norm is at least, as a part of the norm that the segment
// keeps.
func (s normShift) least(drift float64) float64 {
	rest := 1 - drift*float64(s.root)
	if rest <= 0 {
		return 0
	}
	return rest / math.Sqrt(float64(s.grown))
}

// shiftOf is the shift of one passage, whose reference norm is norm2, squared.
func (v *view) shiftOf(local int, norm2 float64) normShift {
	if norm2 <= 0 {
		return normShift{float32(math.Inf(1)), float32(math.Inf(1))}
	}
	return normShift{above(float64(v.Norm2(local)) / norm2), above(float64(v.Root(local)) / math.Sqrt(norm2))}
}

// and bounds what either bounds.
func (s normShift) and(t normShift) normShift {
	return normShift{max(s.grown, t.grown), max(s.root, t.root)}
}

// noteShift follows a passage's reference norm.
func (v *view) noteShift(txn uint64, local int, norm2 float64) {
	n := v.shiftOf(local, norm2)
	raise(&v.shifts, txn, local/64, n)
	raise(&v.superShifts, txn, local/(64*shiftBlocks), n)
}

// raise makes an entry no less than n.
func raise(p *pages[normShift], txn uint64, i int, n normShift) {
	if s := p.at(i); n.grown > s.grown || n.root > s.root {
		p.set(txn, i, n.and(s))
	}
}

// above is a float32 above x.
func above(x float64) float32 { return math.Nextafter32(float32(x), float32(math.Inf(1))) }

// normFloor bounds the norms of 64 passages; zero is no bound.
type normFloor struct{ norm, root float32 }

// setNorm sets the square of a passage's reference norm.
func (v *view) setNorm(txn uint64, local int, norm2 float64) {
	v.norms.set(txn, local, norm2)
	if v.isDead(local) {
		return // what is dead need not be bounded
	}
	if v.HasMaxima() {
		v.noteShift(txn, local, norm2)
	}
	f := v.floors.at(local / 64)
	norm := math.Nextafter32(float32(math.Sqrt(max(norm2, 0))), 0)
	root := v.Root(local)
	if f.root != 0 && f.norm <= norm && f.root >= root {
		return
	}
	if f.root == 0 {
		f = normFloor{norm, root}
	}
	v.floors.set(txn, local/64, normFloor{min(f.norm, norm), max(f.root, root)})
}

// adoptNorms takes all norms, squared, from where they lie.
func (v *view) adoptNorms(txn uint64, norm2 func(i int) float64) {
	v.norms = pagesOn(txn, v.Passages(), norm2)
	var block [pageSize]float64
	for lo := 0; lo < v.Passages(); lo += pageSize {
		n := min(pageSize, v.Passages()-lo)
		for i := range n {
			block[i] = norm2(lo + i)
		}
		v.boundNorms(txn, lo/pageSize, block[:n])
	}
}

// normWriter sets the norms of all passages of a view, in order: quicker than
// one by one, and the bounds are as near as they can be.
type normWriter struct {
	*view
	txn  uint64
	n    int // passages so far
	page []float64
}

func (w *normWriter) add(norm2 float64) {
	if w.n%pageSize == 0 {
		w.end()
		w.page = w.norms.editPage(w.txn, w.n)
	}
	w.page[w.n%pageSize] = norm2
	w.n++
}

// end bounds the page that is written: a page of norms has a floor of its own.
func (w *normWriter) end() {
	if len(w.page) > 0 {
		w.boundNorms(w.txn, (w.n-1)/pageSize, w.page)
		w.page = nil
	}
}

// boundNorms states the bounds of a block of passages, whose norms are all new.
// Blocks come in order.
func (v *view) boundNorms(txn uint64, block int, norms2 []float64) {
	least, root, grown, ratio := math.Inf(1), float32(0), 0.0, 0.0
	dead := v.dead.at(block)
	for i, norm2 := range norms2 {
		if dead>>i&1 != 0 {
			continue
		}
		r := v.Root(block*pageSize + i)
		least, root = min(least, norm2), max(root, r)
		if v.HasMaxima() {
			if norm2 <= 0 {
				grown, ratio = math.Inf(1), math.Inf(1)
				continue
			}
			grown = max(grown, float64(v.Norm2(block*pageSize+i))/norm2)
			ratio = max(ratio, float64(r)*float64(r)/norm2)
		}
	}
	v.setShift(txn, block, normShift{above(grown), above(math.Sqrt(ratio))})
	f := normFloor{} // all are dead
	if root != 0 {
		f = normFloor{math.Nextafter32(float32(math.Sqrt(max(least, 0))), 0), root}
	}
	v.floors.set(txn, block, f)
}

// setShift states the shift of a block, whose norms are all new.
func (v *view) setShift(txn uint64, block int, shift normShift) {
	if !v.HasMaxima() {
		return
	}
	v.shifts.set(txn, block, shift)
	if super := block / shiftBlocks; block%shiftBlocks == 0 {
		v.superShifts.set(txn, super, shift)
	} else {
		raise(&v.superShifts, txn, super, shift)
	}
}

// A block of floors, and of the dead, is a page of norms.
const _ = uint(pageSize-64) + uint(64-pageSize)

// least is a lower bound of the true norms of a block of 64 passages.
func (v *view) least(block int, drift float64) float64 {
	f := v.floors.at(block)
	return float64(f.norm) - drift*float64(f.root)
}

// blocks is the number of blocks of 64 passages.
func (v *view) blocks() int { return (v.Passages() + 63) / 64 }

// weight is what merging the view costs.
func (v *view) weight() int { return v.live + v.liveDocs }

func (v *view) isDead(local int) bool { return v.dead.at(local/64)>>(local%64)&1 != 0 }

func (v *view) isDeadDoc(ord int) bool { return v.deadDocs.at(ord/64)>>(ord%64)&1 != 0 }

// kill marks a live passage as dead.
func (v *view) kill(txn uint64, local int) {
	*v.dead.edit(txn, local/64) |= 1 << (local % 64)
	v.live--
	v.mourn()
}

// killDoc marks a live document record as dead.
func (v *view) killDoc(txn uint64, ord int) {
	*v.deadDocs.edit(txn, ord/64) |= 1 << (ord % 64)
	v.liveDocs--
	v.mourn()
}

func (v *view) mourn() {
	if v.since.IsZero() {
		v.since = time.Now()
	}
}

// eachLive calls f with every passage that is not dead, in order.
func (v *view) eachLive(f func(local int)) { eachClear(&v.dead, v.Passages(), f) }

// eachLiveDoc calls f with every document record that is not dead, in order.
func (v *view) eachLiveDoc(f func(ord int)) { eachClear(&v.deadDocs, v.Documents(), f) }

// eachClear calls f with the numbers below n whose bit is not set.
func eachClear(set *pages[uint64], n int, f func(i int)) {
	for w := range set.len() {
		clear := ^set.at(w)
		if rest := n - 64*w; rest < 64 {
			clear &= 1<<rest - 1
		}
		for ; clear != 0; clear &= clear - 1 {
			f(64*w + bits.TrailingZeros64(clear))
		}
	}
}

// bitsOf copies a set for those who read it as one piece.
func bitsOf(set *pages[uint64]) segment.Bits {
	out := make(segment.Bits, set.len())
	for i := range out {
		out[i] = set.at(i)
	}
	return out
}

// locate finds a passage among views, which are in the order of their pids.
func locate(views []view, pid uint64) (i, local int, ok bool) {
	i = sort.Search(len(views), func(i int) bool { return views[i].first > pid }) - 1
	if i < 0 {
		return 0, 0, false
	}
	local, ok = views[i].FindPassage(pid)
	return i, local, ok
}

// terms reads the forward list of a passage.
func (v *view) terms(local int, buf []segment.TermTF) []segment.TermTF {
	terms, err := v.Forward(local, buf)
	v.must(err)
	return terms
}

// read begins to read the postings of a term.
func (v *view) read(rank int, p *segment.Postings) { v.must(v.Postings(rank, p)) }

// rank finds a term.
func (v *view) rank(term []byte) (int, bool) {
	rank, ok, err := v.Lookup(term)
	v.must(err)
	return rank, ok
}

// name appends a term's bytes to buf.
func (v *view) termName(rank int, buf []byte) []byte {
	buf, err := v.Term(rank, buf)
	v.must(err)
	return buf
}

// text reads the text of a passage, valid until buf is used again.
func (v *view) text(local int, buf *segment.TextBuffer) []byte {
	text, err := v.Text(local, buf)
	v.must(err)
	return text
}
