package index

import (
	"context"
	"math"
	"slices"
)

const (
	// mergeFanIn is how many segments a merge takes at least.
	mergeFanIn = 4
	// tinySegment: segments up to so many passages are merged whatever
	// their proportions.
	tinySegment = 64
	// maxViews is how many segments there may be before Apply merges some
	// itself, so that writers cannot outrun the merger.
	maxViews = 48
)

// mergeLoop merges segments as they come. It ends when the engine closes.
func (e *Engine) mergeLoop() {
	for {
		select {
		case <-e.closing.Done():
			return
		case <-e.wake:
		}
		for {
			merged, err := e.mergeOnce(e.closing)
			if err != nil || !merged {
				break
			}
		}
	}
}

// backpressure merges until there are few enough segments.
func (e *Engine) backpressure(ctx context.Context) error {
	for len(e.Snapshot().views) > maxViews {
		if merged, err := e.mergeOnce(ctx); err != nil || !merged {
			return err
		}
	}
	return nil
}

// mergeOnce does the merge most wanted, if any. Building goes on beside
// batches and queries; only the exchange of the segments waits for the writer.
func (e *Engine) mergeOnce(ctx context.Context) (bool, error) {
	if err := e.take(ctx, e.merging); err != nil {
		return false, err
	}
	defer func() { <-e.merging }()
	s := e.Snapshot()
	lo, hi := chooseMerge(s.views)
	if lo == hi {
		return false, nil
	}
	m := newMerge(s.views[lo:hi], s.names)
	if err := m.run(ctx); err != nil {
		return false, err
	}
	if err := e.take(ctx, e.writer); err != nil {
		return false, err
	}
	defer func() { <-e.writer }()
	next := *e.Snapshot()
	x := e.edit(&next)
	x.exchange(lo, hi, m)
	x.compactTerms()
	e.current.Store(&next)
	e.log.Debug("merged segments", "from", hi-lo, "passages", m.out.len(), "segments", len(next.views))
	return true, nil
}

// chooseMerge returns the range of views to be merged, empty if none has to
// be. The newest are merged while each older one is no larger than all newer
// ones together, which leaves logarithmically many; besides, a segment is
// written anew when a quarter of it is dead.
func chooseMerge(views []view) (lo, hi int) {
	total := tinySegment
	for lo = len(views); lo > 0 && views[lo-1].live <= total; lo-- {
		total += views[lo-1].live
	}
	if len(views)-lo >= mergeFanIn {
		return lo, len(views)
	}
	for i := range views {
		if v := &views[i]; 4*(v.len()-v.live) >= v.len() {
			return i, i + 1
		}
	}
	return 0, 0
}

// none marks a passage or term that has no place in a merged segment.
const none = math.MaxUint32

// merge makes one segment of the live passages of adjacent ones.
type merge struct {
	sources []view
	names   []string
	out     *segment

	passages [][]uint32 // source, passage → passage of out, or none
	ranks    [][]uint32 // source, rank → rank in out, or none
	from     []origin   // passage of out → where it came from
}

type origin struct{ source, local uint32 }

func newMerge(sources []view, names []string) *merge {
	return &merge{sources: sources, names: names, out: &segment{}}
}

// run builds out. It stops with the cause of ctx.
func (m *merge) run(ctx context.Context) error {
	m.numberPassages()
	if err := m.mergePostings(ctx); err != nil {
		return err
	}
	return m.mergeForward(ctx)
}

func (m *merge) numberPassages() {
	for s := range m.sources {
		v := &m.sources[s]
		numbers := slices.Repeat([]uint32{none}, v.len())
		v.eachLive(func(local int) {
			numbers[local] = uint32(len(m.from))
			m.from = append(m.from, origin{uint32(s), uint32(local)})
			m.out.pids = append(m.out.pids, v.pids[local])
			m.out.docs = append(m.out.docs, v.docs[local])
			m.out.lengths = append(m.out.lengths, v.lengths[local])
			m.out.squares = append(m.out.squares, v.squares[local])
		})
		m.passages = append(m.passages, numbers)
		m.ranks = append(m.ranks, slices.Repeat([]uint32{none}, len(v.terms)))
	}
}

