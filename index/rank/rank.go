// Package rank is the arithmetic of ranking and nothing else: weights, norms,
// scores and the choice of the best. Every function is pure, so that the same
// numbers give the same bits wherever they are computed.
//
// All arithmetic is float64 with natural logarithms. A product that is added
// to something is written float64(x*y), which forbids the compiler to fuse
// the two into one rounding: results then do not depend on the machine's
// instructions. Callers add in the byte order of the terms.
package rank

import "math"

// IDF is the smoothed inverse document frequency of a term that df of n
// passages contain: ln((1+n)/(1+df)) + 1. It is at least 1 when df ≤ n.
//
// Source: scikit-learn, TfidfTransformer with smooth_idf=True; the idea is
// Manning, Raghavan & Schütze, Introduction to Information Retrieval (2008),
// section 6.2.1.
func IDF(n, df int) float64 {
	return Log(float64(1+n)/float64(1+df)) + 1
}

// NearIDF is IDF to within a few units in the last place, many times faster: for
// bounds, never for scores.
func NearIDF(n, df int) float64 {
	return math.Log(float64(1+n)/float64(1+df)) + 1
}

// logTFs holds LogTF of small counts; index 0 is unused.
var logTFs = func() (t [256]float64) {
	for i := 1; i < len(t); i++ {
		t[i] = 1 + Log(float64(i))
	}
	return t
}()

// LogTF is the sublinear weight of a term that occurs tf ≥ 1 times: 1 + ln tf.
//
// Source: Manning, Raghavan & Schütze (2008), section 6.4.1.
func LogTF(tf uint32) float64 {
	if tf < uint32(len(logTFs)) {
		return logTFs[tf]
	}
	return 1 + Log(float64(tf))
}

// RawTF is the plain count as a weight.
func RawTF(tf uint32) float64 { return float64(tf) }

// Squares sums the squares of weights; the zero value is an empty sum.
type Squares float64

// Add adds w².
func (s *Squares) Add(w float64) { *s += Squares(float64(w * w)) }

// Norm is the Euclidean length of the vector whose weights were added.
//
// Source: Manning, Raghavan & Schütze (2008), section 6.3.1.
func (s Squares) Norm() float64 { return math.Sqrt(float64(s)) }

// Cosine is one term's part of the cosine similarity of a query and a
// passage: the product of the term's weights in the two unit vectors.
//
// Source: Manning, Raghavan & Schütze (2008), section 6.3.1, equation 6.10.
func Cosine(queryWeight, queryNorm, passageWeight, passageNorm float64) float64 {
	return float64((queryWeight / queryNorm) * (passageWeight / passageNorm))
}

// BM25IDF is the inverse document frequency of BM25 in the form that is never
// negative: ln(1 + (n - df + 0.5)/(df + 0.5)).
//
// Source: Lucene, BM25Similarity.idf; the Robertson–Spärck Jones weight of
// Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and
// Beyond (2009), with 1 added inside the logarithm.
func BM25IDF(n, df int) float64 {
	return Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}

// BM25Length is what a passage of length terms adds to tf in the denominator
// of BM25: k1 · (1 - b + b · length/average).
//
// Source: Robertson & Zaragoza (2009), section 3.4.
func BM25Length(k1, b float64, length int, average float64) float64 {
	return float64(k1 * (1 - b + float64(b*float64(length))/average))
}

// BM25 is one term's part of the score: queryTF · idf · tf / (tf + length),
// with length from BM25Length. The factor k1 + 1 of the original is left out,
// as Lucene does since version 8: it changes no order.
//
// Source: Robertson & Zaragoza (2009), section 3.4.
func BM25(queryTF, idf, tf, length float64) float64 {
	return float64(float64(queryTF*idf)*tf) / (tf + length)
}
