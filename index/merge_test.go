package index

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMergesKeepSegmentsFew adds segments of any sizes, kills passages, and
// merges while a merge is wanted: few segments must be left, little of them
// dead, and it must end.
func TestMergesKeepSegmentsFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var views []size
		written, added := 0, 0
		for range rapid.IntRange(1, 150).Draw(t, "batches") {
			n := rapid.SampledFrom([]int{1, 1, 5, 60, 500, 8192}).Draw(t, "passages")
			added += n
			views = append(views, size{n, n})
			if i := rapid.IntRange(0, 2*len(views)).Draw(t, "killed"); i < len(views) {
				views[i].live = rapid.IntRange(0, views[i].live).Draw(t, "live")
			}
			for merges := 0; ; merges++ {
				lo, hi := chooseMerge(views)
				if lo == hi {
					break
				}
				if merges > 200 {
					t.Fatal("merging does not end")
				}
				live := 0
				for _, v := range views[lo:hi] {
					live += v.live
				}
				written += live
				var with []size
				if live > 0 {
					with = []size{{live, live}}
				}
				views = slices.Concat(views[:lo], with, views[hi:])
			}
			total := 0
			for _, v := range views {
				total += v.live
				if 5*(v.all-v.live) > v.all {
					t.Fatalf("a segment has %d of %d passages alive", v.live, v.all)
				}
			}
			if most := mergeFanIn + bits.Len(uint(total)); len(views) > most {
				t.Fatalf("%d segments for %d passages", len(views), total)
			}
		}
		if most := 2 * (bits.Len(uint(added)) + tinySegment/mergeFanIn) * added; written > most {
			t.Fatalf("%d passages were written %d times", added, written)
		}
	})
}
