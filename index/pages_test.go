package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

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

// TestPagesOnABase changes, and makes longer, arrays that begin as a function.
func TestPagesOnABase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		base := func(i int) int {
			if i >= n {
				t.Fatalf("base is asked for %d of %d", i, n)
			}
			return 3 * i
		}
		p := pagesOn(1, n, base)
		want := make([]int, n)
		for i := range want {
			want[i] = 3 * i
		}
		for txn := range uint64(8) {
			before, kept := p, slices.Clone(want)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				more := len(want) + rapid.IntRange(0, 130).Draw(t, "more")
				p.grow(txn+2, more)
				want = append(want, make([]int, more-len(want))...)
			default:
				if len(want) > 0 {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
					p.set(txn+2, i, -i)
					want[i] = -i
				}
			}
			for i, v := range want {
				if p.at(i) != v {
					t.Fatalf("element %d is %d, not %d", i, p.at(i), v)
				}
			}
			for i, v := range kept {
				if before.at(i) != v {
					t.Fatalf("element %d of the copy is %d, not %d", i, before.at(i), v)
				}
			}
		}
	})
}
