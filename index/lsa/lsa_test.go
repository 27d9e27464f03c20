package lsa

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// sampleOf makes a sample of bags of words.
func sampleOf(bags ...map[string]int) *Sample {
	df := map[string]int{}
	for _, bag := range bags {
		for t := range bag {
			df[t]++
		}
	}
	s := &Sample{Passages: len(bags)}
	for t := range df {
		s.Terms = append(s.Terms, t)
	}
	slices.Sort(s.Terms)
	for _, t := range s.Terms {
		s.IDF = append(s.IDF, math.Log(float64(1+len(bags))/float64(1+df[t]))+1)
	}
	for _, bag := range bags {
		var columns, tfs []int32
		for i, t := range s.Terms {
			if bag[t] > 0 {
				columns, tfs = append(columns, int32(i)), append(tfs, int32(bag[t]))
			}
		}
		s.Add(columns, tfs)
	}
	return s
}

func bagOf(words ...string) map[string]int {
	bag := map[string]int{}
	for _, w := range words {
		bag[w]++
	}
	return bag
}

func fit(t *testing.T, s *Sample, dims int) *Model {
	t.Helper()
	m, err := Fit(context.Background(), s, Options{Dimensions: dims, Oversampling: 10, Powers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(m *Model, a, b string) float64 {
	v := NewVectors(m.Dimensions(), 1)
	v.Set(0, m.Project([]Term{{b, 1}}))
	return v.Score(NewQuery(m.Project([]Term{{a, 1}})), 0)
}

func TestWordsOfOneTopicAreNear(t *testing.T) {
	var bags []map[string]int
	for i := range 12 {
		// "car" and "automobile" never stand together.
		word := []string{"car", "automobile"}[i%2]
		bags = append(bags, bagOf(word, "engine", "wheel", fmt.Sprint("road", i%3)))
		bags = append(bags, bagOf("flour", "oven", []string{"bread", "cake"}[i%2], fmt.Sprint("sugar", i%3)))
	}
	m := fit(t, sampleOf(bags...), 2)
	if near := cosine(m, "car", "automobile"); near < 0.95 {
		t.Errorf("car and automobile: %v", near)
	}
	if far := cosine(m, "car", "bread"); far > 0.1 {
		t.Errorf("car and bread: %v", far)
	}
	if m.Project([]Term{{"unheard", 1}}) != nil {
		t.Error("a bag of unknown terms has a vector")
	}
}

// TestTheBasisIsThatOfTheDecomposition compares the projections' inner products
// with those of gonum's full decomposition: they do not depend on signs or order.
func TestTheBasisIsThatOfTheDecomposition(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var bags []map[string]int
	for range 60 {
		bag := map[string]int{}
		topic := random.IntN(5)
		for range 12 {
			bag[fmt.Sprintf("t%d-%d", topic, random.IntN(9))]++
		}
		bag[fmt.Sprint("noise", random.IntN(30))]++
		bags = append(bags, bag)
	}
	s := sampleOf(bags...)
	const dims = 5 // fewer than a fifth of the passages and terms
	m := fit(t, s, dims)

	dense := mat.NewDense(s.Rows(), len(s.Terms), nil)
	for i := range s.Rows() {
		for k := s.matrix.starts[i]; k < s.matrix.starts[i+1]; k++ {
			dense.Set(i, int(s.matrix.column[k]), float64(s.matrix.value[k]))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(dense, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var v mat.Dense
	svd.VTo(&v)
	for range 50 {
		a, b := random.IntN(len(s.Terms)), random.IntN(len(s.Terms))
		var want, aa, bb float64
		for j := range dims {
			x, y := v.At(a, j), v.At(b, j)
			want, aa, bb = want+x*y, aa+x*x, bb+y*y
		}
		if math.Sqrt(aa) < 0.05 || math.Sqrt(bb) < 0.05 {
			continue // nearly outside of the space: no direction to compare
		}
		want /= math.Sqrt(aa * bb)
		if got := cosine(m, s.Terms[a], s.Terms[b]); math.Abs(got-want) > 0.05 {
			t.Errorf("%s, %s: %v, want %v", s.Terms[a], s.Terms[b], got, want)
		}
	}
}

func TestFewOrEqualPassages(t *testing.T) {
	_, err := Fit(context.Background(), sampleOf(bagOf("a")), DefaultOptions)
	if !errors.Is(err, ErrTooSmall) {
		t.Errorf("one passage: %v", err)
	}
	same := make([]map[string]int, 40)
	for i := range same {
		same[i] = bagOf("a", "b", "c")
	}
	if m := fit(t, sampleOf(same...), 200); m.Rank() != 1 {
		t.Errorf("equal passages have %d dimensions", m.Rank())
	}
}

func TestFitStopsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_, err := Fit(ctx, sampleOf(bagOf("a", "b"), bagOf("b", "c"), bagOf("c", "d")), DefaultOptions)
	if !errors.Is(err, why) {
		t.Errorf("err = %v", err)
	}
}

func TestFitIsTheSameEachTime(t *testing.T) {
	var bags []map[string]int
	random := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		bag := map[string]int{}
		for range 20 {
			bag[fmt.Sprint("w", random.IntN(200))]++
		}
		bags = append(bags, bag)
	}
	first := fit(t, sampleOf(bags...), 20).Encode()
	if !slices.Equal(first, fit(t, sampleOf(bags...), 20).Encode()) {
		t.Error("two models of one sample differ")
	}
}

func TestKeepAndJoin(t *testing.T) {
	m := fit(t, sampleOf(bagOf("a", "b", "c"), bagOf("b", "c"), bagOf("c", "d"), bagOf("a", "d")), 3)
	kept := m.Keep(func(term string) bool { return term != "b" })
	if !slices.Equal(kept.Terms(), []string{"a", "c", "d"}) {
		t.Errorf("kept %q", kept.Terms())
	}
	bag := []Term{{"a", 1}, {"d", 3}}
	if !slices.Equal(kept.Project(bag), m.Project(bag)) {
		t.Error("another vector without a term that the bag does not have")
	}
	rows := kept.Join(func(yield func([]byte) bool) {
		for _, term := range []string{"0", "a", "b", "d", "e"} {
			yield([]byte(term))
		}
	})
	if !slices.Equal(rows, []int32{Unknown, 0, Unknown, 2, Unknown}) {
		t.Errorf("joined %v", rows)
	}
}

// TestDotProducts holds the fast form against plain arithmetic in 64 bits.
func TestDotProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Lane * rapid.IntRange(1, 40).Draw(t, "lanes")
		rows := rapid.IntRange(1, 9).Draw(t, "rows")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		q, data := make([]int16, n), make([]int8, n*rows)
		for i := range q {
			q[i] = int16(random.IntN(2*querySteps+1) - querySteps)
		}
		for i := range data {
			data[i] = int8(random.IntN(255) - 127)
		}
		fast, plain := make([]int32, rows), make([]int32, rows)
		dot(q, data, fast)
		dotsGeneric(q, data, plain)
		for k := range rows {
			var want int64
			for j := range q {
				want += int64(q[j]) * int64(data[k*n+j])
			}
			if int64(fast[k]) != want || int64(plain[k]) != want {
				t.Fatalf("row %d: %d and %d, want %d", k, fast[k], plain[k], want)
			}
		}
	})
}

func TestScoresAreNearlyTheCosine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		component := rapid.Float64Range(-1, 1)
		a := rapid.SliceOfN(component, 64, 64).Draw(t, "a")
		b := rapid.SliceOfN(component, 64, 64).Draw(t, "b")
		x, y := unit(a), unit(b)
		if x == nil || y == nil {
			return
		}
		var want float64
		for i := range x {
			want += float64(x[i]) * float64(y[i])
		}
		v := NewVectors(64, 3)
		v.Set(1, y)
		got := map[int]float64{}
		v.Scores(NewQuery(x), 0, 3, func(i int, s float64) { got[i] = s })
		if len(got) != 1 || math.Abs(got[1]-want) > 0.01 {
			t.Fatalf("scores %v, want %v for 1 alone", got, want)
		}
	})
}

