package index

import (
	"context"
	"math/bits"

	"quern/index/segment"
)

// demand is what a query asks of passages besides their scores. A passage meets
// it that has, of each group, one of the terms at least, and passes the check, if
// there is one; a demand that is not is met by the others.
type demand struct {
	clause string // as the query has it
	not    bool
	groups [][]ranks
	check  check
}

// check is what postings cannot tell of a passage.
type check interface {
	passes(r *run, v *view, local int) bool
}

// restriction is what the demands leave of the passages.
type restriction struct {
	allowed [][]uint64 // by view, a bit for each passage; nil: all
	checks  []pending
	// selective says that so few are allowed that the postings of others are
	// passed by.
	selective bool
	// unchecked says that the checks are made when a passage's score is: there
	// are too many to make them all.
	unchecked bool
	confirmed map[uint32]bool // unchecked and collapsed: documents that are hits
}

// pending is a check, and the passages that it concerns, by view.
type pending struct {
	demand   *demand
	suspects [][]uint64
}

const (
	// eagerChecks is up to how many passages are checked before their scores
	// are known, which counts the hits exactly.
	eagerChecks = 1024
	// selectiveShare is the part of all passages that is few.
	selectiveShare = 16
)

// restrict finds the passages that meet the demands of the query.
func (r *run) restrict() error {
	if len(r.q.demands) == 0 {
		return nil
	}
	r.allowed = make([][]uint64, len(r.s.views))
	for i := range r.s.views {
		r.allowed[i] = alive(&r.s.views[i])
	}
	for i := range r.q.demands {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		r.demand(&r.q.demands[i])
	}
	n := members(r.allowed)
	if len(r.checks) > 0 && n > r.s.engine.opts.eagerChecks && r.limit > 0 && !r.o.Count {
		r.unchecked = true
		if r.o.CollapseDocument {
			r.confirmed = make(map[uint32]bool)
		}
	} else if err := r.checkAll(); err != nil {
		return err
	}
	r.selective = members(r.allowed) < r.s.passages/r.s.engine.opts.selectiveShare
	r.pruning = r.prunes()
	return nil
}

// alive are the passages of a view that are not dead.
func alive(v *view) []uint64 {
	out := bitsOf(&v.dead)
	for i := range out {
		out[i] = ^out[i]
	}
	if rest := v.Passages() % 64; rest > 0 {
		out[len(out)-1] &= 1<<rest - 1
	}
	return out
}

func members(sets [][]uint64) (n int) {
	for _, set := range sets {
		for _, w := range set {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// demand keeps the passages that may meet a demand.
func (r *run) demand(d *demand) {
	suspects := make([][]uint64, len(r.s.views))
	for i := range r.s.views {
		have := append([]uint64(nil), r.allowed[i]...)
		for _, group := range d.groups {
			r.and(have, i, group)
		}
		switch {
		case !d.not:
			r.allowed[i] = have
		case d.check == nil:
			for b := range have {
				r.allowed[i][b] &^= have[b]
			}
		}
		suspects[i] = have
	}
	if d.check != nil {
		r.checks = append(r.checks, pending{d, suspects})
	}
}

// and keeps the passages that have one of a group of terms.
func (r *run) and(set []uint64, i int, group []ranks) {
	v, w := &r.s.views[i], r.visitor(0)
	list := &w.list
	any := segment.NewBits(v.Passages())
	for _, g := range group {
		if g[i] < 0 {
			continue
		}
		v.read(g[i], list)
		for list.Next() {
			for _, p := range list.Docs {
				any.Set(int(p))
			}
		}
		w.decoded += list.Decoded
		v.must(list.Err())
	}
	for b := range set {
		set[b] &= any[b]
	}
}

// checkAll makes all checks.
func (r *run) checkAll() error {
	if len(r.checks) == 0 {
		return nil
	}
	n := 0
	for i, set := range r.allowed {
		v := &r.s.views[i]
		for b, w := range set {
			for ; w != 0; w &= w - 1 {
				local := 64*b + bits.TrailingZeros64(w)
				if n++; n%64 == 0 && r.ctx.Err() != nil {
					return context.Cause(r.ctx)
				}
				if !r.passes(i, v, local) {
					set[b] &^= 1 << (local % 64)
				}
			}
		}
	}
	return nil
}

// passes makes the checks that concern a passage, of view i.
func (r *run) passes(i int, v *view, local int) bool {
	for _, c := range r.checks {
		if c.suspects[i][local/64]>>(local%64)&1 != 0 && c.demand.check.passes(r, v, local) == c.demand.not {
			return false
		}
	}
	return true
}

// confirm makes the checks that were left, and counts the hits.
func (r *run) confirm(c candidate) bool {
	v := &r.s.views[c.view]
	if !r.passes(int(c.view), v, int(c.local)) {
		return false
	}
	if r.confirmed == nil {
		r.total++
		return true
	}
	r.confirmed[uint32(v.PassageDoc(int(c.local)))] = true
	r.total = len(r.confirmed)
	return true
}

// accumulateAllowed is accumulate for those passages alone that are in a block
// with one that is allowed.
func (w *visitor) accumulateAllowed(x *window, i int, p present) {
	v, t, list := &w.s.views[i], &w.q.terms[p.term], &w.list
	v.read(int(p.rank), list)
	factor := w.q.factor(t)
	for b, some := range w.allowed[i] {
		if some == 0 {
			continue
		}
		if !w.addAllowed(x, v, t, factor, uint32(64*b)) {
			break
		}
	}
	w.decoded += list.Decoded
	v.must(list.Err())
}

// addAllowed adds the postings of the 64 passages from lo on; false means that
// there are no more of the term.
func (w *visitor) addAllowed(x *window, v *view, t *queryTerm, factor float64, lo uint32) bool {
	list := &w.list
	for hi := lo + 64; lo < hi; {
		if !list.Skip(lo) {
			return false
		}
		from := firstFrom(list.Docs, lo)
		to := from + firstFrom(list.Docs[from:], hi)
		w.addTo(x, v, t, factor, list.Docs[from:to], list.TFs[from:to])
		if to < len(list.Docs) {
			return true
		}
		lo = list.Docs[len(list.Docs)-1] + 1
	}
	return true
}

// fill gives all passages that are allowed a score of 1.
func (w *visitor) fill(x *window, i int) {
	v := &w.s.views[i]
	set := alive(v)
	if w.allowed != nil {
		set = w.allowed[i]
	}
	for b, m := range set {
		x.dirty[b] |= m
		for ; m != 0; m &= m - 1 {
			x.sums[64*b+bits.TrailingZeros64(m)] = 1
		}
	}
}
