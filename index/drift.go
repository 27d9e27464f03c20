package index

import (
	"cmp"
	"math"
	"slices"

	"quern/index/rank"
)

// Every passage's norm depends on every df and on N, so keeping all norms
// exact would cost the whole corpus at each change. Instead each term has a
// reference idf, each passage a reference norm n̂ computed with it, and each
// snapshot a bound, drift, such that
//
//	|idf(t) - îdf(t)| ≤ drift for every term that a live passage has.
//
// The true norm is then within drift·√A of n̂ (by the triangle inequality),
// where A = Σ a² over the passage's terms and a is the weight of its tf. A
// query bounds each passage's score so and computes exactly only those that
// may be among the best.
//
// Upkeep: a batch looks at the terms whose df it changes. One that is off by
// more than a limit is walked: each of its postings gets its part of n̂²
// replaced. All other terms drift alike, as N moves; when that may have
// brought the bound to twice the limit, all terms are looked at. A term needs
// about df·limit changes to drift so far and the walk costs df, so that a
// posting's upkeep is about 1/limit steps, whatever N.
//
// While large batches come in, keeping to the fine limit would be most of the
// work, for norms that the next batch spoils: they keep to the coarse one and
// note the terms that they touch, which the background refines once it is
// quiet. Until then queries are as exact, but have more passages to compute.
const (
	fineLimit   = 0.05
	coarseLimit = 1.0

	// A batch whose upkeep would be more steps than freeUpkeep and
	// upkeepFactor for each posting that it changes leaves it for later.
	freeUpkeep   = 50_000
	upkeepFactor = 1
)

// drift is the writer's knowledge of the reference idfs.
type drift struct {
	terms   []termDrift
	touched []uint32 // terms whose df changed in the transaction
	owed    []uint32 // terms touched while batches kept to the coarse limit
	others  float64  // the bound for all terms that are not owed
	changed int64    // postings added and removed in the transaction
	logN    float64  // ln(1+N) after the last one
	free    int64    // freeUpkeep, or what a test sets
}

type termDrift struct {
	reference float64 // NaN: none yet
	txn       uint64  // the last transaction that touched the term
	owed      bool
}

// grow makes room for n terms.
func (d *drift) grow(n int) {
	for len(d.terms) < n {
		d.terms = append(d.terms, termDrift{reference: math.NaN()})
	}
}

// touch notes that the df of a term changes by so much.
func (d *drift) touch(txn uint64, id uint32, by int) {
	d.changed += int64(max(by, -by))
	if d.terms[id].txn != txn {
		d.terms[id].txn = txn
		d.touched = append(d.touched, id)
	}
}

// drifted is a term to be walked.
type drifted struct {
	id       uint32
	idf      float64 // the new reference
	from, to float64 // squares of the old and new reference
}

// certify makes the bound hold after the changes of a transaction and
// computes the norms of its new segments, views[old:].
func (x *edit) certify(old int) {
	d := &x.w.drift
	logN := math.Log(float64(1 + x.passages))
	d.others += math.Abs(logN - d.logN)
	d.logN = logN
	fine := len(d.owed) == 0 && x.drift <= 2*fineLimit
	var found inspection
	if fine {
		found = x.look(fineLimit, d.touched)
		fine = x.cost(found.terms, old) <= d.free+upkeepFactor*d.changed
	}
	if !fine {
		found = x.look(coarseLimit, d.touched)
		d.owe()
	}
	x.correct(found, old)
	d.touched, d.changed = d.touched[:0], 0
}

// owe notes the touched terms for later.
func (d *drift) owe() {
	for _, id := range d.touched {
		if t := &d.terms[id]; !t.owed {
			t.owed = true
			d.owed = append(d.owed, id)
		}
	}
}

// oweAgain lists the terms owed by their new numbers.
func (d *drift) oweAgain() {
	d.owed = d.owed[:0]
	for id := range d.terms {
		if d.terms[id].owed {
			d.owed = append(d.owed, uint32(id))
		}
	}
}

// refine brings all norms to the fine limit.
func (x *edit) refine() {
	d := &x.w.drift
	found := x.look(fineLimit, d.owed)
	for _, id := range d.owed {
		d.terms[id].owed = false
	}
	d.owed = nil
	x.correct(found, len(x.views))
}