func TestEncodingRoundTrips(t *testing.T) {
	m := fit(t, sampleOf(bagOf("ä", "b"), bagOf("b", "c"), bagOf("c", "d", "d"), bagOf("ä", "d")), 3)
	again, err := Decode(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	bag := []Term{{"b", 2}, {"d", 1}, {"ä", 1}}
	if !slices.Equal(m.Project(bag), again.Project(bag)) || again.Passages() != 4 || again.Rank() != m.Rank() {
		t.Errorf("%+v came back as %+v", m, again)
	}
	v := NewVectors(m.Dimensions(), 2)
	v.Set(1, m.Project(bag))
	back, err := DecodeVectors(v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	q := NewQuery(m.Project(bag))
	if back.Len() != 2 || back.Score(q, 0) != 0 || back.Score(q, 1) != v.Score(q, 1) {
		t.Errorf("%+v came back as %+v", v, back)
	}
}

func TestDamageIsFound(t *testing.T) {
	m := fit(t, sampleOf(bagOf("a", "b"), bagOf("b", "c"), bagOf("c", "d")), 3).Encode()
	for i := range m {
		bad := slices.Clone(m)
		bad[i] ^= 4
		if _, err := Decode(bad); !errors.Is(err, ErrFormat) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := Decode(m[:i]); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// FuzzDecode feeds bytes with a right checksum: lengths that lie must be found.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(modelMagic))
	f.Add([]byte(vectorsMagic + "\x02\x00\x00\x00\x10\x00\x00\x00"))
	f.Add([]byte(modelMagic + "\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff\xff\x7f\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sealed := seal(slices.Clone(b))
		if m, err := Decode(sealed); err == nil {
			m.Project([]Term{{"a", 1}})
		}
		if v, err := DecodeVectors(sealed); err == nil {
			for i := range v.Len() {
				v.Score(NewQuery(make([]float32, v.Dimensions)), i)
			}
		}
	})
}

func BenchmarkScores(b *testing.B) {
	const passages, dims = 100_000, 208
	v := NewVectors(dims, passages)
	random := rand.New(rand.NewPCG(5, 5))
	for i := range v.Data {
		v.Data[i] = int8(random.IntN(255) - 127)
	}
	for i := range v.Scale {
		v.Scale[i] = 1
	}
	vector := make([]float32, dims)
	for i := range vector {
		vector[i] = random.Float32() - 0.5
	}
	q := NewQuery(vector)
	best := 0.0
	for b.Loop() {
		v.Scores(q, 0, passages, func(_ int, s float64) { best = max(best, s) })
	}
}
