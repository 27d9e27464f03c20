package index

import (
	"context"
	"math"
	"math/bits"
	"slices"

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

// visitAll is when not to prune: a query whose terms have no more postings than
// this, all together, visits them all and counts its hits exactly.
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
	if r.limit <= 0 || r.o.Count || r.selective || r.unchecked || r.q.model == TFIDF && r.q.raw {
		return false
	}
	postings := 0
	for i := range r.q.terms {
		postings += r.q.terms[i].df
	}
	return postings > r.s.engine.opts.visitAll
}

// frequent reports whether only parts of a term's postings in a view are to be
// read.
func (r *run) frequent(v *view, w present) bool {
	return r.pruning && v.TermHasMaxima(int(w.rank))
}

// anyFrequent reports whether the view has a frequent term of the query.
func (r *run) anyFrequent(i int) bool {
	v := &r.s.views[i]
	return slices.ContainsFunc(r.wanted[i], func(w present) bool { return r.frequent(v, w) })
}

// pruned is a view of which only some blocks are visited.
type pruned struct {
	*view
	i      uint32
	window // on the sums of its passages
	lists  []*blockList
	super  uint         // log2 of blocks in a superblock
	waits  segment.Bits // blocks to be visited
}

// split reads the postings of the view's rare terms, and begins to read those of
// its frequent ones.
func (r *run) split(i int) (*pruned, error) {
	v := &r.s.views[i]
	p := &pruned{view: v, i: uint32(i), window: r.take(v.Passages()), waits: segment.NewBits(v.blocks())}
	p.super, _ = v.SuperBlocks()
	inOrder := true
	for n, w := range r.wanted[i] {
		if n%16 == 0 && r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		if !r.frequent(v, w) {
			inOrder = inOrder && len(p.lists) == 0
			r.accumulate(&p.window, v, w)
			continue
		}
		l := r.newList()
		l.open(v, int(w.rank), &r.q.terms[w.term], r.q)
		p.lists = append(p.lists, l)
	}
	if !inOrder && len(r.wanted[i]) > 2 { // of two, either order gives the same
		r.outOfOrder = true
	}
	return p, nil
}

func (l *blockList) open(v *view, rank int, t *queryTerm, q *query) {
	l.t = t
	v.read(rank, &l.Postings)
	l.maxima, _ = l.Postings.Maxima()
	if q.model == TFIDF {
		l.factor = q.factor(l.t)
		for code, impact := range l.maxima.MaxImpacts() {
			l.worth[code] = impact * l.factor
		}
	}
}

// pruner visits the blocks of the pruned views.
type pruner struct {
	*run
	views  []*pruned
	order  []candidate // superblocks: bound, place in views, and number as local
	common [64]float64 // by block of a superblock: what frequent terms are worth
}

// firstSupers is how many superblocks are looked at first, to have a floor for
// the others.
const firstSupers = 8

// prune visits the blocks of views that may hold one of the best, when the rare
// terms have been added up.
func (r *run) prune(views []*pruned) error {
	p := &pruner{run: r, views: views, order: r.supers[:0]}
	for i := range views {
		p.boundRare(views[i])
		p.boundSupers(i)
	}
	r.supers = p.order
	heapify(p.order)
	for n := firstSupers; len(p.order) > 0; n = len(p.order) {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		p.expand(n)
		p.visitWaiting()
	}
	for _, v := range views {
		v.discard()
		for _, l := range v.lists {
			v.must(l.Err())
			r.visited += l.Decoded
		}
	}
	return nil
}

// expand bounds the blocks of the n superblocks with the highest bounds.
func (p *pruner) expand(n int) {
	p.waiting = p.waiting[:0]
	for ; n > 0 && len(p.order) > 0; n-- {
		s := p.order[0]
		if p.below(s.upper) {
			p.partial = p.partial || s.upper > 0
			p.order = nil
			return
		}
		p.order = popCandidate(p.order)
		p.boundBlocks(p.views[s.view], s.view, int(s.local))
	}
}

// below reports whether no passage of this bound can be among the best.
func (p *pruner) below(upper float64) bool { return upper*(1+roundingSlack) < p.floor.Value() }

// boundRare bounds, by block, what the rare terms are worth. Where they do not
// occur it is zero.
func (p *pruner) boundRare(v *pruned) {
	for b, w := range v.dirty {
		if w == 0 {
			continue
		}
		most, sums := 0.0, v.sums[64*b:64*b+64]
		for ; w != 0; w &= w - 1 {
			most = max(most, sums[bits.TrailingZeros64(w)])
		}
		if p.q.model == TFIDF {
			most = over(most, v.least(b, p.s.drift))
		}
		v.rare[b] = most
	}
}

// over divides by what is positive, if anything.
func over(a, b float64) float64 {
	if b <= 0 {
		return math.Inf(1)
	}
	return a / b
}

