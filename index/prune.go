package index

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"quern/index/segment"
)

// A search for few passages need not visit them all. Segments on disk keep, for
// their frequent terms, the most that a term can be worth in each block of 64
// passages and in each superblock of such blocks (segment.Maxima). The postings
// of the other terms are read whole. What these add up to, and the maxima of the
// frequent terms, bound the scores in each superblock. The superblocks are taken
// from the highest bound on until the bounds are below the floor, and of each
// only the blocks whose own bound reaches it are visited: side by side when they
// are many, with one floor for all.
//
// Source: Mallia, Suel & Tonellotto, Faster Learned Sparse Retrieval with
// Block-Max Pruning (2024).
//
// The maxima are of a/n̂ as of the time when the segment was written; a view's
// shifts say how far its norms have moved since.

// visitAll is when not to prune: a query whose terms have no more postings than
// this, all together, visits them all and counts its hits exactly.
const visitAll = 10_000

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
	i      uint32 // in the snapshot
	n      int    // in pruner.views
	blocks        // what is known of them
	lists  []*list
	super  uint // log2 of blocks in a superblock
	first  int  // of its superblocks, in pruner.order

	touched segment.Bits // blocks that have rare terms
	waits   segment.Bits // blocks to be visited
}

// split opens the postings of a view's terms.
func (r *run) split(i int) *pruned {
	v, w := &r.s.views[i], r.visitor(0)
	p := &pruned{view: v, i: uint32(i), blocks: r.take(v.blocks())}
	p.touched, p.waits = segment.NewBits(v.blocks()), segment.NewBits(v.blocks())
	p.super, _ = v.SuperBlocks()
	for _, t := range r.wanted[i] {
		l := r.newList()
		l.open(v, t, r.q, r.frequent(v, t), &w.list)
		p.lists = append(p.lists, l)
	}
	return p
}

// pruner visits the blocks of the pruned views.
type pruner struct {
	*run
	views []*pruned
	order []candidate // superblocks: bound, place in views, and number as local
}

const (
	// firstSupers is how many superblocks are looked at first, to have a floor
	// for the others; moreSupers, how many times as many each time after.
	firstSupers = 8
	moreSupers  = 4
	// firstBlocks is how many blocks are visited from the highest bound on, so
	// that the floor rises soon.
	firstBlocks = 64

	// Work is shared out when there is more of it than this: postings of rare
	// terms, maxima, and blocks to be visited, each for every term.
	manyPostings = 1 << 16
	manyMaxima   = 1 << 16
	manyBlocks   = 1 << 10
	// runOfBlocks is how many blocks are visited in a row.
	runOfBlocks = 32
)

// prune visits the blocks of views that may hold one of the best.
func (r *run) prune(views []*pruned) error {
	p := &pruner{run: r, views: views, order: r.supers[:0]}
	if err := p.readRare(); err != nil {
		return err
	}
	for i, v := range views {
		v.n = i
		p.addSupers(v)
		p.boundRare(v)
		p.boundSupers(v)
	}
	r.supers = p.order
	heapify(p.order)
	for n := firstSupers; len(p.order) > 0; n *= moreSupers {
		if err := p.expand(n); err != nil {
			return err
		}
		if err := p.visitWaiting(); err != nil {
			return err
		}
	}
	for _, v := range views {
		v.forget()
		for _, w := range r.visitors[:r.visiting] {
			w.decoded += w.endCursors(v)
		}
	}
	return nil
}

// spread calls f(w, 0) … f(w, n-1) from several goroutines, each with a visitor
// of its own, if many. They all end before it returns.
func (r *run) spread(many bool, n int, f func(w *visitor, i int)) error {
	var next atomic.Int64
	work := func(w *visitor) {
		for i := int(next.Add(1)) - 1; i < n && r.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			f(w, i)
		}
	}
	helpers := 0
	if many || r.s.engine.opts.visitAll == 0 {
		helpers = min(r.s.engine.opts.Threads, n) - 1
	}
	var wg sync.WaitGroup
	defer wg.Wait() // also when work panics
	damage := make([]error, max(helpers, 0))
	for k := range damage {
		w := r.visitor(k + 1)
		wg.Go(func() { damage[k] = guard(r.s.views, func() { work(w) }) })
	}
	work(r.visitor(0))
	wg.Wait()
	for _, d := range damage {
		if d != nil {
			panic(d) // for the guard of the search
		}
	}
	return context.Cause(r.ctx)
}

