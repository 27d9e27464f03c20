package index

import (
	"math"
	"slices"

	"quern/index/rank"
)

// Every passage's norm depends on every df and on N, so keeping all norms
// exact would cost the whole corpus at each change. Instead each term has a
// reference idf, each passage a reference norm n̂ computed with it, and
//
//	|idf(t) - îdf(t)| ≤ maxDrift for every term that a live passage has
//
// holds in every snapshot. The true norm is then within maxDrift·√A of n̂ (by
// the triangle inequality), where A = Σ a² over the passage's terms and a is
// the weight of its tf. A query bounds each passage's score so and computes
// exactly only those that may be among the best.
//
// Upkeep: a term whose idf has moved by driftLimit is walked: each of its
// postings gets its part of n̂² replaced. N moves the idf of every term
// alike; when 1 + ln(1+N) has moved by scanLimit since all terms were looked
// at, they are looked at again. Between two looks at a term that quantity
// moves by at most 2·scanLimit, hence
//
//	driftLimit + 2·scanLimit = maxDrift.
//
// A term needs about df·driftLimit changes to drift so far and the walk costs
// df, so that a posting's upkeep is about 1/driftLimit steps, whatever N.
const (
	maxDrift   = 0.08
	driftLimit = maxDrift / 2
	scanLimit  = maxDrift / 4
)

// drift is the writer's knowledge of the reference idfs.
type drift struct {
	terms   []termDrift
	touched []uint32 // terms whose df changed in the transaction
	scanned float64  // ln(1+N) when all terms were last looked at
}

type termDrift struct {
	reference float64 // NaN: none, no norm has a part of it
	txn       uint64  // the last transaction that touched the term
}

// grow makes room for n terms.
func (d *drift) grow(n int) {
	for len(d.terms) < n {
		d.terms = append(d.terms, termDrift{reference: math.NaN()})
	}
}

// touch notes that a term's df changes.
func (d *drift) touch(txn uint64, id uint32) {
	if d.terms[id].txn != txn {
		d.terms[id].txn = txn
		d.touched = append(d.touched, id)
	}
}

// forget drops the reference of a term that no live passage has.
func (d *drift) forget(id uint32) { d.terms[id].reference = math.NaN() }

// drifted is a term to be walked.
type drifted struct {
	id       uint32
	idf      float64 // the new reference
	from, to float64 // squares of the old and new reference
}

// certify restores the invariant after the changes of a transaction and
// computes the norms of its new segments, views[old:].
func (x *edit) certify(old int) {
	d := &x.w.drift
	terms := x.findDrifted()
	cost := int64(0)
	for _, t := range terms {
		cost += int64(x.dfs.at(int(t.id)))
	}
	fresh := x.views[old:]
	if cost > x.postings/2 { // bulk: cheaper all at once
		x.refer()
		fresh = x.views
	} else {
		for i := range x.views[:old] {
			x.walk(&x.views[i], terms)
		}
		for _, t := range terms {
			d.terms[t.id].reference = t.idf
		}
	}
	for i := range fresh {
		x.norm(&fresh[i])
	}
	d.touched = d.touched[:0]
}

// findDrifted looks at the terms touched, or at all if N has moved far. Terms
// without a reference get one.
func (x *edit) findDrifted() []drifted {
	d := &x.w.drift
	var out []drifted
	look := func(id uint32) {
		df := x.dfs.at(int(id))
		if df == 0 {
			return
		}
		t, idf := &d.terms[id], rank.IDF(x.passages, int(df))
		switch {
		case math.IsNaN(t.reference):
			t.reference = idf
		case math.Abs(idf-t.reference) > driftLimit:
			out = append(out, drifted{id, idf, t.reference * t.reference, idf * idf})
		}
	}
	if now := math.Log(float64(1 + x.passages)); math.Abs(now-d.scanned) > scanLimit {
		d.scanned = now
		for id := range x.dfs.len() {
			look(uint32(id))
		}
		return out
	}
	for _, id := range d.touched {
		look(id)
	}
	slices.SortFunc(out, func(a, b drifted) int { return int(int64(a.id) - int64(b.id)) })
	return out
}

// refer makes every term's idf of the moment its reference.
func (x *edit) refer() {
	for id := range x.dfs.len() {
		if df := x.dfs.at(id); df > 0 {
			x.w.drift.terms[id].reference = rank.IDF(x.passages, int(df))
		}
	}
}

// norm computes the reference norms of all live passages of a segment.
func (x *edit) norm(v *view) {
	v.eachLive(func(local int) {
		var log, raw rank.Squares
		list := readPairs(v.forward.list(local))
		for r, tf, ok := list.next(); ok; r, tf, ok = list.next() {
			reference := x.w.drift.terms[v.terms[r]].reference
			log.Add(rank.LogTF(tf) * reference)
			raw.Add(rank.RawTF(tf) * reference)
		}
		v.norms.set(x.txn, local, squares{float64(log), float64(raw)})
	})
}

// walk corrects the reference norms of a segment's passages for terms, which
// ascend by id.
func (x *edit) walk(v *view, terms []drifted) {
	ids := v.ids
	for _, t := range terms {
		i, ok := slices.BinarySearch(ids, t.id)
		ids = ids[i:]
		if !ok {
			continue
		}
		r := v.ranks[len(v.ids)-len(ids)]
		list := readPairs(v.postings.list(int(r)))
		for p, tf, ok := list.next(); ok; p, tf, ok = list.next() {
			n := v.norms.edit(x.txn, int(p))
			n.log += rank.LogTF(tf) * rank.LogTF(tf) * (t.to - t.from)
			n.raw += rank.RawTF(tf) * rank.RawTF(tf) * (t.to - t.from)
		}
	}
}
