package index

import (
	"cmp"
	"math"
	"slices"

	"quern/index/rank"
	"quern/index/segment"
)

// Every passage's norm depends on every df and on N, so keeping all norms
// exact would cost the whole corpus at each change. Instead each term has a
// reference idf, each passage a reference norm n̂ computed with it, and
//
//	|idf(t) - îdf(t)| ≤ drift for every term that a live passage has
//
// holds in every snapshot, which says what drift is. The true norm is then
// within drift·√A of n̂ (by the triangle inequality), where A = Σ a² over the
// passage's terms and a is the weight of its tf. A query bounds each passage's
// score so and computes exactly only those that may be among the best.
//
// Upkeep: a term whose idf has moved by fineLimit is walked: each of its
// postings gets its part of n̂² replaced. N moves the idf of every term alike;
// the bound grows with it, and when it passes maxDrift all terms are looked
// at. A term needs about df·fineLimit changes to drift so far and the walk
// costs df, so that a posting's upkeep is about 1/fineLimit steps, whatever N.
//
// Upkeep would cost a batch more than all the rest. So drift may grow to
// lazyDrift: answers stay exact, more passages are scored. The engine mends it
// when there is time (Engine.refine), for many batches at once.
const (
	fineLimit = 0.05
	maxDrift  = 2 * fineLimit
	lazyDrift = 1.0

	// A batch whose upkeep would walk more than fineUpkeep postings leaves it
	// for later, but for terms that have moved by half of lazyDrift. If those
	// are more than freeUpkeep and upkeepFactor for each posting that it adds,
	// all norms are computed anew.
	fineUpkeep   = 256
	freeUpkeep   = 50_000
	upkeepFactor = 1
)

// drift is the writer's knowledge of what has moved.
type drift struct {
	touched []touchedTerm // terms whose df changed in the transaction
	marks   segment.Bits  // … as a set of gids
	lastN   float64       // ln(1+N) as of the last transaction
	// nextScan is the bound at which all terms are looked at.
	nextScan float64
	free     int64 // freeUpkeep, or what a test sets
	fine     int64 // likewise fineUpkeep
	walked   int64 // postings walked since norms were written, about
}

// touchedTerm is a term, and where its name can be read.
type touchedTerm struct {
	gid        uint32
	view, rank int
}

// touch notes that a term's df changes.
func (d *drift) touch(gid uint32, view, rank int) {
	for int(gid)>>6 >= len(d.marks) {
		d.marks = append(d.marks, 0)
	}
	if !d.marks.Has(int(gid)) {
		d.marks.Set(int(gid))
		d.touched = append(d.touched, touchedTerm{gid, view, rank})
	}
}

func (d *drift) reset() {
	for _, t := range d.touched {
		d.marks[t.gid>>6] = 0
	}
	d.touched = d.touched[:0]
}

// drifted is a term to be walked.
type drifted struct {
	gid     uint32
	to      float32 // the new reference
	step    float64 // difference of the squares of the new and old reference
	touched int     // where in touched, or -1
}

// certify sets drift after the changes of a transaction, and the norms of its
// new segments, views[old:].
func (x *edit) certify(old int) {
	d := &x.w.drift
	now := math.Log(float64(1 + x.passages))
	x.drift += math.Abs(now - d.lastN)
	d.lastN = now
	changed := 0
	for i := range x.views[old:] {
		changed += x.views[old+i].PostingCount()
	}
	fresh := x.views[old:]
	budget := d.free + int64(upkeepFactor*changed)
	found := x.lookTouched(min(d.fine, budget))
	if max(x.drift, found.rest) > max(maxDrift, d.nextScan) {
		found = x.lookAll(min(d.fine, budget), budget)
	} else {
		found.rest = max(x.drift, found.rest)
	}
	switch {
	case found.many:
		d.nextScan = lazyDrift
	case found.rest <= maxDrift:
		d.nextScan = 0
	}
	if found.rest > lazyDrift || found.tooMany || x.cost(found.terms) > budget {
		x.refer()
		fresh = x.views
	} else {
		x.walkAll(old, found.terms)
		x.drift = max(found.rest, roundDrift)
	}
	for i := range fresh {
		x.norm(&fresh[i])
	}
	d.reset()
}

