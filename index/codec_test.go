package index

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Lists are read as they were written, by either reader.
func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Uint32Range(0, math.MaxUint32-1), 0, 600, rapid.ID).Draw(t, "numbers")
		slices.Sort(numbers)
		var list []entry
		for _, n := range numbers {
			list = append(list, entry{n, rapid.SampledFrom([]uint32{1, 1, 2, 200, math.MaxUint32}).Draw(t, "tf")})
		}
		coded := codeLists(list, []int{0, len(list)})
		var one, many []entry
		p := readPairs(coded.list(0))
		for id, tf, ok := p.next(); ok; id, tf, ok = p.next() {
			one = append(one, entry{id, tf})
		}
		x, q := new(scratch), readPairs(coded.list(0))
		for n := x.fill(&q); n > 0; n = x.fill(&q) {
			for i := range n {
				many = append(many, entry{x.ids[i], x.tfs[i]})
			}
		}
		if !slices.Equal(one, list) || !slices.Equal(many, list) {
			t.Fatalf("%v is read as %v and %v", list, one, many)
		}
	})
}

func TestGallop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Uint32Range(0, 90), 0, 60).Draw(t, "ids")
		slices.Sort(ids)
		ids = slices.Compact(ids)
		at := rapid.IntRange(0, len(ids)).Draw(t, "at")
		id := rapid.Uint32Range(0, 99).Draw(t, "id")
		n, _ := slices.BinarySearch(ids[at:], id)
		if got := gallop(ids, at, id); got != at+n {
			t.Fatalf("gallop(%v, %d, %d) = %d, want %d", ids, at, id, got, at+n)
		}
	})
}

// Copies of pages stay as they are whatever later transactions do.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pages[int]
		var model []int
		var kept []pages[int]
		var models [][]int
		for txn := range uint64(12) {
			for range rapid.IntRange(0, 5).Draw(t, "edits") {
				if n := rapid.IntRange(0, 700).Draw(t, "n"); n > p.len() {
					p.grow(txn+1, n)
					model = append(model, make([]int, n-len(model))...)
				} else if p.len() > 0 {
					i := n % p.len()
					p.set(txn+1, i, n)
					model[i] = n
				}
			}
			kept, models = append(kept, p), append(models, slices.Clone(model))
		}
		for k := range kept {
			for i := range models[k] {
				if kept[k].len() != len(models[k]) || kept[k].at(i) != models[k][i] {
					t.Fatalf("copy %d has changed at %d", k, i)
				}
			}
		}
	})
}