// boundSupers bounds the scores in every superblock of a view.
func (p *pruner) boundSupers(i int) {
	v, first := p.views[i], len(p.order)
	_, n := v.SuperBlocks()
	for s := range n {
		p.order = append(p.order, candidate{view: uint32(i), local: uint32(s)})
	}
	supers := p.order[first:]
	for _, l := range v.lists {
		if p.q.model == TFIDF {
			for s, code := range l.maxima.Supers {
				supers[s].upper += l.worth[code>>4]
			}
			continue
		}
		for s, code := range l.maxima.Supers {
			supers[s].upper += l.bm25(code, p.lengthNorm(p.q, v.SuperLength(s)))
		}
	}
	for s := range supers {
		rare := 0.0
		for _, x := range v.rare[s<<v.super : min((s+1)<<v.super, v.blocks())] {
			rare = max(rare, x)
		}
		supers[s].upper = over(supers[s].upper, p.shrunk(v, s)) + rare
	}
}

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
func (p *pruner) shrunk(v *pruned, s int) float64 {
	if p.q.model == BM25 {
		return 1
	}
	return v.superShifts.at(s << v.super / shiftBlocks).least(p.s.drift)
}

// boundBlocks bounds the scores in the blocks of a superblock. Those that reach
// the floor are to wait.
func (p *pruner) boundBlocks(v *pruned, i uint32, s int) {
	lo := s << v.super
	hi := min((s+1)<<v.super, v.blocks())
	common := p.common[:hi-lo]
	p.boundCommon(v, lo, common)
	shrunk := p.shrunk(v, s)
	for b := lo; b < hi; b++ {
		upper := over(common[b-lo], shrunk) + v.rare[b]
		switch {
		case upper == 0:
		case p.below(upper):
			p.partial = true
		default:
			p.waiting = append(p.waiting, candidate{p.refine(v, b, common[b-lo]), i, uint32(b)})
		}
	}
}

// boundCommon adds up what the frequent terms are worth in the blocks from lo on.
func (p *pruner) boundCommon(v *pruned, lo int, out []float64) {
	clear(out)
	if p.q.model == TFIDF {
		for _, l := range v.lists {
			for b, code := range l.maxima.Blocks[lo : lo+len(out)] {
				out[b] += l.worth[code>>4]
			}
		}
		return
	}
	for b := range out {
		length := p.lengthNorm(p.q, v.BlockLength(lo+b))
		for _, l := range v.lists {
			out[b] += l.bm25(l.maxima.Blocks[lo+b], length)
		}
	}
}

// refine bounds the scores in a block more closely: by how its own norms have
// moved, and the rare terms passage by passage.
func (p *pruner) refine(v *pruned, b int, common float64) float64 {
	if p.q.model == BM25 {
		return common + v.rare[b]
	}
	most := 0.0
	for w := v.dirty[b]; w != 0; w &= w - 1 {
		j := bits.TrailingZeros64(w)
		_, upper := p.bounds(v.view, 64*b+j, v.sums[64*b+j])
		most = max(most, upper)
	}
	return over(common, v.shifts.at(b).least(p.s.drift)) + most
}

// firstBlocks is how many blocks are visited from the highest bound on, so that
// the floor rises soon.
const firstBlocks = 64

// visitWaiting visits the blocks that wait: first the most promising, then the
// others in the order of their passages, so that no part of a list is decoded
// twice.
func (p *pruner) visitWaiting() {
	most := 0.0
	for i := range p.waiting {
		most = max(most, p.waiting[i].upper)
	}
	sorted := p.sorter.sort(p.waiting, most)
	first := min(firstBlocks, len(sorted))
	for _, b := range sorted[:first] {
		p.visitIf(p.views[b.view], int(b.local), b.upper)
	}
	for _, b := range sorted[first:] {
		v := p.views[b.view]
		v.upper[b.local] = b.upper
		v.waits.Set(int(b.local))
	}
	for _, v := range p.views {
		for i, w := range v.waits {
			v.waits[i] = 0
			for ; w != 0; w &= w - 1 {
				b := 64*i + bits.TrailingZeros64(w)
				p.visitIf(v, b, v.upper[b])
			}
		}
	}
}

// visitIf visits a block if its bound reaches the floor.
func (p *pruner) visitIf(v *pruned, b int, upper float64) {
	if p.allowed != nil && p.allowed[v.i][b] == 0 {
		return
	}
	if p.below(upper) {
		p.partial = true
		return
	}
	p.visit(v, b)
}

// visit adds up a block, and offers its passages.
func (p *pruner) visit(v *pruned, b int) {
	for _, l := range v.lists {
		if l.maxima.Blocks[b] != 0 {
			p.add(v, l, uint32(64*b))
		}
	}
	p.sweepBlock(&v.window, v.i, v.view, b)
}

// add adds a term's part to the sums of the 64 passages from lo on.
func (p *pruner) add(v *pruned, l *blockList, lo uint32) {
	for hi := lo + 64; lo < hi && l.Seek(lo); {
		from := firstFrom(l.Docs, lo)
		to := from
		for to < len(l.Docs) && l.Docs[to] < hi {
			to++
		}
		p.addPostings(&v.window, v.view, l.t, l.factor, l.Docs[from:to], l.TFs[from:to])
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
func (v *pruned) discard() {
	clear(v.rare)
	for b, w := range v.dirty {
		v.dirty[b] = 0
		for ; w != 0; w &= w - 1 {
			v.sums[64*b+bits.TrailingZeros64(w)] = 0
		}
	}
}