// refine makes drift small again, whatever it costs.
func (x *edit) refine() {
	found := x.lookAll(x.postings/2, x.postings/2)
	if found.many {
		x.refer()
		for i := range x.views {
			x.norm(&x.views[i])
		}
	} else {
		x.walkAll(len(x.views), found.terms)
		x.drift = max(found.rest, roundDrift)
	}
	x.w.drift.nextScan = 0
	x.w.drift.reset()
}

// roundDrift is more than rounding a reference to float32 changes it.
const roundDrift = 1e-5

// look compares a term with its reference. A term without one gets it.
func (x *edit) look(gid uint32) (to float32, off float64) {
	st := x.stats.at(int(gid))
	if st.df == 0 {
		return 0, 0
	}
	idf := x.w.idfs.idf(int(st.df))
	to = float32(idf)
	if st.reference != st.reference {
		x.stats.edit(x.txn, int(gid)).reference = to
		return to, roundDrift
	}
	return to, math.Abs(idf-float64(st.reference)) + roundDrift
}

// survey is what looking at terms comes to.
type survey struct {
	terms []drifted // that have drifted and are to be walked
	rest  float64   // drift of the others
	worst float64   // drift of all
	cost  int64     // postings of terms
	// many says that those that have drifted a little are too many to be walked
	// now: terms are those that have drifted far.
	many bool
	// tooMany says that those are too many, too, and not listed.
	tooMany bool
}

// add takes a term that has drifted by off, of which few postings may be walked
// for little drift, and most at all.
func (s *survey) add(x *edit, gid uint32, to float32, off float64, touched int, few, most int64) {
	s.worst = max(s.worst, off)
	if off <= fineLimit || s.many && off <= lazyDrift/2 {
		s.rest = max(s.rest, off)
		return
	}
	s.cost += int64(x.stats.at(int(gid)).df)
	if !s.tooMany {
		s.terms = append(s.terms, x.drifted(gid, to, touched))
	}
	if !s.many && s.cost > few {
		s.many = true
		var near float64
		s.terms, near = x.far(s.terms)
		s.rest, s.cost = max(s.rest, near), x.cost(s.terms)
	}
	if s.many && s.cost > most {
		s.tooMany, s.terms = true, nil
	}
}

// lookTouched looks at the touched terms.
func (x *edit) lookTouched(few int64) (s survey) {
	x.w.idfs.reset(x.passages)
	for i, t := range x.w.drift.touched {
		to, off := x.look(t.gid)
		s.add(x, t.gid, to, off, i, few, math.MaxInt64)
	}
	return s
}

// lookAll looks at all terms.
func (x *edit) lookAll(few, most int64) (s survey) {
	x.w.idfs.reset(x.passages)
	for gid := range uint32(x.stats.len()) {
		to, off := x.look(gid)
		s.add(x, gid, to, off, -1, few, most)
	}
	return s
}

func (x *edit) drifted(gid uint32, to float32, touched int) drifted {
	from := float64(x.stats.at(int(gid)).reference)
	return drifted{gid, to, float64(to)*float64(to) - from*from, touched}
}

// far gives the terms that have drifted further than may be left for later, and
// the drift of the others: half of lazyDrift, so that it takes N a while to
// bring them there.
func (x *edit) far(terms []drifted) (far []drifted, rest float64) {
	for _, t := range terms {
		if _, off := x.look(t.gid); off > lazyDrift/2 {
			far = append(far, t)
		} else {
			rest = max(rest, off)
		}
	}
	return far, rest
}

// cost is how many postings walking the terms reads.
func (x *edit) cost(terms []drifted) (n int64) {
	for _, t := range terms {
		n += int64(x.stats.at(int(t.gid)).df)
	}
	return n
}

// refer makes every term's idf of the moment its reference. All norms are to
// be computed anew.
func (x *edit) refer() {
	x.w.idfs.reset(x.passages)
	for gid := range x.stats.len() {
		if st := x.stats.at(gid); st.df > 0 {
			x.stats.edit(x.txn, gid).reference = float32(x.w.idfs.idf(int(st.df)))
		}
	}
	x.drift, x.w.drift.nextScan = roundDrift, 0
	x.w.drift.walked += x.postings
}

