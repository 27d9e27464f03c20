package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Values worked out by hand.
func TestFormulas(t *testing.T) {
	near(t, "idf of a term that all have", IDF(4, 4), 1)
	near(t, "idf of a rare term", IDF(9, 0), 1+math.Log(10))
	near(t, "log tf of 1", LogTF(1), 1)
	near(t, "log tf of 255", LogTF(255), 1+math.Log(255))
	near(t, "log tf of 300", LogTF(300), 1+math.Log(300))
	near(t, "raw tf", RawTF(7), 7)
	var s Squares
	s.Add(3)
	s.Add(4)
	near(t, "norm", s.Norm(), 5)
	near(t, "cosine", Cosine(3, 5, 4, 5), 0.48)
	near(t, "bm25 idf of a term that all have", BM25IDF(4, 4), math.Log(1+0.5/4.5))
	near(t, "bm25 idf of a rare term", BM25IDF(10, 1), math.Log(1+9.5/1.5))
	near(t, "length of the average", BM25Length(0.9, 0.4, 30, 30), 0.9)
	near(t, "length without b", BM25Length(0.9, 0, 90, 30), 0.9)
	near(t, "length with b 1", BM25Length(1.2, 1, 60, 30), 2.4)
	near(t, "bm25", BM25(2, 3, 4, 0.8), 2*3*4/4.8)
}

func TestWeightsArePositive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<40).Draw(t, "n")
		df := rapid.IntRange(1, n).Draw(t, "df")
		if IDF(n, df) < 1 || BM25IDF(n, df) <= 0 {
			t.Fatalf("idf %v, bm25 %v", IDF(n, df), BM25IDF(n, df))
		}
		if df > 1 && (IDF(n, df-1) < IDF(n, df) || BM25IDF(n, df-1) < BM25IDF(n, df)) {
			t.Fatal("a rarer term weighs less")
		}
	})
}

var drawKeys = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Key {
	return Key{
		Score:   rapid.SampledFrom([]float64{0.25, 0.5, 1}).Draw(t, "score"),
		Path:    rapid.SampledFrom([]string{"/a", "/a/b", "/b", "/ab"}).Draw(t, "path"),
		Passage: rapid.IntRange(0, 5).Draw(t, "passage"),
	}
}), 0, 60, func(k Key) string { return fmt.Sprint(k.Path, k.Passage) })

// Top is what sorting all and cutting gives.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys.Draw(t, "keys")
		limit, offset := rapid.IntRange(-1, 70).Draw(t, "limit"), rapid.IntRange(-1, 10).Draw(t, "offset")
		top := NewTop[Key](limit)
		for _, k := range keys {
			top.Push(k, k)
		}
		got, values := top.Take(offset)
		slices.SortFunc(keys, Compare)
		want := keys[:min(max(limit, 0), len(keys))]
		want = want[min(max(offset, 0), len(want)):]
		if !slices.Equal(got, want) || !slices.Equal(values, want) {
			t.Fatalf("got %v, values %v, want %v", got, values, want)
		}
	})
}

func TestOrder(t *testing.T) {
	keys := []Key{{1, "/a", 2}, {0.5, "/a", 0}, {0.5, "/a", 1}, {0.5, "/a/b", 0}, {0.5, "/ab", 0}, {0.1, "/a", 3}}
	if !slices.IsSortedFunc(keys, Compare) {
		t.Errorf("%v are not in order", keys)
	}
}

// Floor is the limit-th best of each owner's best bound.
func TestFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 6).Draw(t, "limit")
		distinct := rapid.Bool().Draw(t, "distinct")
		f := NewFloor(limit, distinct)
		best := make(map[int32]float64)
		for i, v := range rapid.SliceOf(rapid.Float64Range(0, 1)).Draw(t, "bounds") {
			owner := int32(i)
			if !distinct {
				owner = int32(rapid.IntRange(0, 9).Draw(t, "owner"))
			}
			best[owner] = max(best[owner], v)
			f.Raise(owner, v)
			var all []float64
			for _, v := range best {
				all = append(all, v)
			}
			slices.SortFunc(all, func(a, b float64) int { return cmp.Compare(b, a) })
			want := math.Inf(-1)
			switch {
			case limit == 0:
				want = math.Inf(1)
			case len(all) >= limit:
				want = all[limit-1]
			}
			if f.Value() != want {
				t.Fatalf("floor %v, want %v of %v", f.Value(), want, all)
			}
		}
	})
}
