package segment

import (
	"encoding/binary"
	"math"
)

// Scores are what an index computed for ranking and would lose: derived
// figures, kept so that they need not be computed again when it is opened.
type Scores struct {
	// Norm2 gives the squared reference norm of a passage of an input.
	Norm2 func(input, passage int) float32
	// Reference gives the idf that the norms were computed with, by the
	// global number of a term.
	Reference func(gid uint32) float32
}

func appendFloat(b []byte, f float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
}

func float(b []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[i*4:]))
}

var logTFs = func() (t [256]float64) {
	for i := 1; i < len(t); i++ {
		t[i] = 1 + math.Log(float64(i))
	}
	return t
}()

// logTF is 1 + ln tf to within a few units in the last place: for bounds.
func logTF(tf uint32) float64 {
	if tf < uint32(len(logTFs)) {
		return logTFs[tf]
	}
	return 1 + math.Log(float64(tf))
}

// root is the square root of the sum of (1 + ln tf)² over a passage's terms,
// rounded up.
func root(terms []TermTF) float32 {
	sum := 0.0
	for _, t := range terms {
		a := logTF(t.TF)
		sum += float64(a * a)
	}
	return math.Nextafter32(float32(math.Sqrt(sum)), math.MaxFloat32)
}

// Root is an upper bound, within a millionth, of the square root of the sum of
// (1 + ln tf)² over the terms of passage i.
func (r *Reader) Root(i int) float32 { return float(r.roots, i) }

// HasScores says whether Norm2 and Reference may be asked.
func (r *Reader) HasScores() bool { return r.scored }

// Norm2 is what Scores.Norm2 gave for passage i.
func (r *Reader) Norm2(i int) float32 { return float(r.norms, i) }

// Reference is what Scores.Reference gave for term t.
func (r *Reader) Reference(t int) float32 { return float(r.references, t) }
