package rank

import (
	"cmp"
	"slices"
	"strings"
)

// Key is what hits are ordered by: score descending, then path by its bytes,
// then passage number.
type Key struct {
	Score   float64
	Path    string
	Passage int
}

// Compare is negative when a comes before b.
func Compare(a, b Key) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return cmp.Compare(a.Passage, b.Passage)
}

// Top keeps the best few of any number of keyed values, in O(log limit) a
// value and O(limit) memory. Keys that are pushed must differ.
type Top[T any] struct {
	limit int
	heap  []entry[T] // the worst at the root
}

type entry[T any] struct {
	key   Key
	value T
}

// NewTop returns a Top that keeps limit values; none if limit ≤ 0.
func NewTop[T any](limit int) *Top[T] { return &Top[T]{limit: limit} }

// Push offers a value.
func (t *Top[T]) Push(k Key, v T) {
	if len(t.heap) < t.limit {
		t.heap = append(t.heap, entry[T]{k, v})
		t.up(len(t.heap) - 1)
		return
	}
	if t.limit <= 0 || Compare(k, t.heap[0].key) >= 0 {
		return
	}
	t.heap[0] = entry[T]{k, v}
	t.down()
}

func (t *Top[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if Compare(t.heap[i].key, t.heap[parent].key) <= 0 {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *Top[T]) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && Compare(t.heap[child+1].key, t.heap[child].key) > 0 {
			child++
		}
		if Compare(t.heap[child].key, t.heap[i].key) <= 0 {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}

// Take empties t and returns its keys and values from the offset-th best on,
// best first.
func (t *Top[T]) Take(offset int) ([]Key, []T) {
	slices.SortFunc(t.heap, func(a, b entry[T]) int { return Compare(a.key, b.key) })
	kept := t.heap[min(max(offset, 0), len(t.heap)):]
	keys, values := make([]Key, len(kept)), make([]T, len(kept))
	for i, e := range kept {
		keys[i], values[i] = e.key, e.value
	}
	t.heap = nil
	return keys, values
}
