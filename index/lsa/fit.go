package lsa

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Options bound what is learned.
type Options struct {
	Dimensions   int // wanted; 200 by default
	Oversampling int // further columns of the range finder; 10 by default
	Powers       int // power iterations; 2 by default
}

// DefaultOptions are those measured best in cost and effect.
var DefaultOptions = Options{Dimensions: 200, Oversampling: 10, Powers: 2}

// Sample is what a model is learned from.
type Sample struct {
	// Terms are the columns, sorted, each once, and IDF their weights.
	Terms []string
	IDF   []float64
	// Passages is how many passages the index has; the sample may have fewer.
	Passages int

	matrix sparse
}

// sparse is a matrix of rows of weights (compressed sparse rows).
type sparse struct {
	columns int
	starts  []int // starts[i] is where row i begins; one more than rows
	column  []int32
	value   []float32
}

func (s *sparse) rows() int { return len(s.starts) - 1 }

// ErrTooSmall is returned by Fit for a sample with nothing to learn from.
var ErrTooSmall = errors.New("too few passages to learn from")

// Add adds a passage: its terms as columns, ascending, with their tf. The weights are
// (1 + ln tf) · idf, scaled to length 1.
func (s *Sample) Add(columns []int32, tf []int32) {
	m := &s.matrix
	if m.starts == nil {
		m.columns, m.starts = len(s.Terms), []int{0}
	}
	first, square := len(m.value), 0.0
	for i, c := range columns {
		w := (1 + math.Log(float64(tf[i]))) * s.IDF[c]
		square += w * w
		m.column = append(m.column, c)
		m.value = append(m.value, float32(w))
	}
	if square == 0 {
		m.column, m.value = m.column[:first], m.value[:first]
		return
	}
	norm := float32(math.Sqrt(square))
	for i := first; i < len(m.value); i++ {
		m.value[i] /= norm
	}
	m.starts = append(m.starts, len(m.value))
}

// Rows is how many passages with terms were added.
func (s *Sample) Rows() int { return max(0, s.matrix.rows()) }

// condensed is how many passages, and terms, there are for each dimension at least:
// with as many dimensions as terms nothing would be near to anything else.
const condensed = 5

// Fit learns a model. The time is proportional to (weights of the sample) ·
// dimensions · powers, the memory to (terms + passages of the sample) ·
// dimensions. The same sample and options give the same model on the same
// machine. Errors: ErrTooSmall (wrapped), the cause of ctx.
func Fit(ctx context.Context, s *Sample, o Options) (*Model, error) {
	m := &s.matrix
	width := min(o.Dimensions+o.Oversampling, s.Rows(), len(s.Terms))
	if width < 2 {
		return nil, fmt.Errorf("%w: %d with %d terms", ErrTooSmall, s.Rows(), len(s.Terms))
	}
	b, err := m.rangeOf(ctx, width, o.Powers)
	if err != nil {
		return nil, err
	}
	v := rightVectors(b, min(o.Dimensions, max(2, min(s.Rows(), len(s.Terms))/condensed)))
	if v == nil {
		return nil, fmt.Errorf("%w: all are alike", ErrTooSmall)
	}
	_, dims := v.Dims()
	model := &Model{dims: dims, terms: s.Terms, passages: s.Passages}
	model.idf = narrow(s.IDF)
	model.basis = rowsOf(v)
	return model, nil
}

// rowsOf keeps a matrix a byte a component, padded.
func rowsOf(m *mat.Dense) *Vectors {
	rows, dims := m.Dims()
	v := NewVectors(Padded(dims), rows)
	for i := range rows {
		v.Set(i, narrow(m.RawRowView(i)))
	}
	return v
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// rangeOf returns Aᵀ·Q for an orthonormal Q whose span is nearly that of the first
// singular vectors of A: randomised subspace iteration (Halko et al., algorithm 4.4).
func (m *sparse) rangeOf(ctx context.Context, width, powers int) (*mat.Dense, error) {
	y, err := m.times(ctx, gaussian(m.columns, width))
	if err != nil {
		return nil, err
	}
	for range powers {
		z, err := m.transposedTimes(ctx, orthonormal(y))
		if err != nil {
			return nil, err
		}
		if y, err = m.times(ctx, orthonormal(z)); err != nil {
			return nil, err
		}
	}
	return m.transposedTimes(ctx, orthonormal(y))
}

// gaussian is a matrix of normal deviates, always the same.
func gaussian(rows, columns int) *mat.Dense {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]float64, rows*columns)
	for i := range data {
		data[i] = random.NormFloat64()
	}
	return mat.NewDense(rows, columns, data)
}

// stride is how many rows are multiplied between two looks at the context.
const stride = 512

// times returns A·x.
func (m *sparse) times(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	_, width := x.Dims()
	y := mat.NewDense(m.rows(), width, nil)
	for i := range m.rows() {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row := y.RawRowView(i)
		for k := m.starts[i]; k < m.starts[i+1]; k++ {
			addScaled(row, float64(m.value[k]), x.RawRowView(int(m.column[k])))
		}
	}
	return y, nil
}

// transposedTimes returns Aᵀ·x.
func (m *sparse) transposedTimes(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	_, width := x.Dims()
	y := mat.NewDense(m.columns, width, nil)
	for i := range m.rows() {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row := x.RawRowView(i)
		for k := m.starts[i]; k < m.starts[i+1]; k++ {
			addScaled(y.RawRowView(int(m.column[k])), float64(m.value[k]), row)
		}
	}
	return y, nil
}

// addScaled adds a·x to dst.
func addScaled(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for j := range dst {
		dst[j] += a * x[j]
	}
}

// gramSpectrum is the eigenvalues, descending, of bᵀ·b that are not noise, and
// their vectors.
func gramSpectrum(b *mat.Dense) (values []float64, vectors *mat.Dense) {
	_, n := b.Dims()
	gram := mat.NewSymDense(n, nil)
	gram.SymOuterK(1, b.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, nil
	}
	values = eigen.Values(nil)
	slices.Reverse(values)
	const noise = 1e-12
	kept := 0
	for kept < n && values[kept] > noise*values[0] && values[kept] > 0 {
		kept++
	}
	var ascending mat.Dense
	eigen.VectorsTo(&ascending)
	vectors = mat.NewDense(n, max(kept, 1), nil)
	for j := range kept {
		for i := range n {
			vectors.Set(i, j, ascending.At(i, n-1-j))
		}
	}
	return values[:kept], vectors
}

// orthonormal returns an orthonormal basis of b's columns, without the directions
// in which it has no extent.
func orthonormal(b *mat.Dense) *mat.Dense {
	if q := rightVectors(b, math.MaxInt); q != nil {
		return q
	}
	return b
}

// rightVectors returns b·U·Σ⁻¹ for the first of b's singular values: the right
// singular vectors of A when b is Aᵀ·Q. It is nil when b is zero.
func rightVectors(b *mat.Dense, most int) *mat.Dense {
	values, vectors := gramSpectrum(b)
	kept := min(len(values), most)
	if kept == 0 {
		return nil
	}
	rows, n := b.Dims()
	for j := range kept {
		scale := 1 / math.Sqrt(values[j])
		for i := range n {
			vectors.Set(i, j, vectors.At(i, j)*scale)
		}
	}
	out := mat.NewDense(rows, kept, nil)
	out.Mul(b, vectors.Slice(0, n, 0, kept))
	return out
}