// inspection is what a look at the terms has found.
type inspection struct {
	limit float64
	all   bool      // all terms were looked at
	terms []drifted // those beyond the limit, in the order of their numbers
}

// look finds the terms whose idf is further from its reference than limit,
// among those given, or among all if the others may be at twice the limit.
// Terms without a reference get one.
func (x *edit) look(limit float64, ids []uint32) inspection {
	found := inspection{limit: limit, all: x.w.drift.others > 2*limit}
	if found.all {
		for id := range x.dfs.len() {
			found.lookAt(x, uint32(id))
		}
		return found
	}
	for _, id := range ids {
		found.lookAt(x, id)
	}
	slices.SortFunc(found.terms, func(a, b drifted) int { return cmp.Compare(a.id, b.id) })
	return found
}

// correct walks the terms found in views[:old], computes all norms in
// views[old:] and states the bound.
func (x *edit) correct(found inspection, old int) {
	d := &x.w.drift
	if found.all { // as at the first batch: others is never below fineLimit
		d.others = found.limit
	}
	x.drift = d.bound()
	for _, t := range found.terms {
		d.terms[t.id].reference = t.idf
	}
	fresh := x.views[old:]
	if x.cost(found.terms, old) > x.postings { // cheaper all at once
		fresh = x.views
	} else {
		for i := range x.views[:old] {
			x.walk(&x.views[i], found.terms)
		}
	}
	for i := range fresh {
		x.norm(&fresh[i])
	}
}

// bound is that for all terms. Owed terms were within the coarse limit when
// last touched, and N has not moved by more than others since.
func (d *drift) bound() float64 {
	if len(d.owed) > 0 {
		return coarseLimit + d.others
	}
	return d.others
}

// cost estimates the steps of walking terms through so many segments.
func (x *edit) cost(terms []drifted, views int) int64 {
	cost := int64(2 * views * len(terms))
	for _, t := range terms {
		cost += int64(x.dfs.at(int(t.id)))
	}
	return cost
}

func (found *inspection) lookAt(x *edit, id uint32) {
	df := x.dfs.at(int(id))
	if df == 0 {
		return
	}
	t, idf := &x.w.drift.terms[id], rank.NearIDF(x.passages, int(df))
	switch {
	case math.IsNaN(t.reference):
		t.reference = idf
	case math.Abs(idf-t.reference) > found.limit:
		found.terms = append(found.terms, drifted{id, idf, t.reference * t.reference, idf * idf})
	}
}

// norm computes the reference norms of all live passages of a segment.
func (x *edit) norm(v *view) {
	references := make([]float64, len(v.terms))
	for r, id := range v.terms {
		references[r] = x.w.drift.terms[id].reference
	}
	v.eachLive(func(local int) {
		var log, raw rank.Squares
		list := readPairs(v.forward.list(local))
		for r, tf, ok := list.next(); ok; r, tf, ok = list.next() {
			log.Add(rank.LogTF(tf) * references[r])
			raw.Add(rank.RawTF(tf) * references[r])
		}
		v.norms.set(x.txn, local, squares{float64(log), float64(raw)})
	})
}

// walk corrects the reference norms of a segment's passages for terms, which
// ascend by id.
func (x *edit) walk(v *view, terms []drifted) {
	at := 0
	for _, t := range terms {
		at = gallop(v.ids, at, t.id)
		if at == len(v.ids) {
			return
		}
		if v.ids[at] == t.id {
			x.walkTerm(v, int(v.ranks[at]), t)
		}
	}
}

func (x *edit) walkTerm(v *view, r int, t drifted) {
	change := t.to - t.from
	list := readPairs(v.postings.list(r))
	for p, tf, ok := list.next(); ok; p, tf, ok = list.next() {
		log, raw := rank.LogTF(tf), rank.RawTF(tf)
		n := v.norms.edit(x.txn, int(p))
		n.log += log * log * change
		n.raw += raw * raw * change
	}
}

// gallop returns the first place from at on whose id is no less than id. It
// takes time in the logarithm of how far it goes.
func gallop(ids []uint32, at int, id uint32) int {
	step := 1
	for at+step < len(ids) && ids[at+step] < id {
		at += step
		step *= 2
	}
	n, _ := slices.BinarySearch(ids[at:min(at+step+1, len(ids))], id)
	return at + n
}
