package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"time"

	"quern/index/segment"
)

const (
	// mergeFanIn is how many segments a merge takes at least.
	mergeFanIn = 8
	// tinySegment: segments up to so many passages are merged whatever
	// their proportions.
	tinySegment = 64
	// maxViews is how many segments there may be in memory before Apply
	// merges some itself, so that writers cannot outrun the merger.
	maxViews = 48
)

// size is what counts of a view when merges are chosen: passages and document
// records, all and those that live.
type size struct{ all, live int }

func sizesOf(views []view) []size {
	out := make([]size, len(views))
	for i := range views {
		out[i] = size{views[i].Passages() + views[i].Documents(), views[i].weight()}
	}
	return out
}

// chooseMerge returns the range of segments to be merged, empty if none has to
// be. The newest are merged while each older one is no larger than all newer
// ones together, which leaves logarithmically many; besides, a segment is
// written anew when a fifth of it is dead.
func chooseMerge(sizes []size) (lo, hi int) {
	total := 0
	for lo = len(sizes); lo > 0; lo-- {
		live := sizes[lo-1].live
		if lo < len(sizes) && live > max(total, tinySegment) {
			break
		}
		total += live
	}
	if len(sizes)-lo >= mergeFanIn {
		return lo, len(sizes)
	}
	for i, s := range sizes {
		if 5*(s.all-s.live) > s.all || s.live == 0 {
			return i, i + 1
		}
	}
	return cheapestMerge(sizes)
}

// cheapestMerge returns the range of segments that is least work to merge if there
// are too many: where a large one has died away, small older ones are left behind
// it.
func cheapestMerge(sizes []size) (lo, hi int) {
	total := 0
	for _, s := range sizes {
		total += s.live
	}
	if len(sizes) <= mergeFanIn+bits.Len(uint(total)) {
		return 0, 0
	}
	least := math.MaxInt
	for i := 0; i+mergeFanIn <= len(sizes); i++ {
		live := 0
		for _, s := range sizes[i : i+mergeFanIn] {
			live += s.live
		}
		if live < least {
			least, lo = live, i
		}
	}
	return lo, lo + mergeFanIn
}

// bulkSegment: segments in memory of so many passages are left for the flush,
// which will come soon.
const bulkSegment = 1024

// afterBulk is where the views from at on begin that bulkSegment leaves.
func (s *Snapshot) afterBulk(at int) int {
	for i := len(s.views); i > at; i-- {
		if s.views[i-1].Passages() >= bulkSegment {
			return i
		}
	}
	return at
}

// choosePurge returns a view whose dead text must go from the disk.
func choosePurge(views []view, before time.Time) (lo, hi int) {
	for i := range views {
		if v := &views[i]; !v.since.IsZero() && v.since.Before(before) {
			return i, i + 1
		}
	}
	return 0, 0
}

// merge makes one segment of what lives in adjacent views of a snapshot.
type merge struct {
	base    *Snapshot
	lo, hi  int // as in base
	sources []view
	out     *seg
	remaps  []segment.Remap
	dropped []droppedTerm
}

type droppedTerm struct {
	name string
	gid  uint32
}

func newMerge(base *Snapshot, lo, hi int) *merge {
	return &merge{base: base, lo: lo, hi: hi, sources: base.views[lo:hi]}
}

// empty reports whether nothing lives in the sources.
func (m *merge) empty() bool {
	return !slices.ContainsFunc(m.sources, func(v view) bool { return v.weight() > 0 })
}

// run writes the merged segment. With scores it keeps the norms.
func (m *merge) run(ctx context.Context, w io.Writer, disk bool) (err error) {
	opt := segment.MergeOptions{
		Compress: disk,
		Dropped: func(term []byte, gid uint32) {
			m.dropped = append(m.dropped, droppedTerm{string(term), gid})
		},
	}
	if disk || m.base.engine.store == nil {
		opt.Maxima = m.base.engine.opts.maxima
		opt.Scores = &segment.Scores{
			Norm2:     func(k, i int) float32 { return float32(m.sources[k].norms.at(i)) },
			Reference: func(gid uint32) float32 { return m.base.stats.at(int(gid)).reference },
		}
	}
	in := make([]segment.Input, len(m.sources))
	for k := range m.sources {
		v := &m.sources[k]
		in[k] = segment.Input{Reader: v.Reader, Dead: bitsOf(&v.dead), DeadDocs: bitsOf(&v.deadDocs)}
	}
	damage := guard(m.base.views, func() { m.remaps, err = segment.Merge(ctx, w, in, opt) })
	if damage != nil {
		return damage
	}
	return err
}