// norm computes the reference norms of all live passages of a view.
func (x *edit) norm(v *view) {
	references := make([]float64, v.Terms())
	v.EachTerm(func(r int, gid uint32, _ int) {
		references[r] = float64(x.stats.at(int(gid)).reference)
	})
	v.norms = pages[float64]{}
	v.norms.grow(x.txn, v.Passages())
	w := normWriter{view: v, txn: x.txn}
	for local := range v.Passages() {
		var sum rank.Squares
		if !v.isDead(local) {
			x.list = v.terms(local, x.list)
			for _, t := range x.list {
				sum.Add(rank.LogTF(t.TF) * references[t.Term])
			}
		}
		w.add(float64(sum))
	}
	w.end()
}

// walkAll corrects the norms of views[:old] for the terms, and their
// references.
func (x *edit) walkAll(old int, terms []drifted) {
	if len(terms) == 0 {
		return
	}
	x.w.drift.walked += x.cost(terms)
	slices.SortFunc(terms, func(a, b drifted) int { return cmp.Compare(a.gid, b.gid) })
	w := walker{edit: x, terms: terms}
	for i := range x.views[:old] {
		w.walk(&x.views[i])
	}
	for _, t := range terms {
		x.stats.edit(x.txn, int(t.gid)).reference = t.to
	}
}

// walker corrects reference norms for drifted terms.
type walker struct {
	*edit
	terms  []drifted
	names  []byte       // of the terms, one after the other
	ends   []int        // … and where each ends
	wanted segment.Bits // the terms by gid; nil until needed
}

// lookupCost is how many entries of a column are read in the time that a term
// is found by its name.
const lookupCost = 64

func (w *walker) walk(v *view) {
	if w.terms[0].touched < 0 || v.Terms() < lookupCost*len(w.terms) {
		w.byNumber(v)
		return
	}
	w.readNames()
	start := 0
	for i, t := range w.terms {
		if rank, ok := v.rank(w.names[start:w.ends[i]]); ok {
			w.term(v, rank, t.step)
		}
		start = w.ends[i]
	}
}

// readNames makes names and ends, once.
func (w *walker) readNames() {
	if w.ends != nil {
		return
	}
	for _, t := range w.terms {
		at := w.w.drift.touched[t.touched]
		w.names = w.views[at.view].termName(at.rank, w.names)
		w.ends = append(w.ends, len(w.names))
	}
}

// byNumber goes through the view's dictionary to find the terms.
func (w *walker) byNumber(v *view) {
	if w.wanted == nil {
		w.wanted = segment.NewBits(w.stats.len())
		for _, t := range w.terms {
			w.wanted.Set(int(t.gid))
		}
	}
	v.EachTerm(func(rank int, gid uint32, _ int) {
		if !w.wanted.Has(int(gid)) {
			return
		}
		i, _ := slices.BinarySearchFunc(w.terms, gid, func(t drifted, g uint32) int { return cmp.Compare(t.gid, g) })
		w.term(v, rank, w.terms[i].step)
	})
}

func (w *walker) term(v *view, at int, step float64) {
	list := &w.w.postings
	v.read(at, list)
	for list.Next() {
		tfs := list.TFs
		for i, p := range list.Docs {
			a := rank.LogTF(tfs[i])
			v.setNorm(w.txn, int(p), v.norms.at(int(p))+a*a*step)
		}
	}
	v.must(list.Err())
}

// nearIDFs remembers near idfs of small dfs as long as N stays.
type nearIDFs struct {
	n     int
	known [4096]float64 // 0: not computed
}

func (m *nearIDFs) reset(n int) {
	if m.n != n {
		*m = nearIDFs{n: n}
	}
}

func (m *nearIDFs) idf(df int) float64 {
	if df >= len(m.known) {
		return rank.NearIDF(m.n, df)
	}
	if m.known[df] == 0 {
		m.known[df] = rank.NearIDF(m.n, df)
	}
	return m.known[df]
}
