package index

import (
	"fmt"
	"math"
	"slices"
	"time"

	"quern/index/segment"
)

// setAside takes a damaged segment out of the index, with all documents that
// have a part in it, and returns the snapshot without it.
func (e *Engine) setAside(d *damaged) (*Snapshot, error) {
	next, err := e.without(d)
	if err != nil {
		return nil, fmt.Errorf("set a damaged segment aside: %w", err)
	}
	if next == nil {
		return e.Snapshot(), nil // someone else was first
	}
	if d.seg.Reader == nil {
		e.log.Warn("norms are computed anew", "error", d.err)
		e.store.setNormsDue()
	} else {
		e.tell(fmt.Errorf("segment %s is set aside and its files are to be indexed again: %w", d.seg.label(), d.err))
	}
	if d.seg.name != "" {
		err = e.store.setAside(d.seg.name)
	}
	signal(e.wakeMem)
	return next, err
}

// without publishes a snapshot without a damaged segment and returns it; nil if
// there is no such segment any more. A second
// damaged segment is an error, and nothing is changed.
func (e *Engine) without(d *damaged) (*Snapshot, error) {
	for _, token := range []chan struct{}{e.disk, e.mem, e.writer} {
		token <- struct{}{}
		defer func() { <-token }()
	}
	s := e.Snapshot()
	next := *s
	next.views = slices.DeleteFunc(slices.Clone(s.views), func(v view) bool { return v.seg == d.seg })
	switch {
	case len(next.views) < len(s.views):
		next.generation++
	case d.seg == s.derived: // its figures are made anew, nothing is lost
	default:
		return nil, nil
	}
	next.derived = nil
	for i := range next.views {
		next.views[i].derived = nil
	}
	err := guard(next.views, func() {
		x := e.edit(&next)
		x.count()
		x.dropBroken()
		x.refer()
		for k := range x.views {
			x.norm(&x.views[k])
		}
		x.w.drift = drift{lastN: math.Log(float64(1 + x.passages)), free: x.w.drift.free, fine: x.w.drift.fine, walked: x.postings}
	})
	if err != nil {
		return nil, err
	}
	e.current.Store(&next)
	return &next, nil
}

// setAside renames a damaged file, so that it can be looked at for a while.
func (st *store) setAside(name string) error {
	to := name + damagedSuffix
	if err := st.fs.Rename(name, to); err != nil {
		return fmt.Errorf("set %s aside: %w", name, err)
	}
	st.noteDamaged(to)
	return nil
}

func (st *store) noteDamaged(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.damaged == nil {
		st.damaged = make(map[string]time.Time)
	}
	st.damaged[name] = time.Now()
}

func (st *store) hasDamaged() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.damaged) > 0
}

// purgeDamaged removes damaged files, which may hold text that is to be gone.
func (st *store) purgeDamaged(after time.Duration) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	for name, since := range st.damaged {
		if time.Since(since) < after*3/4 {
			continue
		}
		if err := st.fs.Remove(name); err != nil {
			return fmt.Errorf("remove a damaged file: %w", err)
		}
		delete(st.damaged, name)
	}
	return nil
}

// dropBroken takes out the documents whose passages are not all there, and the
// passages that no document has, and counts what is left.
func (x *edit) dropBroken() {
	whole := segment.NewBits(x.slots)
	for i := range x.views {
		v := &x.views[i]
		v.eachLiveDoc(func(ord int) {
			d := x.document(i, ord)
			if x.isWhole(d) {
				whole.Set(int(d.slot))
			} else {
				v.killDoc(x.txn, ord)
			}
		})
	}
	for i := range x.views {
		v := &x.views[i]
		v.eachLive(func(local int) {
			if !whole.Has(int(v.PassageDoc(local))) {
				x.killAt(i, local)
			}
		})
	}
	x.w.drift.reset()
	x.recount()
	x.findFreeSlots()
}

// isWhole reports whether all passages of a document are there.
func (x *edit) isWhole(d *document) bool {
	for i := range d.places {
		k, local, ok := locate(x.views, d.places[i].pid)
		if !ok || x.views[k].isDead(local) {
			return false
		}
	}
	return true
}

// recount counts all but the terms anew.
func (x *edit) recount() {
	x.passages, x.length, x.documents = 0, 0, 0
	x.folders = make(map[string]FolderStats)
	for i := range x.views {
		v := &x.views[i]
		v.eachLive(func(local int) {
			x.passages++
			x.length += int64(v.PassageLength(local))
		})
		v.eachLiveDoc(func(ord int) {
			d := x.document(i, ord)
			x.countDocument(d.info.Folder, len(d.places), 1)
		})
	}
}