// inMemory makes the merged segment in memory.
func (m *merge) inMemory(ctx context.Context) error {
	if m.empty() {
		return nil
	}
	var out bytes.Buffer
	size := 0 // about what comes out
	for i := range m.sources {
		size += int(m.sources[i].Size())
	}
	out.Grow(size)
	err := m.run(ctx, &out, false)
	if err != nil {
		return err
	}
	data := out.Bytes()
	if cap(data) > len(data)+len(data)/8 {
		data = bytes.Clone(data)
	}
	m.out, err = memorySegment(data)
	return err
}

// errReplaced says that a segment was set aside while it was merged.
var errReplaced = errors.New("the segments have been replaced meanwhile")

// discard gives up the merged segment's file.
func (m *merge) discard(st *store) {
	if m.out != nil {
		st.discard(m.out.name)
	}
}

// exchange puts the merged segment in the place of its sources in the snapshot
// of the moment. What changed about them since goes along.
func (e *Engine) exchange(m *merge) error {
	e.writer <- struct{}{}
	defer func() { <-e.writer }()
	next := *e.Snapshot()
	lo := slices.IndexFunc(next.views, func(v view) bool { return v.seg == m.sources[0].seg })
	last := lo + len(m.sources) - 1
	if lo < 0 || last >= len(next.views) || next.views[last].seg != m.sources[len(m.sources)-1].seg {
		return errReplaced
	}
	if err := guard(next.views, func() { e.edit(&next).exchange(lo, m) }); err != nil {
		return err
	}
	e.current.Store(&next)
	return nil
}

func (x *edit) exchange(lo int, m *merge) {
	hi := lo + len(m.sources)
	sources := x.views[lo:hi]
	var with []view
	if m.out != nil {
		with = []view{x.viewOf(m, sources)}
	}
	x.views = slices.Concat(x.views[:lo], with, x.views[hi:])
	x.releaseTerms(m)
}

// viewOf takes over what changes about the passages from the sources as they
// are now.
func (x *edit) viewOf(m *merge, sources []view) view {
	v := newView(x.txn, m.out, sources[0].first)
	v.derived = x.derived
	norms := normWriter{view: &v, txn: x.txn}
	for k := range sources {
		s := &sources[k]
		for local, to := range m.remaps[k].Passages {
			if to == segment.Gone {
				continue
			}
			if s.isDead(local) {
				v.kill(x.txn, int(to))
			}
			norms.add(s.norms.at(local))
		}
		for ord, to := range m.remaps[k].Docs {
			if to != segment.Gone && s.isDeadDoc(ord) {
				v.killDoc(x.txn, int(to))
			}
		}
	}
	norms.end()
	return v
}

// releaseTerms frees the numbers of terms that no view has any more.
func (x *edit) releaseTerms(m *merge) {
	dropped := m.dropped
	if m.out == nil {
		dropped = m.allTerms()
	}
	for _, t := range dropped {
		if x.stats.at(int(t.gid)).df > 0 {
			continue // a live passage has it
		}
		if _, ok := x.gid([]byte(t.name)); ok {
			continue
		}
		*x.stats.edit(x.txn, int(t.gid)) = termStat{reference: noReference}
		x.w.numbers.release(t.name, t.gid)
	}
}

// allTerms lists the terms of sources that are dropped whole.
func (m *merge) allTerms() (out []droppedTerm) {
	seen := make(map[uint32]bool)
	for k := range m.sources {
		v := &m.sources[k]
		c := v.Cursor()
		for c.Next() {
			if g := v.GID(c.Number()); !seen[g] {
				seen[g] = true
				out = append(out, droppedTerm{string(c.Term()), g})
			}
		}
		v.must(c.Err())
	}
	return out
}
