package daemon

import (
	"sync"

	"quern/index"
)

// maxRemembered bounds the changes that a core remembers for subscribers.
const maxRemembered = 8192

// kind is what a change did to a document.
type kind byte

const (
	added kind = iota
	modified
	removed
)

// documentChange is one change of a document.
type documentChange struct {
	generation uint64 // of the engine
	kind       kind
	path       string
	folder     string
	rel        string
}

// changeLog remembers the latest changes of an index.
type changeLog struct {
	mu sync.Mutex // guards all fields below
	// start is the generation after which nothing is missing.
	start uint64
	// epoch grows when documents were lost without a change.
	epoch   uint64
	entries []documentChange // by generation
}

// record notes what a batch did to the documents of before.
func (l *changeLog) record(before *index.Snapshot, generation uint64, changes []index.Change) {
	if generation == before.Generation() {
		return
	}
	b := batch{before: before, generation: generation, exists: map[string]bool{}}
	for _, c := range changes {
		switch {
		case c.Put != nil:
			b.put(c.Put)
		case c.Move != nil:
			b.remove(c.Move.From)
			b.put(&c.Move.To)
		default:
			b.remove(c.Remove)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, b.out...)
	if over := len(l.entries) - maxRemembered; over > 0 {
		l.forget(over + maxRemembered/4) // not one by one
	}
}

// forget drops the first n entries. l.mu is held.
func (l *changeLog) forget(n int) {
	n = min(n, len(l.entries))
	l.start = l.entries[n-1].generation // some of which may be gone
	l.entries = append([]documentChange(nil), l.entries[n:]...)
}

// lose says that documents have gone that no change tells of.
func (l *changeLog) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch++
}

// since returns the changes after a generation; ok is false when some of them
// are forgotten. The epoch is the one to compare with later.
func (l *changeLog) since(generation uint64) (changes []documentChange, epoch uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation < l.start {
		return nil, l.epoch, false
	}
	first := len(l.entries)
	for first > 0 && l.entries[first-1].generation > generation {
		first--
	}
	return append([]documentChange(nil), l.entries[first:]...), l.epoch, true
}

// batch finds out what the changes of one generation did.
type batch struct {
	before     *index.Snapshot
	generation uint64
	exists     map[string]bool // documents that the batch has put or removed
	out        []documentChange
}

func (b *batch) has(path string) bool {
	if exists, ok := b.exists[path]; ok {
		return exists
	}
	_, ok := b.before.Document(path)
	return ok
}

func (b *batch) put(d *index.Document) {
	k := added
	if b.has(d.Path) {
		k = modified
	}
	b.exists[d.Path] = true
	b.out = append(b.out, documentChange{b.generation, k, d.Path, d.Folder, d.Rel})
}

func (b *batch) remove(path string) {
	if !b.has(path) {
		return
	}
	c := documentChange{generation: b.generation, kind: removed, path: path}
	if doc, ok := b.before.Document(path); ok {
		c.folder, c.rel = doc.Folder, doc.Rel
	}
	b.exists[path] = false
	b.out = append(b.out, c)
}

// news tells many that something has happened. The zero value is ready.
type news struct {
	mu sync.Mutex
	ch chan struct{} // nil while nobody waits
}

// next is closed with the next tell.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

// tell never waits.
func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}