// mergePostings goes through the dictionaries in step, and joins the postings
// of each term.
func (m *merge) mergePostings(ctx context.Context) error {
	out := &m.out.postings
	out.offsets = []uint64{0}
	at := make([]int, len(m.sources)) // the rank each source is at
	var terms []uint32
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		id, ok := m.first(at)
		if !ok {
			break
		}
		start, next := len(out.data), uint32(0)
		for s := range m.sources {
			if v := &m.sources[s]; at[s] < len(v.terms) && v.terms[at[s]] == id {
				out.data, next = m.appendPostings(out.data, next, s, at[s])
				m.ranks[s][at[s]] = uint32(len(terms))
				at[s]++
			}
		}
		if len(out.data) > start { // otherwise no live passage has it, nor its rank
			out.end()
			terms = append(terms, id)
		}
	}
	out.data = slices.Clip(slices.Clone(out.data))
	m.out.setTerms(terms)
	return nil
}

// first returns the least term, by its bytes, that a source is at.
func (m *merge) first(at []int) (id uint32, ok bool) {
	for s := range m.sources {
		if v := &m.sources[s]; at[s] < len(v.terms) {
			t := v.terms[at[s]]
			if !ok || t != id && m.names[t] < m.names[id] {
				id, ok = t, true
			}
		}
	}
	return id, ok
}

func (m *merge) appendPostings(b []byte, next uint32, source, rank int) ([]byte, uint32) {
	list := readPairs(m.sources[source].postings.list(rank))
	for p, tf, ok := list.next(); ok; p, tf, ok = list.next() {
		if q := m.passages[source][p]; q != none {
			b = appendPair(b, q-next, tf)
			next = q + 1
		}
	}
	return b, next
}

// mergeForward copies the forward lists, with the ranks of out.
func (m *merge) mergeForward(ctx context.Context) error {
	out := &m.out.forward
	out.offsets = make([]uint64, 1, len(m.from)+1)
	for n, o := range m.from {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		list, next := readPairs(m.sources[o.source].forward.list(int(o.local))), uint32(0)
		for r, tf, ok := list.next(); ok; r, tf, ok = list.next() {
			q := m.ranks[o.source][r]
			out.data = appendPair(out.data, q-next, tf)
			next = q + 1
		}
		out.end()
	}
	out.data = slices.Clip(slices.Clone(out.data))
	return nil
}

// exchange puts the merged segment in the place of its sources, which may
// have changed since it was begun.
func (x *edit) exchange(lo, hi int, m *merge) {
	var with []view
	if m.out.len() > 0 {
		with = []view{x.viewOf(m, x.views[lo:hi])}
	}
	x.views = slices.Concat(x.views[:lo], with, x.views[hi:])
}

// viewOf takes over what changes about the passages from the sources as they
// are now.
func (x *edit) viewOf(m *merge, sources []view) view {
	v := newView(x.txn, m.out)
	for local, o := range m.from {
		s := &sources[o.source]
		v.numbers.set(x.txn, local, s.numbers.at(int(o.local)))
		v.norms.set(x.txn, local, s.norms.at(int(o.local)))
		if s.isDead(int(o.local)) {
			v.kill(x.txn, local)
		}
	}
	return v
}

// compactTerms numbers the terms anew if fewer than half of the numbers are
// in use. It is called by the merger alone, so that no merge is under way
// that holds old numbers.
func (x *edit) compactTerms() {
	inUse := 0
	for i := range x.views {
		inUse += len(x.views[i].terms)
	}
	if len(x.names) < 2*inUse+compactSlack {
		return
	}
	old, oldDFs, oldDrift := x.names, x.dfs, x.w.drift.terms
	x.table, x.dfs = newTermTable(), pages[uint32]{}
	x.w.drift.terms = nil
	for i := range x.views {
		s := *x.views[i].segment
		names := make([]string, len(s.terms))
		for r, id := range s.terms {
			names[r] = old[id]
		}
		ids := x.table.intern(names)
		x.dfs.grow(x.txn, len(x.table.names))
		x.w.drift.grow(len(x.table.names))
		for r, id := range s.terms {
			x.dfs.set(x.txn, int(ids[r]), oldDFs.at(int(id)))
			x.w.drift.terms[ids[r]] = oldDrift[id]
		}
		s.setTerms(ids)
		x.views[i].segment = &s
	}
	x.names = x.table.names
}

// compactSlack is how many unused term numbers do not matter.
var compactSlack = 1 << 16
