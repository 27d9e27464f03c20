package index

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// admission knows which documents may be found, once it was asked. It is used by
// several goroutines.
type admission struct {
	on             bool // documents are to be told apart
	seen, admitted []atomic.Uint64

	mu    sync.Mutex // guards the asking, and total
	total int        // documents admitted
}

// reset prepares for documents whose slots are below n.
func (a *admission) reset(n int) {
	words := (n + 63) / 64
	if len(a.seen) < words {
		a.seen, a.admitted = make([]atomic.Uint64, words), make([]atomic.Uint64, words)
	}
	for i := range words {
		a.seen[i].Store(0)
		a.admitted[i].Store(0)
	}
	a.on, a.total = true, 0
}

// has says whether the document may be found, asking ask at the first time.
func (a *admission) has(doc uint32, ask func() bool) bool {
	word, bit := doc/64, uint64(1)<<(doc%64)
	if a.seen[word].Load()&bit != 0 {
		return a.admitted[word].Load()&bit != 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen[word].Load()&bit == 0 {
		if ask() {
			a.admitted[word].Or(bit)
			a.total++
		}
		a.seen[word].Or(bit) // last: who sees it must see the other
	}
	return a.admitted[word].Load()&bit != 0
}

// admitAll gives those of the passages of a block whose documents may be found.
func (w *visitor) admitAll(v *view, block int, live uint64) uint64 {
	for m := live; m != 0; m &= m - 1 {
		j := bits.TrailingZeros64(m)
		doc := uint32(v.PassageDoc(64*block + j))
		if !w.admission.has(doc, func() bool { return w.o.Keep == nil || w.o.Keep(&w.record(v, doc).info) }) {
			live &^= 1 << j
		}
	}
	return live
}
