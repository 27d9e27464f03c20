package index

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"quern/index/segment"
	"quern/index/segment/vfs"
)

// openStore locks the directory and opens what it holds.
func (e *Engine) openStore() error {
	lock, err := e.opts.FS.Lock(lockName)
	if err != nil {
		return err
	}
	e.store = &store{fs: e.opts.FS, lock: lock, options: e.opts.optionsKey()}
	e.store.obsolete = make(map[string]bool)
	if err := e.load(); err != nil {
		return errors.Join(err, lock.Close())
	}
	return nil
}

// load reads the manifest and the segments it names.
func (e *Engine) load() error {
	st := e.store
	if err := writeTag(st.fs); err != nil {
		e.log.Warn("back-ups will not skip the index", "file", cacheTag, "error", err)
	}
	m, err := st.readManifest()
	switch {
	case errors.Is(err, ErrOutdated) || errors.Is(err, segment.ErrCorrupt) || errors.Is(err, vfs.ErrNotRegular):
		e.tell(fmt.Errorf("the index is built anew: %w", err))
		if err := st.wipe(!errors.Is(err, ErrOutdated)); err != nil {
			return err
		}
		m = &manifest{}
	case err != nil:
		return err
	}
	st.nextFile = m.nextFile
	views, lost, err := e.openViews(m)
	if err != nil {
		return err
	}
	if err := st.removeStrangers(m); err != nil {
		return err
	}
	norms, err := e.readNorms(m.norms)
	if err != nil {
		return err
	}
	return e.assemble(m, views, norms, lost)
}

// tell reports damage to the log and to the engine's owner.
func (e *Engine) tell(err error) {
	e.log.Error("the index is damaged", "error", err)
	e.opts.OnDamage(err)
}

// readManifest gives an empty manifest if there is none.
func (st *store) readManifest() (*manifest, error) {
	f, err := st.fs.Map(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return &manifest{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	data := bytes.Clone(f.Data)
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	m, err := decodeManifest(data)
	if err == nil && m.options != st.options {
		err = fmt.Errorf("%w: its options are %s, now they are %s", ErrOutdated, m.options, st.options)
	}
	return m, err
}

// wipe removes the manifest, or sets it aside.
func (st *store) wipe(aside bool) error {
	if aside {
		return st.setAside(manifestName)
	}
	if err := st.fs.Remove(manifestName); err != nil {
		return fmt.Errorf("remove the old index: %w", err)
	}
	return st.fs.SyncDir()
}

// openViews opens the segments of a manifest. Those that are damaged are set
// aside.
func (e *Engine) openViews(m *manifest) (views []view, lost bool, err error) {
	for i := range m.segments {
		ms := &m.segments[i]
		s, err := e.openSegment(ms)
		switch {
		case err == nil:
			views = append(views, openView(s, ms))
		case errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrVersion) ||
			errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, fs.ErrNotExist):
			lost = true
			e.tell(fmt.Errorf("segment %s is set aside and its files are to be indexed again: %w", ms.name, err))
			if err := e.store.setAside(ms.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, true, err
			}
		default:
			return nil, true, fmt.Errorf("open segment %s: %w", ms.name, err)
		}
	}
	return views, lost, nil
}

func (e *Engine) openSegment(ms *manifestSegment) (*seg, error) {
	s, err := fileSegment(e.store.fs, ms.name)
	if err != nil {
		return nil, err
	}
	if s.Size() != ms.size || lastOf(ms.dead) >= s.Passages() || lastOf(ms.deadDocs) >= s.Documents() {
		return nil, fmt.Errorf("%w: it is not the one that the manifest names", segment.ErrCorrupt)
	}
	return s, nil
}

// lastOf is the greatest member of a set, or -1.
func lastOf(b segment.Bits) int {
	for i := len(b)*64 - 1; i >= 0; i-- {
		if b.Has(i) {
			return i
		}
	}
	return -1
}

func openView(s *seg, ms *manifestSegment) view {
	v := newView(0, s, ms.first)
	for i := range s.Passages() {
		if ms.dead.Has(i) {
			v.kill(0, i)
		}
	}
	for i := range s.Documents() {
		if ms.deadDocs.Has(i) {
			v.killDoc(0, i)
		}
	}
	v.since = ms.since
	return v
}

// removeStrangers removes files that an interrupted write left.
func (st *store) removeStrangers(m *manifest) error {
	named := map[string]bool{m.norms: true}
	for i := range m.segments {
		named[m.segments[i].name] = true
	}
	list, err := st.fs.List()
	if err != nil {
		return fmt.Errorf("list the data directory: %w", err)
	}
	for _, f := range list {
		if strings.HasSuffix(f.Name, damagedSuffix) {
			st.noteDamaged(f.Name)
		}
		ours := strings.HasSuffix(f.Name, segmentSuffix) || strings.HasSuffix(f.Name, normsSuffix)
		if f.Name == manifestTemp || ours && !named[f.Name] {
			if err := st.fs.Remove(f.Name); err != nil {
				return fmt.Errorf("remove what an interrupted write left: %w", err)
			}
		}
		var n uint64
		if _, err := fmt.Sscanf(f.Name, "%d.", &n); err == nil {
			st.nextFile = max(st.nextFile, n)
		}
	}
	return nil
}

