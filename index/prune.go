package index

import (
	"context"
	"math"
	"math/bits"

	"quern/index/segment"
)

// A search for few passages need not visit them all. Segments on disk keep, for
// their frequent terms, the most that a term can be worth in each block of 64
// passages and in each superblock of such blocks (segment.Maxima). The postings
// of the other terms are read whole. What these add up to, and the maxima of the
// frequent terms, bound the scores in each superblock. The superblocks are taken
// from the highest bound on until the bounds are below the floor, and of each
// only the blocks whose own bound reaches it are visited.
//
// Source: Mallia, Suel & Tonellotto, Faster Learned Sparse Retrieval with
// Block-Max Pruning (2024).
//
// The maxima are of a/n̂ as of the time when the segment was written; a view's
// shifts say how far its norms have moved since.

// visitAll: a query whose terms have no more postings than this, all together,
// visits them all and counts its hits exactly.
const visitAll = 10_000

// blockList is a frequent term's postings in a view.
type blockList struct {
	segment.Postings
	maxima segment.TermMaxima
	t      *queryTerm
	factor float64     // TFIDF: of a tf's weight in the sum
	worth  [16]float64 // TFIDF: the most that a code says the term adds
}

// prunes reports whether to look for passages to pass by. Raw counts have no
// lower bound: there is no floor then.
func (r *run) prunes() bool {
	if r.limit <= 0 || r.o.Count || r.q.model == TFIDF && r.q.raw {
		return false
	}
	postings := 0
	for i := range r.q.terms {
		postings += r.q.terms[i].df
	}
	return postings > r.s.engine.opts.visitAll
}

// split reads the postings of a view's rare terms, and begins to read those of
// its frequent ones.
func (r *run) split(v *view, wanted []present) error {
	r.lists = r.lists[:0]
	inOrder := true
	for n, w := range wanted {
		if n%16 == 0 && r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if !r.pruning || !v.TermHasMaxima(int(w.rank)) {
			inOrder = inOrder && len(r.lists) == 0
			r.accumulate(v, w)
			continue
		}
		r.lists = append(r.lists, blockList{t: &r.q.terms[w.term]})
		r.lists[len(r.lists)-1].open(v, int(w.rank), r.q)
	}
	if !inOrder && len(wanted) > 2 { // of two, either order gives the same
		r.outOfOrder = true
	}
	return nil
}

func (l *blockList) open(v *view, rank int, q *query) {
	v.read(rank, &l.Postings)
	l.maxima, _ = l.Postings.Maxima()
	if q.model == TFIDF {
		l.factor = q.factor(l.t)
		for code, impact := range l.maxima.MaxImpacts() {
			l.worth[code] = impact * l.factor
		}
	}
}

// pruner visits the blocks of one view.
type pruner struct {
	*run
	i      uint32
	v      *view
	super  uint        // log2 of blocks in a superblock
	blocks int         // of 64 passages
	order  []candidate // superblocks: the upper bound, and the number as local
	common [64]float64 // by block of a superblock: what frequent terms are worth
}

// firstSupers is how many superblocks are looked at first, to have a floor for
// the others.
const firstSupers = 8

// prune visits the blocks of a view that may hold one of the best, when the rare
// terms have been added up.
func (r *run) prune(i uint32, v *view) error {
	p := &pruner{run: r, i: i, v: v, blocks: (v.Passages() + 63) / 64}
	p.super, _ = v.SuperBlocks()
	p.boundRare()
	p.boundSupers()
	heapify(p.order)
	for n := firstSupers; len(p.order) > 0; n = len(p.order) {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		p.waiting = p.waiting[:0]
		for ; n > 0 && len(p.order) > 0; n-- {
			s := p.order[0]
			if p.below(s.upper) {
				r.partial = r.partial || s.upper > 0
				p.order = nil
				break
			}
			p.order = popCandidate(p.order)
			p.boundBlocks(int(s.local))
		}
		p.visitWaiting()
	}
	p.discard()
	for n := range r.lists {
		v.must(r.lists[n].Err())
		r.visited += r.lists[n].Decoded
	}
	return nil
}

// below reports whether no passage of this bound can be among the best.
func (p *pruner) below(upper float64) bool { return upper*(1+roundingSlack) < p.floor.Value() }

// boundRare bounds, by block, what the rare terms are worth. Where they do not
// occur it is zero.
func (p *pruner) boundRare() {
	if len(p.rare) < p.blocks {
		p.rare = make([]float64, p.blocks)
	}
	for b, w := range p.dirty[:p.blocks] {
		if w == 0 {
			continue
		}
		most, sums := 0.0, p.sums[64*b:64*b+64]
		for ; w != 0; w &= w - 1 {
			most = max(most, sums[bits.TrailingZeros64(w)])
		}
		if p.q.model == TFIDF {
			most = over(most, p.v.least(b, p.s.drift))
		}
		p.rare[b] = most
	}
}

// over divides by what is positive, if anything.
func over(a, b float64) float64 {
	if b <= 0 {
		return math.Inf(1)
	}
	return a / b
}

