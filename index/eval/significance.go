package eval

import (
	"math"
	"math/rand/v2"
)

const (
	// rounds is how many random assignments are tried: enough for p to two
	// places.
	rounds = 10_000
	// fewPairs is up to how many differences all assignments are tried.
	fewPairs = 13
)

// pValue is that of the two-sided paired randomisation test: how often the mean
// difference would be at least as far from zero as it is if each question's two
// figures were those of the one or the other model by chance. It is 1 when no
// question differs, and always the same for the same figures.
//
// Source: Smucker, Allan & Carterette, A Comparison of Statistical Significance
// Tests for Information Retrieval Evaluation (2007), section 3.1.
func pValue(a, b []float64) float64 {
	var off []float64
	sum := 0.0
	for i := range a {
		if d := a[i] - b[i]; d != 0 {
			off = append(off, d)
			sum += d
		}
	}
	if len(off) == 0 {
		return 1
	}
	limit := math.Abs(sum) * (1 - 1e-12) // sums in another order round otherwise
	if len(off) <= fewPairs {
		return exactP(off, limit)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(off))))
	extreme := 1 // the assignment that was observed
	for range rounds {
		sum := 0.0
		var signs uint64
		for i, d := range off {
			if i%64 == 0 {
				signs = r.Uint64()
			}
			if signs&1 != 0 {
				d = -d
			}
			signs >>= 1
			sum += d
		}
		if math.Abs(sum) >= limit {
			extreme++
		}
	}
	return float64(extreme) / (rounds + 1)
}

func exactP(off []float64, limit float64) float64 {
	extreme := 0
	for signs := range 1 << len(off) {
		sum := 0.0
		for i, d := range off {
			if signs>>i&1 != 0 {
				d = -d
			}
			sum += d
		}
		if math.Abs(sum) >= limit {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(off))
}
