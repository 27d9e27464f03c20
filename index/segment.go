package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// segment holds the postings and the forward lists of some passages. It
// never changes; what does change about its passages is in its view.
//
// Passages are numbered from 0, in the order of their pids. Terms are
// numbered from 0 in byte order (their rank), so that ascending order in a
// forward list is the order in which weights are added.
type segment struct {
	terms []uint32 // rank → number in the term table
	ids   []uint32 // the same numbers, ascending …
	ranks []uint32 // … and the rank of each

	postings lists // by rank: (passage, tf)
	forward  lists // by passage: (rank, tf)

	pids    []uint64  // ascending
	docs    []uint32  // slot of each passage's document
	lengths []uint32  // |p|, heading terms included where they count
	squares []squares // of each passage's tf weights
}

// squares are sums over the terms of a passage, under either weighting of tf.
// As a constant of the passage they are Σ a²; as its norm, Σ (a·îdf)².
type squares struct{ log, raw float64 }

// of chooses the weighting.
func (s squares) of(raw bool) float64 {
	if raw {
		return s.raw
	}
	return s.log
}

// lists are byte-coded lists of (number, tf) pairs, one after the other.
type lists struct {
	offsets []uint64 // where each list starts, and where the last one ends
	data    []byte
}

func (l *lists) list(i int) []byte { return l.data[l.offsets[i]:l.offsets[i+1]] }

// end closes the list being written.
func (l *lists) end() { l.offsets = append(l.offsets, uint64(len(l.data))) }

// appendPair codes a pair: the gap to the number before, shifted by one, with
// the low bit set if a tf other than 1 follows.
func appendPair(b []byte, gap, tf uint32) []byte {
	if tf == 1 {
		return binary.AppendUvarint(b, uint64(gap)<<1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(gap)<<1|1), uint64(tf))
}

// pairs reads a list. The first number is coded as a gap from -1 and every
// gap is one less than the difference.
type pairs struct {
	b  []byte
	id uint32 // the number after the last one read
	tf uint32
}

func readPairs(b []byte) pairs { return pairs{b: b} }

// next reads a pair: its number and tf.
func (p *pairs) next() (id, tf uint32, ok bool) {
	if len(p.b) == 0 {
		return 0, 0, false
	}
	g := p.uvarint()
	tf = 1
	if g&1 != 0 {
		tf = uint32(p.uvarint())
	}
	id = p.id + uint32(g>>1)
	p.id = id + 1
	return id, tf, true
}

func (p *pairs) uvarint() (v uint64) {
	v, p.b = uvarint(p.b)
	return v
}

// uvarint reads a number and returns what follows it.
func uvarint(b []byte) (uint64, []byte) {
	if v := b[0]; v < 0x80 {
		return uint64(v), b[1:]
	}
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

// rank finds a term by its number.
func (s *segment) rank(id uint32) (int, bool) {
	i, ok := slices.BinarySearch(s.ids, id)
	if !ok {
		return 0, false
	}
	return int(s.ranks[i]), true
}

// setTerms fills terms, ids and ranks.
func (s *segment) setTerms(terms []uint32) {
	s.terms = terms
	s.ranks = make([]uint32, len(terms))
	for i := range s.ranks {
		s.ranks[i] = uint32(i)
	}
	slices.SortFunc(s.ranks, func(a, b uint32) int { return int(int64(terms[a]) - int64(terms[b])) })
	s.ids = make([]uint32, len(terms))
	for i, r := range s.ranks {
		s.ids[i] = terms[r]
	}
}

func (s *segment) len() int { return len(s.pids) }

// bytes estimates the memory of the segment.
func (s *segment) bytes() int64 {
	n := 12*len(s.terms) + 32*s.len()
	for _, l := range []*lists{&s.postings, &s.forward} {
		n += len(l.data) + 8*len(l.offsets)
	}
	return int64(n)
}

// view is a segment as a snapshot sees it.
type view struct {
	*segment
	live    int            // passages that are not dead
	dead    pages[uint64]  // a bit for each passage
	numbers pages[uint32]  // each passage's number within its document
	norms   pages[squares] // each passage's reference norm, see drift.go
}

func newView(txn uint64, s *segment) view {
	v := view{segment: s, live: s.len()}
	v.dead.grow(txn, (s.len()+63)/64)
	v.numbers.grow(txn, s.len())
	v.norms.grow(txn, s.len())
	return v
}

func (v *view) isDead(local int) bool { return v.dead.at(local/64)>>(local%64)&1 != 0 }

// kill marks a live passage as dead.
func (v *view) kill(txn uint64, local int) {
	*v.dead.edit(txn, local/64) |= 1 << (local % 64)
	v.live--
}

// eachLive calls f with every passage that is not dead, in order.
func (v *view) eachLive(f func(local int)) {
	for w := range v.dead.len() {
		alive := ^v.dead.at(w)
		if rest := v.len() - 64*w; rest < 64 {
			alive &= 1<<rest - 1
		}
		for ; alive != 0; alive &= alive - 1 {
			f(64*w + bits.TrailingZeros64(alive))
		}
	}
}

// locate finds a live passage among views, which are in the order of their
// pids. The passage must be there.
func locate(views []view, pid uint64) (segment, local int) {
	segment = sort.Search(len(views), func(i int) bool { return views[i].pids[0] > pid }) - 1
	local, _ = slices.BinarySearch(views[segment].pids, pid)
	return segment, local
}