// boundSupers bounds the scores in every superblock.
func (p *pruner) boundSupers() {
	_, n := p.v.SuperBlocks()
	p.order = p.supers[:0]
	for s := range n {
		p.order = append(p.order, candidate{local: uint32(s)})
	}
	p.supers = p.order
	for i := range p.lists {
		l := &p.lists[i]
		if p.q.model == TFIDF {
			for s, code := range l.maxima.Supers {
				p.order[s].upper += l.worth[code>>4]
			}
			continue
		}
		for s, code := range l.maxima.Supers {
			p.order[s].upper += l.bm25(code, p.superLength(s))
		}
	}
	for s := range p.order {
		rare := 0.0
		for _, x := range p.rare[s<<p.super : min((s+1)<<p.super, p.blocks)] {
			rare = max(rare, x)
		}
		p.order[s].upper = over(p.order[s].upper, p.shrunk(s)) + rare
	}
}

// superLength is what the shortest passage of a superblock adds to tf.
func (p *pruner) superLength(s int) float64 { return p.lengthNorm(p.q, p.v.SuperLength(s)) }

// bm25 is the most that a BM25 term adds, by its code, to the score of a passage
// whose length adds as much to tf.
func (l *blockList) bm25(code byte, length float64) float64 {
	tf := maxTFs[code&15]
	if tf == 0 {
		return 0
	}
	return l.t.weight * tf / (tf + length)
}

// maxTFs are finite, so that tf/(tf+length) is a number.
var maxTFs = func() [16]float64 {
	t := segment.MaxTFs()
	for i := range t {
		t[i] = min(t[i], 1e300)
	}
	return t
}()

// shrunk is how small the norms of a superblock's passages may have become: the
// least that a norm may be, as a part of what it was when the maxima were made.
func (p *pruner) shrunk(s int) float64 {
	if p.q.model == BM25 {
		return 1
	}
	return p.v.superShifts.at(s << p.super / shiftBlocks).least(p.s.drift)
}

// boundBlocks bounds the scores in the blocks of a superblock. Those that reach
// the floor are to wait.
func (p *pruner) boundBlocks(s int) {
	lo := s << p.super
	hi := min((s+1)<<p.super, p.blocks)
	common := p.common[:hi-lo]
	p.boundCommon(lo, common)
	shrunk := p.shrunk(s)
	for b := lo; b < hi; b++ {
		upper := over(common[b-lo], shrunk) + p.rare[b]
		switch {
		case upper == 0:
		case p.below(upper):
			p.partial = true
		default:
			p.waiting = append(p.waiting, candidate{upper: p.refine(b, common[b-lo]), local: uint32(b)})
		}
	}
}

// boundCommon adds up what the frequent terms are worth in the blocks from lo on.
func (p *pruner) boundCommon(lo int, out []float64) {
	clear(out)
	if p.q.model == TFIDF {
		for i := range p.lists {
			l := &p.lists[i]
			for b, code := range l.maxima.Blocks[lo : lo+len(out)] {
				out[b] += l.worth[code>>4]
			}
		}
		return
	}
	for b := range out {
		length := p.lengthNorm(p.q, p.v.BlockLength(lo+b))
		for i := range p.lists {
			l := &p.lists[i]
			out[b] += l.bm25(l.maxima.Blocks[lo+b], length)
		}
	}
}

// refine bounds the scores in a block more closely: by how its own norms have
// moved, and the rare terms passage by passage.
func (p *pruner) refine(b int, common float64) float64 {
	if p.q.model == BM25 {
		return common + p.rare[b]
	}
	most := 0.0
	for w := p.dirty[b]; w != 0; w &= w - 1 {
		j := bits.TrailingZeros64(w)
		_, upper := p.bounds(p.v, 64*b+j, p.sums[64*b+j])
		most = max(most, upper)
	}
	return over(common, p.v.shifts.at(b).least(p.s.drift)) + most
}

// visitWaiting visits the blocks that wait, about from the highest bound on, so
// that the floor rises soon; those of about the same bound in their order.
func (p *pruner) visitWaiting() {
	most := 0.0
	for i := range p.waiting {
		most = max(most, p.waiting[i].upper)
	}
	for _, b := range p.sorter.sort(p.waiting, most) {
		if p.below(b.upper) {
			p.partial = true
			continue
		}
		p.visit(int(b.local))
	}
}

// visit adds up a block, and offers its passages.
func (p *pruner) visit(b int) {
	p.nblocks++
	for i := range p.lists {
		if l := &p.lists[i]; l.maxima.Blocks[b] != 0 {
			p.add(l, uint32(64*b))
		}
	}
	p.rare[b] = 0
	if w := p.dirty[b]; w != 0 {
		p.dirty[b] = 0
		p.sweepBlock(p.i, p.v, b, w)
	}
}

// add adds a term's part to the sums of the 64 passages from lo on.
func (p *pruner) add(l *blockList, lo uint32) {
	for hi := lo + 64; lo < hi && l.Seek(lo); {
		from := firstFrom(l.Docs, lo)
		to := from
		for to < len(l.Docs) && l.Docs[to] < hi {
			to++
		}
		p.addPostings(p.v, l.t, l.factor, l.Docs[from:to], l.TFs[from:to])
		if to < len(l.Docs) {
			return
		}
		lo = l.Docs[to-1] + 1
	}
}

// firstFrom is where in ascending numbers the first ≥ n is.
func firstFrom(numbers []uint32, n uint32) int {
	lo, hi := 0, len(numbers)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); numbers[m] < n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// discard forgets the sums of the blocks that were not visited.
func (p *pruner) discard() {
	for b, w := range p.dirty[:p.blocks] {
		if w == 0 {
			continue
		}
		p.dirty[b], p.rare[b] = 0, 0
		for ; w != 0; w &= w - 1 {
			p.sums[64*b+bits.TrailingZeros64(w)] = 0
		}
	}
}