// readRare reads the lists of rare terms.
func (p *pruner) readRare() error {
	type rare struct {
		*list
		v *view
	}
	var all []rare
	postings := 0
	for _, v := range p.views {
		for _, l := range v.lists {
			if !l.frequent {
				all = append(all, rare{l, v.view})
				postings += v.DF(l.rank)
			}
		}
	}
	return p.spread(postings > manyPostings, len(all), func(w *visitor, i int) {
		w.decoded += all[i].readAll(all[i].v, &w.list)
	})
}

// expand bounds the blocks of the n superblocks with the highest bounds.
func (p *pruner) expand(n int) error {
	var supers []candidate
	for ; n > 0 && len(p.order) > 0; n-- {
		s := p.order[0]
		if p.below(s.upper) {
			w := p.visitor(0)
			w.partial = w.partial || s.upper > 0
			p.order = nil
			break
		}
		supers = append(supers, s)
		p.order = popCandidate(p.order)
	}
	maxima := 0
	for _, s := range supers {
		maxima += len(p.views[s.view].lists) << p.views[s.view].super
	}
	return p.spread(maxima > manyMaxima, len(supers), func(w *visitor, i int) {
		w.boundBlocks(p.views[supers[i].view], int(supers[i].local))
	})
}

// below reports whether no passage of this bound can be among the best.
func (r *run) below(upper float64) bool { return upper*(1+roundingSlack) < r.floor.Value() }

// boundRare bounds, by block and by superblock, what the rare terms are worth.
// Where they do not occur it is zero.
func (p *pruner) boundRare(v *pruned) {
	w := p.visitor(0)
	for _, l := range v.lists {
		if !l.frequent {
			l.bound(w, v.view, v.rare)
			for i, word := range l.has {
				v.touched[i] |= word
			}
		}
	}
	for i, word := range v.touched {
		for ; word != 0; word &= word - 1 {
			b := 64*i + bits.TrailingZeros64(word)
			if p.q.model == TFIDF {
				v.rare[b] = over(v.rare[b], v.least(b, p.s.drift))
			}
			super := &p.order[v.first+b>>v.super].upper
			*super = max(*super, v.rare[b])
		}
	}
}

// forget clears what is known of the blocks.
func (v *pruned) forget() {
	for i, word := range v.touched {
		for ; word != 0; word &= word - 1 {
			v.rare[64*i+bits.TrailingZeros64(word)] = 0
		}
	}
}

// over divides by what is positive, if anything.
func over(a, b float64) float64 {
	if b <= 0 {
		return math.Inf(1)
	}
	return a / b
}

// addSupers makes room for the bounds of a view's superblocks.
func (p *pruner) addSupers(v *pruned) {
	v.first = len(p.order)
	_, n := v.SuperBlocks()
	for s := range n {
		p.order = append(p.order, candidate{view: uint32(v.n), local: uint32(s)})
	}
}

// boundSupers bounds the scores in every superblock of a view, of which the
// rare terms' part is there.
func (p *pruner) boundSupers(v *pruned) {
	supers, w := p.order[v.first:], p.visitor(0)
	common := slices.Grow(p.worth[:0], len(supers))[:len(supers)]
	p.worth = common
	clear(common)
	for _, l := range v.lists {
		switch {
		case !l.frequent:
		case p.q.model == TFIDF:
			for s, code := range l.maxima.Supers {
				common[s] += l.worth[code>>4]
			}
		default:
			for s, code := range l.maxima.Supers {
				common[s] += l.bm25(code&15, w.lengthNorm(v.SuperLength(s)))
			}
		}
	}
	for s := range supers {
		supers[s].upper += over(common[s], p.shrunk(v, s))
	}
}

