package rank

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigLn is ln x to far more bits than a float64 has, by halving the argument's
// distance to 1 with square roots and summing the series of artanh.
func bigLn(x float64) *big.Float {
	const prec, roots = 400, 40
	num := func(f float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(f) }
	v := num(x)
	for range roots {
		v.Sqrt(v)
	}
	s := new(big.Float).SetPrec(prec).Quo(num(0).Sub(v, num(1)), num(0).Add(v, num(1)))
	squared := num(0).Mul(s, s)
	sum, power := num(0), num(0).Set(s)
	for n := 1; n < 60; n += 2 {
		sum.Add(sum, num(0).Quo(power, num(float64(n))))
		power.Mul(power, squared)
	}
	return sum.SetMantExp(sum, roots+1)
}

func TestLogIsTheNearestFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	xs := []float64{1, 2, math.E, math.Sqrt2, 1 + 0x1p-52, 1 - 0x1p-53, 0.5, 1e-300, 1e300, 3, 1e6}
	for range 5000 {
		n := 1 + r.IntN(3_000_000)
		xs = append(xs, float64(1+n)/float64(2+r.IntN(n)), 1+r.Float64()*math.Pow(10, -float64(r.IntN(16))))
	}
	for _, x := range xs {
		if want, _ := bigLn(x).Float64(); Log(x) != want {
			t.Errorf("Log(%v) = %v, want %v", x, Log(x), want)
		}
	}
}

func BenchmarkLog(b *testing.B) {
	x := 1.5
	for b.Loop() {
		Log(x)
		x += 0.37
	}
}
