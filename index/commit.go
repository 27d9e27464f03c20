package index

import (
	"maps"
	"slices"
)

// edit is a transaction: it makes the next snapshot from the one before,
// copying what it changes. It cannot fail.
type edit struct {
	*Snapshot // the next one
	txn       uint64
	w         *writerState
}

// commit carries out a plan and returns the next snapshot.
func (e *Engine) commit(p *plan) *Snapshot {
	next := *p.base
	next.generation++
	next.views = slices.Clone(next.views)
	next.folders = maps.Clone(next.folders)
	if next.folders == nil {
		next.folders = make(map[string]FolderStats)
	}
	x := e.edit(&next)
	for _, slot := range p.dropped() {
		x.drop(slot)
	}
	p.each(x.release)
	old := len(next.views)
	for _, part := range p.parts {
		x.addPart(part)
	}
	p.each(x.place)
	for i := range p.parts {
		x.fillPart(old+i, p.parts[i])
	}
	x.certify(old)
	return &next
}

// edit begins a transaction that changes next in place.
func (e *Engine) edit(next *Snapshot) *edit {
	e.state.txn++
	return &edit{Snapshot: next, txn: e.state.txn, w: &e.state}
}

// drop removes a document and all its passages.
func (x *edit) drop(slot uint32) {
	d := x.docs.at(int(slot))
	for i := range d.passages {
		x.kill(d.passages[i].pid)
	}
	x.forget(slot, d)
	x.docs.set(x.txn, int(slot), nil)
	x.w.free = append(x.w.free, slot)
}

// forget takes a document out of the paths and the counts.
func (x *edit) forget(slot uint32, d *document) {
	x.paths.remove(x.txn, d.info.Path, slot)
	x.countDocument(d, -1)
}

func (x *edit) countDocument(d *document, sign int) {
	x.documents += sign
	x.text += int64(sign * len(d.text))
	f := x.folders[d.info.Folder]
	f.Documents += sign
	f.Passages += sign * len(d.passages)
	if f == (FolderStats{}) {
		delete(x.folders, d.info.Folder)
		return
	}
	x.folders[d.info.Folder] = f
}

// release frees what a target's document no longer has: its path, to be
// given anew, and the passages that are not kept.
func (x *edit) release(t *target) {
	if t.slot < 0 {
		return
	}
	d := x.docs.at(t.slot)
	x.forget(uint32(t.slot), d)
	if t.content == nil {
		return
	}
	kept := make(map[uint64]bool, len(t.passages))
	for i := range t.passages {
		kept[t.passages[i].pid] = true
	}
	for i := range d.passages {
		if pid := d.passages[i].pid; !kept[pid] {
			x.kill(pid)
		}
	}
}

// kill takes a passage out of the index.
func (x *edit) kill(pid uint64) {
	i, local := locate(x.views, pid)
	v := &x.views[i]
	v.kill(x.txn, local)
	x.passages--
	x.length -= int64(v.lengths[local])
	list := readPairs(v.forward.list(local))
	for {
		r, _, ok := list.next()
		if !ok {
			return
		}
		x.countTerm(v.terms[r], -1)
	}
}

// countTerm changes the df of a term.
func (x *edit) countTerm(id uint32, by int) {
	df := x.dfs.edit(x.txn, int(id))
	switch {
	case *df == 0:
		x.terms++
		x.w.drift.forget(id)
	case int(*df)+by == 0:
		x.terms--
	}
	*df = uint32(int(*df) + by)
	x.w.drift.touch(x.txn, id)
	x.postings += int64(by)
}

// addPart adds the segment of a part, whose passages get their pids.
func (x *edit) addPart(p part) {
	s := p.segment
	s.setTerms(x.table.intern(p.names))
	x.names = x.table.names
	x.dfs.grow(x.txn, len(x.names))
	x.w.drift.grow(len(x.names))
	for r, id := range s.terms {
		x.countTerm(id, int(p.counts[r]))
	}
	s.pids, s.docs = make([]uint64, len(p.jobs)), make([]uint32, len(p.jobs))
	for i, j := range p.jobs {
		x.w.nextPID++
		s.pids[i] = x.w.nextPID
		j.t.passages[j.n].pid = x.w.nextPID
		x.length += int64(s.lengths[i])
	}
	x.passages += len(p.jobs)
	x.views = append(x.views, newView(x.txn, s))
}

// place puts a target's document where it belongs. All its passages have
// their pids by now.
func (x *edit) place(t *target) {
	d := &document{info: t.info}
	switch {
	case t.content == nil:
		old := x.docs.at(t.slot)
		d.text, d.passages = old.text, old.passages
	default:
		d.text, d.passages = t.content.Text, t.passages
		x.number(t)
	}
	if t.slot < 0 {
		t.slot = x.newSlot()
	}
	x.docs.set(x.txn, t.slot, d)
	x.paths.insert(x.txn, &x.docs, t.path, uint32(t.slot))
	x.countDocument(d, 1)
}

// number gives each of a target's kept passages its number; fillPart sees to
// the new ones.
func (x *edit) number(t *target) {
	fresh := t.fresh
	for n := range t.passages {
		if len(fresh) > 0 && fresh[0] == n {
			fresh = fresh[1:]
			continue
		}
		i, local := locate(x.views, t.passages[n].pid)
		if v := &x.views[i]; v.numbers.at(local) != uint32(n) {
			v.numbers.set(x.txn, local, uint32(n))
		}
	}
}

func (x *edit) newSlot() int {
	if n := len(x.w.free); n > 0 {
		slot := x.w.free[n-1]
		x.w.free = x.w.free[:n-1]
		return int(slot)
	}
	x.docs.grow(x.txn, x.docs.len()+1)
	return x.docs.len() - 1
}

// fillPart tells a new segment's passages their documents and numbers.
func (x *edit) fillPart(i int, p part) {
	v := &x.views[i]
	for local, j := range p.jobs {
		v.docs[local] = uint32(j.t.slot)
		v.numbers.set(x.txn, local, uint32(j.n))
	}
}