// shrunk is how small the norms of a superblock's passages may have become: the
// least that a norm may be, as a part of what it was when the maxima were made.
func (r *run) shrunk(v *pruned, s int) float64 {
	if r.q.model == BM25 {
		return 1
	}
	return v.superShifts.at(s << v.super / shiftBlocks).least(r.s.drift)
}

// boundBlocks bounds the scores in the blocks of a superblock. Those that reach
// the floor are to wait.
func (w *visitor) boundBlocks(v *pruned, s int) {
	lo, hi := s<<v.super, min((s+1)<<v.super, len(v.rare))
	common, rare := w.common[:hi-lo], v.rare[lo:hi]
	w.boundCommon(v, s, lo, common)
	grown, floor := over(1, w.shrunk(v, s)), w.floor.Value()*(1-roundingSlack)
	for i, c := range common {
		if c > 0 {
			c *= grown
		}
		if upper := c + rare[i]; upper < floor {
			w.partial = w.partial || upper > 0
		} else if upper > 0 {
			w.wait(v, lo+i, common[i])
		}
	}
}

// wait has a block visited, in which frequent terms are worth common.
func (w *visitor) wait(v *pruned, b int, common float64) {
	if w.q.model == TFIDF { // how far the block's own norms have moved
		common = over(common, v.shifts.at(b).least(w.s.drift))
	}
	v.common[b] = common
	w.waiting = append(w.waiting, candidate{common + v.rare[b], uint32(v.n), uint32(b)})
}

// boundCommon adds up what the frequent terms are worth in the blocks from lo on,
// all of superblock s.
func (w *visitor) boundCommon(v *pruned, s, lo int, out []float64) {
	clear(out)
	for _, l := range v.lists {
		if !l.frequent {
			continue
		}
		codes := l.maxima.Blocks[lo : lo+len(out)]
		if w.q.model == TFIDF {
			for b, code := range codes {
				out[b] += l.worth[code>>4]
			}
			continue
		}
		worth := l.bm25Worth(w.lengthNorm(v.SuperLength(s)))
		for b, code := range codes {
			out[b] += worth[code&15]
		}
	}
}

// visitWaiting visits the blocks that wait: first the most promising, then the
// others in the order of their passages, so that seldom a part of a list is
// decoded twice.
func (p *pruner) visitWaiting() error {
	all := p.gatherWaiting()
	most := 0.0
	for i := range all {
		most = max(most, all[i].upper)
	}
	sorted := p.sorter.sort(all, most)
	first := min(firstBlocks, len(sorted))
	w := p.visitor(0)
	for _, b := range sorted[:first] {
		w.visit(p.views[b.view], int(b.local))
	}
	p.rest = p.inOrder(sorted[first:], p.rest[:0])
	lists := 0
	for _, v := range p.views {
		lists = max(lists, len(v.lists))
	}
	runs := (len(p.rest) + runOfBlocks - 1) / runOfBlocks
	return p.spread(len(p.rest)*lists > manyBlocks, runs, func(w *visitor, i int) {
		for _, b := range p.rest[i*runOfBlocks : min((i+1)*runOfBlocks, len(p.rest))] {
			w.visit(p.views[b.view], int(b.local))
		}
	})
}

// gatherWaiting takes the blocks that wait from all visitors.
func (p *pruner) gatherWaiting() []candidate {
	first := p.visitor(0)
	for _, w := range p.visitors[1:p.visiting] {
		first.waiting = append(first.waiting, w.waiting...)
		w.waiting = w.waiting[:0]
	}
	all := first.waiting
	first.waiting = all[:0]
	return all
}

// inOrder appends blocks to out in the order of their passages.
func (p *pruner) inOrder(blocks, out []candidate) []candidate {
	for _, b := range blocks {
		p.views[b.view].waits.Set(int(b.local))
	}
	for _, v := range p.views {
		for i, w := range v.waits {
			v.waits[i] = 0
			for ; w != 0; w &= w - 1 {
				out = append(out, candidate{view: uint32(v.n), local: uint32(64*i + bits.TrailingZeros64(w))})
			}
		}
	}
	return out
}