// assemble makes the first snapshot of opened views.
func (e *Engine) assemble(m *manifest, views []view, norms *normsFile, lost bool) error {
	s := e.empty(m.generation)
	s.views, s.totals, s.folders = views, m.totals, m.folders
	err := guard(views, func() {
		x := e.edit(s)
		if !lost && norms.knows(s) {
			x.number()
			norms.adoptStatistics(x)
			return
		}
		x.count()
		if lost {
			x.dropBroken()
			s.generation++
		}
		x.adoptNorms(norms)
	})
	if err != nil {
		return err
	}
	e.current.Store(s)
	e.store.norms, e.store.described = m.norms, !lost && norms.knows(s)
	if lost {
		signal(e.wakeMem)
	} else {
		e.store.note(s, m.norms)
	}
	return nil
}

// count finds out all that the views say of terms, slots and pids, for a
// snapshot whose totals are known but for the terms.
func (x *edit) count() {
	x.number()
	x.countTerms()
}

// number finds out which slots and pids are in use.
func (x *edit) number() {
	w := x.w
	for i := range x.views {
		v := &x.views[i]
		if n := v.Documents(); n > 0 {
			w.nextSlot = max(w.nextSlot, uint32(v.DocumentID(n-1))+1)
		}
		w.nextPID = max(w.nextPID, v.first)
		if n := v.Passages(); n > 0 {
			w.nextPID = max(w.nextPID, v.PassageID(n-1)+1)
		}
	}
	x.slots = max(x.slots, int(w.nextSlot))
	x.findFreeSlots()
}

// countTerms counts the live postings of every term, and lists the numbers that
// no term has.
func (x *edit) countTerms() {
	var c termCounter
	for i := range x.views {
		v := &x.views[i]
		v.EachTerm(c.add)
	}
	for i := range x.views {
		v := &x.views[i]
		for local := range v.Passages() {
			if !v.isDead(local) {
				continue
			}
			x.list = v.terms(local, x.list)
			for _, t := range x.list {
				c.df[v.GID(int(t.Term))]--
			}
		}
	}
	x.w.numbers = numbering{next: uint32(c.n), epoch: x.w.numbers.epoch + 1}
	x.terms, x.postings = 0, 0
	x.stats = pagesOf(x.txn, c.n, func(gid int) termStat {
		df := c.df[gid]
		if df > 0 {
			x.terms++
			x.postings += int64(df)
		}
		if !c.seen.Has(gid) {
			x.w.numbers.free = append(x.w.numbers.free, uint32(gid))
		}
		return termStat{df, noReference}
	})
}

// termCounter adds up postings by the number of their term.
type termCounter struct {
	n    int // one more than the greatest number
	df   []uint32
	seen segment.Bits // numbers that a segment has, be it with dead postings
}

func (c *termCounter) add(_ int, gid uint32, df int) {
	for int(gid) >= len(c.df) {
		n := max(1024, 2*len(c.df))
		c.df = slices.Grow(c.df, n)[:n]
		c.seen = append(c.seen, segment.NewBits(n-64*len(c.seen))...)
	}
	c.n = max(c.n, int(gid)+1)
	c.df[gid] += uint32(df)
	c.seen.Set(int(gid))
}

// findFreeSlots lists the numbers of documents that are in use nowhere.
func (x *edit) findFreeSlots() {
	slots := segment.NewBits(int(x.w.nextSlot))
	for i := range x.views {
		v := &x.views[i]
		v.eachLiveDoc(func(ord int) { slots.Set(int(v.DocumentID(ord))) })
	}
	x.w.freeSlots = nil
	for s := range int(x.w.nextSlot) {
		if !slots.Has(s) {
			x.w.freeSlots = append(x.w.freeSlots, uint32(s))
		}
	}
}

// adoptNorms takes the norms of the norms file, and those that other segments
// keep. These may have been computed with other references, each segment's with
// its own: those of the file and then of the largest hold, and the norms of the
// others are corrected.
func (x *edit) adoptNorms(file *normsFile) {
	order := make([]int, len(x.views))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.views[b].Passages(), x.views[a].Passages()) })
	file.adoptAll(x)
	var unknown []*view
	for _, i := range order {
		v := &x.views[i]
		switch {
		case file.adopt(x, v):
		case v.HasScores():
			seg := v.seg
			v.adoptNorms(x.txn, func(i int) float64 { return float64(seg.Norm2(i)) })
			x.adoptReferences(v)
		default:
			unknown = append(unknown, v)
		}
	}
	x.w.drift.lastN = math.Log(float64(1 + x.passages))
	some := freeUpkeep + x.postings/32
	found := x.lookAll(some, some) // gives those a reference that have none
	x.drift = max(found.worst, roundDrift)
	for _, v := range unknown {
		x.norm(v)
	}
	if !found.many {
		x.walkAll(len(x.views), found.terms)
		x.drift = max(found.rest, roundDrift)
	}
}

// adoptReferences brings a segment's references in line with the others.
func (x *edit) adoptReferences(v *view) {
	var differ []int
	cost := 0
	v.EachTerm(func(rank int, gid uint32, df int) {
		ref, st := v.Reference(rank), x.stats.at(int(gid))
		switch {
		case st.reference != st.reference:
			x.stats.edit(x.txn, int(gid)).reference = ref
		case st.reference != ref && ref == ref:
			differ = append(differ, rank)
			cost += df
		}
	})
	if cost > v.PostingCount()/2 {
		x.norm(v)
		return
	}
	w := walker{edit: x}
	for _, at := range differ {
		to, from := float64(x.stats.at(int(v.GID(at))).reference), float64(v.Reference(at))
		w.term(v, at, to*to-from*from)
	}
}
