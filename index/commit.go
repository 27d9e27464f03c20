package index

import (
	"maps"
	"math"
	"slices"

	"quern/index/segment"
)

// edit is a transaction: it makes the next snapshot from the one before,
// copying what it changes.
type edit struct {
	*Snapshot // the next one
	txn       uint64
	w         *writerState
	list      []segment.TermTF // scratch
}

// commit carries out a plan and returns the next snapshot.
func (e *Engine) commit(p *plan) *Snapshot {
	next := *p.base
	next.generation++
	x := e.edit(&next)
	for _, d := range p.dropped() {
		x.drop(d)
	}
	p.each(x.release)
	old := len(next.views)
	for _, part := range p.parts {
		x.addPart(part)
	}
	p.each(func(t *target) { x.countDocument(t.info.Folder, t.info.Passages, 1) })
	x.certify(old)
	return &next
}

// edit begins a transaction that changes next in place. It must not be given
// up half-way through: it takes the writer's notes along.
func (e *Engine) edit(next *Snapshot) *edit {
	e.state.txn++
	next.views = slices.Clone(next.views)
	next.folders = maps.Clone(next.folders)
	if next.folders == nil {
		next.folders = make(map[string]FolderStats)
	}
	return &edit{Snapshot: next, txn: e.state.txn, w: &e.state}
}

// drop removes a document and all its passages.
func (x *edit) drop(d *document) {
	for i := range d.places {
		x.kill(d.places[i].pid)
	}
	x.forget(d)
	x.w.freeSlots = append(x.w.freeSlots, d.slot)
}

// forget takes a document's record out.
func (x *edit) forget(d *document) {
	x.views[d.view].killDoc(x.txn, d.ord)
	x.countDocument(d.info.Folder, len(d.places), -1)
}

func (x *edit) countDocument(folder string, passages, sign int) {
	x.documents += sign
	f := x.folders[folder]
	f.Documents += sign
	f.Passages += sign * passages
	if f == (FolderStats{}) {
		delete(x.folders, folder)
		return
	}
	x.folders[folder] = f
}

// release takes out the record that a target's new one replaces, and the
// passages that are not kept.
func (x *edit) release(t *target) {
	if t.old == nil {
		return
	}
	x.forget(t.old)
	if t.content == nil {
		return
	}
	kept := make(map[uint64]bool, len(t.places))
	for i := range t.places {
		kept[t.places[i].pid] = true
	}
	for i := range t.old.places {
		if pid := t.old.places[i].pid; !kept[pid] {
			x.kill(pid)
		}
	}
}

// kill takes a passage out of the index.
func (x *edit) kill(pid uint64) {
	i, local, ok := locate(x.views, pid)
	if !ok || x.views[i].isDead(local) {
		return // lost with a damaged segment
	}
	x.killAt(i, local)
}

func (x *edit) killAt(i, local int) {
	v := &x.views[i]
	v.kill(x.txn, local)
	x.passages--
	x.length -= int64(v.PassageLength(local))
	x.list = v.terms(local, x.list)
	for _, t := range x.list {
		x.countTerm(v.GID(int(t.Term)), -1, i, int(t.Term))
	}
}

// countTerm changes the df of a term, which is the one of a rank in a view.
func (x *edit) countTerm(gid uint32, by, view, rank int) {
	st := x.stats.edit(x.txn, int(gid))
	switch {
	case st.df == 0:
		x.terms++
	case int(st.df)+by == 0:
		x.terms--
	}
	st.df = uint32(int(st.df) + by)
	x.w.drift.touch(gid, view, rank)
	x.postings += int64(by)
}

// growTerms makes room for the numbers of new terms.
func (x *edit) growTerms() {
	old := x.stats.len()
	x.stats.grow(x.txn, int(x.w.numbers.next))
	for g := old; g < x.stats.len(); g++ {
		x.stats.edit(x.txn, g).reference = noReference
	}
}

// addPart adds the segment of a part.
func (x *edit) addPart(p part) {
	x.growTerms()
	i := len(x.views)
	v := newView(x.txn, p.seg, p.first)
	v.derived = x.derived
	x.views = append(x.views, v)
	v.EachTerm(func(rank int, gid uint32, df int) { x.countTerm(gid, df, i, rank) })
	x.passages += v.Passages()
	x.length += v.Length()
	x.slots = max(x.slots, int(x.w.nextSlot))
}

// writerState is what only the writer needs.
type writerState struct {
	txn       uint64 // number of the last transaction
	nextPID   uint64
	nextSlot  uint32
	freeSlots []uint32 // slots of no document
	numbers   numbering
	drift     drift
	postings  segment.Postings // scratch
	idfs      nearIDFs
}

func (w *writerState) takeSlot() uint32 {
	if n := len(w.freeSlots); n > 0 {
		slot := w.freeSlots[n-1]
		w.freeSlots = w.freeSlots[:n-1]
		return slot
	}
	if w.nextSlot == math.MaxUint32 {
		panic("index: more than four thousand million documents")
	}
	w.nextSlot++
	return w.nextSlot - 1
}
