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
