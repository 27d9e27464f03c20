package rank

import "math"

// Log is the natural logarithm of a positive, finite, normal x, to the nearest
// float64. math.Log may err by one unit in the last place, differently on
// different machines; with Log the scores are the same bits on all of them, and
// passages that deserve the same score are less likely to differ in the last bit.
//
// x = m · 2^e with m near 1, and ln m = 2 artanh((m-1)/(m+1)), whose power series is
// summed in pairs of float64 whose sum carries about 106 bits (Dekker, A
// floating-point technique for extending the available precision, 1971). The
// result is wrong only where ln x lies within about 2^-100 of the middle between two
// float64.
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := pair{m - 1, 0}.over(sum(m, 1)) // m-1 is exact: m is within a factor 2 of 1
	squared := s.times(s)
	series := pair{}
	for n := artanhTerms; n >= 0; n-- {
		series = series.times(squared).plus(oddReciprocals[n])
	}
	ln := s.times(series)
	ln = pair{2 * ln.hi, 2 * ln.lo}.plus(ln2.times(pair{float64(e), 0}))
	return ln.hi + ln.lo
}

// artanhTerms is how many terms after the first are needed: |s| ≤ 0.1716, and
// 0.1716^(2·21) < 2^-106.
const artanhTerms = 21

// oddReciprocals are 1, 1/3, 1/5 …
var oddReciprocals = func() (r [artanhTerms + 1]pair) {
	for n := range r {
		r[n] = pair{1, 0}.over(pair{float64(2*n + 1), 0})
	}
	return r
}()

// ln2 is the natural logarithm of 2 to 106 bits.
var ln2 = pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// pair is the unevaluated sum hi + lo, with |lo| at most half a unit in the last
// place of hi.
type pair struct{ hi, lo float64 }

// sum is a + b without error.
func sum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func (a pair) plus(b pair) pair {
	s := sum(a.hi, b.hi)
	t := sum(a.lo, b.lo)
	s = sum(s.hi, s.lo+t.hi)
	return sum(s.hi, s.lo+t.lo)
}

func (a pair) times(b pair) pair {
	p := a.hi * b.hi
	err := math.FMA(a.hi, b.hi, -p)
	return sum(p, err+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a pair) over(b pair) pair {
	q := a.hi / b.hi
	r := a.plus(pair{-q, 0}.times(b))
	q2 := r.hi / b.hi
	r = r.plus(pair{-q2, 0}.times(b))
	s := sum(q, q2)
	return s.plus(pair{r.hi / b.hi, 0})
}
