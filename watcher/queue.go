package watcher

import (
	"slices"
	"strings"
)

// Batch is a number of settled changes that are handed out together, in path
// order. It is outstanding until Done. A Remove and a Write of the same device,
// inode, size and modification time are the halves of a rename, unless the path
// written was known before: it is another hard link then. Both halves are in one
// batch wherever the watcher learns of them together.
type Batch struct {
	Changes []Change
	epochs  []uint64 // of the changes
}

// lane is a rank of urgency in the queue.
type lane uint8

const (
	urgent lane = iota // found by an event
	bulk               // found by a scan
	lanes
)

// pairLimit bounds the number of waiting writes that are known by identity.
const pairLimit = 1 << 16

// sortChunk bounds how many changes are sorted at once, for meanwhile no event is read.
const sortChunk = 4096

// queue holds the changes to deliver, one a path, and knows which paths are
// being applied. Guarded by Watcher.mu.
type queue struct {
	ledger *ledger
	items  map[string]*item
	lines  [lanes]line
	// Held changes wait for the other half of a rename: removes until release
	// is told so, others while hold. A change that has become the other kind
	// is in both lists.
	heldRemoves, heldOthers []*item
	hold                    bool
	out                     map[string]bool // paths in outstanding batches
	// The other half of a rename, by identity.
	gone, came map[ident]*item
}

// item is a change to deliver. It holds a token.
type item struct {
	change Change
	epoch  uint64
	lane   lane
	where  place
}

// place says where an item waits.
type place uint8

const (
	nowhere place = iota
	inHeld
	inLine
	behind // until an earlier change of the path is applied
	taken
)

// line is a lane's items: those that came since the last sort, and the rest of
// the sorted ones, last first.
type line struct{ fresh, sorted []*item }

// waiting is the number of paths with a change that is not applied.
func (q *queue) waiting() int {
	n := len(q.out)
	for path := range q.items {
		if !q.out[path] {
			n++
		}
	}
	return n
}

func (q *queue) init(l *ledger) {
	q.ledger = l
	q.items, q.out = map[string]*item{}, map[string]bool{}
	q.gone, q.came = map[ident]*item{}, map[ident]*item{}
}

// put adds a change, or lets it take the place of an earlier one of the path that
// was not delivered yet. A Remove is held until release, and everything while hold.
func (q *queue) put(c Change, epoch uint64, l lane) {
	it := q.items[c.Path]
	if it == nil {
		it = &item{epoch: epoch, lane: l}
		q.items[c.Path] = it
		q.ledger.add(epoch)
	} else {
		q.forget(it)
		it.epoch = q.ledger.move(it.epoch, epoch)
	}
	it.change = c
	q.know(it)
	switch {
	case it.where != nowhere && it.where != inHeld:
	case c.Op == Remove:
		it.where = inHeld
		q.heldRemoves = append(q.heldRemoves, it)
	case q.hold:
		it.where = inHeld
		q.heldOthers = append(q.heldOthers, it)
	default:
		q.line(it)
	}
	if len(q.heldOthers) >= sortChunk {
		q.release(false)
		q.hold = true
	}
}

// line puts an item in its lane.
func (q *queue) line(it *item) {
	it.where = inLine
	q.lines[it.lane].fresh = append(q.lines[it.lane].fresh, it)
}

// release ends hold and lets what is held go, the removes only if asked for.
func (q *queue) release(removes bool) {
	q.hold = false
	for _, it := range q.heldOthers {
		if it.where == inHeld && it.change.Op != Remove {
			q.line(it)
		}
	}
	q.heldOthers = nil
	if !removes {
		return
	}
	for _, it := range q.heldRemoves {
		if it.where == inHeld {
			q.line(it)
		}
	}
	q.heldRemoves = nil
}

// know remembers the item as a possible half of a rename, forget drops that.
func (q *queue) know(it *item) {
	id := it.change.Info.ident()
	switch {
	case id.ino == 0:
	case it.change.Op == Remove:
		q.gone[id] = it
	case it.change.Op == Write && len(q.came) < pairLimit:
		q.came[id] = it
	}
}

func (q *queue) forget(it *item) {
	id := it.change.Info.ident()
	if q.gone[id] == it {
		delete(q.gone, id)
	}
	if q.came[id] == it {
		delete(q.came, id)
	}
}

// partner returns the waiting other half of a rename, or nil.
func (q *queue) partner(c Change) *item {
	var p *item
	switch c.Op {
	case Remove:
		p = q.came[c.Info.ident()]
	case Write:
		p = q.gone[c.Info.ident()]
	}
	if p == nil || p.where == behind || q.out[p.change.Path] || p.change.Path == c.Path ||
		p.change.Info.Size != c.Info.Size || !p.change.Info.Modified.Equal(c.Info.Modified) {
		return nil
	}
	return p
}

// take returns a batch of at most n changes (one more where that keeps the halves
// of a rename together), or nil.
func (q *queue) take(n int) *Batch {
	var got []*item
	for l := range q.lines {
		for len(got) < n {
			it := q.pop(&q.lines[l])
			if it == nil {
				break
			}
			got = append(got, it)
			if p := q.partner(it.change); p != nil {
				q.claim(p)
				got = append(got, p)
			}
		}
	}
	if len(got) == 0 {
		return nil
	}
	slices.SortFunc(got, func(a, b *item) int { return strings.Compare(a.change.Path, b.change.Path) })
	b := &Batch{Changes: make([]Change, len(got)), epochs: make([]uint64, len(got))}
	for i, it := range got {
		b.Changes[i], b.epochs[i] = it.change, it.epoch
	}
	return b
}

// pop claims the next item of a line that may be delivered.
func (q *queue) pop(l *line) *item {
	for {
		if len(l.sorted) == 0 {
			if len(l.fresh) == 0 {
				return nil
			}
			n := min(len(l.fresh), sortChunk)
			l.sorted, l.fresh = l.fresh[:n:n], l.fresh[n:]
			slices.SortFunc(l.sorted, func(a, b *item) int { return strings.Compare(b.change.Path, a.change.Path) })
		}
		it := l.sorted[len(l.sorted)-1]
		l.sorted = l.sorted[:len(l.sorted)-1]
		switch {
		case it.where != inLine: // taken as the other half of a rename
		case q.out[it.change.Path]:
			it.where = behind
		default:
			q.claim(it)
			return it
		}
	}
}

// claim moves an item to the outstanding ones.
func (q *queue) claim(it *item) {
	q.forget(it)
	it.where = taken
	delete(q.items, it.change.Path)
	q.out[it.change.Path] = true
}

// ready reports whether take may find something.
func (q *queue) ready() bool {
	for i := range q.lines {
		if len(q.lines[i].fresh)+len(q.lines[i].sorted) > 0 {
			return true
		}
	}
	return false
}

// finish ends a batch: its paths may be delivered again, its tokens go back.
func (q *queue) finish(b *Batch) {
	epochs := b.epochs
	b.epochs = nil
	for i := range epochs {
		path := b.Changes[i].Path
		delete(q.out, path)
		if it := q.items[path]; it != nil && it.where == behind {
			q.line(it)
		}
	}
	for _, e := range epochs {
		q.ledger.done(e)
	}
}
