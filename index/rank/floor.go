package rank

import (
	"math"
	"sync"
	"sync/atomic"
)

// Floor follows the limit-th best of many lower bounds: what a candidate must
// be able to reach to be among the best. Several bounds for one owner (say,
// passages of one document) count once, at the highest. It may be used from
// several goroutines.
type Floor struct {
	limit int
	value atomic.Uint64 // bits of Value; never falls

	mu    sync.Mutex    // guards the fields below
	heap  []bound       // the lowest at the root
	where map[int32]int // owner → place in heap; nil when owners are all different
}

type bound struct {
	value float64
	owner int32
}

// NewFloor returns a Floor over limit owners. With distinct set, no owner
// is raised twice, which saves keeping track of them.
func NewFloor(limit int, distinct bool) *Floor {
	f := &Floor{limit: limit}
	least := -1
	if limit <= 0 {
		least = 1
	}
	f.value.Store(math.Float64bits(math.Inf(least)))
	if !distinct {
		f.where = make(map[int32]int)
	}
	return f
}

// Value is the limit-th highest bound so far; below every score while there
// are fewer than limit owners, and above every score if limit ≤ 0.
func (f *Floor) Value() float64 { return math.Float64frombits(f.value.Load()) }

// Raise says that owner reaches at least value.
func (f *Floor) Raise(owner int32, value float64) {
	if value <= f.Value() {
		return // it is not among the best, or known to be
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raise(owner, value)
	if len(f.heap) == f.limit {
		f.value.Store(math.Float64bits(f.heap[0].value))
	}
}

func (f *Floor) raise(owner int32, value float64) {
	if f.where != nil {
		if i, ok := f.where[owner]; ok {
			if value > f.heap[i].value {
				f.heap[i].value = value
				f.down(i)
			}
			return
		}
	}
	switch {
	case len(f.heap) < f.limit:
		f.heap = append(f.heap, bound{})
		f.place(len(f.heap)-1, bound{value, owner})
		f.up(len(f.heap) - 1)
	case value > f.heap[0].value:
		if f.where != nil {
			delete(f.where, f.heap[0].owner)
		}
		f.place(0, bound{value, owner})
		f.down(0)
	}
}

func (f *Floor) place(i int, b bound) {
	f.heap[i] = b
	if f.where != nil {
		f.where[b.owner] = i
	}
}

func (f *Floor) up(i int) {
	b := f.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if f.heap[parent].value <= b.value {
			break
		}
		f.place(i, f.heap[parent])
		i = parent
	}
	f.place(i, b)
}

func (f *Floor) down(i int) {
	b := f.heap[i]
	for {
		child := 2*i + 1
		if child >= len(f.heap) {
			break
		}
		if child+1 < len(f.heap) && f.heap[child+1].value < f.heap[child].value {
			child++
		}
		if f.heap[child].value >= b.value {
			break
		}
		f.place(i, f.heap[child])
		i = child
	}
	f.place(i, b)
}
