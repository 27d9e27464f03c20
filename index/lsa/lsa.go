// Package lsa learns latent semantic vectors from the passages of an index
// itself, with no weights from outside: the truncated singular value
// decomposition of the matrix of TF-IDF weights (Deerwester et al., Indexing
// by Latent Semantic Analysis, 1990), found by a randomised range finder (Halko,
// Martinsson and Tropp, Finding Structure with Randomness, 2011).
//
// Fit makes a Model of a sample of passages. A Model projects any bag of
// terms, of passages and of queries alike, and the cosine of two projections says
// how near they are in meaning even when they share no term. Vectors are kept
// in one byte a dimension.
package lsa

import (
	"iter"
	"math"
	"sort"
)

// Term is a term of a passage or query: its occurrences there.
type Term struct {
	Text string
	TF   int
}

// Model projects bags of terms into the latent space. It never changes and may be
// used from any goroutine.
type Model struct {
	dims  int
	terms []string  // sorted
	idf   []float32 // by term, as it was when the model was learned
	basis *Vectors  // by term: the right singular vectors' components
	// Passages is how many passages the index had when the model was learned.
	passages int
}

// Dimensions is the length of the vectors; a multiple of Lane, padded with zeros.
func (m *Model) Dimensions() int { return Padded(m.dims) }

// Rank is how many dimensions were learned, at most those asked for: a corpus
// of few passages has fewer.
func (m *Model) Rank() int { return m.dims }

// Terms are what the model knows, sorted; not to be changed.
func (m *Model) Terms() []string { return m.terms }

// Keep returns the model without the terms that keep refuses.
func (m *Model) Keep(keep func(term string) bool) *Model {
	var kept []int
	for row, t := range m.terms {
		if keep(t) {
			kept = append(kept, row)
		}
	}
	out := &Model{dims: m.dims, passages: m.passages, basis: NewVectors(m.basis.Dimensions, len(kept))}
	for i, row := range kept {
		out.terms = append(out.terms, m.terms[row])
		out.idf = append(out.idf, m.idf[row])
		out.basis.Scale[i] = m.basis.Scale[row]
		copy(out.basis.row(i), m.basis.row(row))
	}
	return out
}

// Unknown stands in a Join for a term that the model does not know.
const Unknown = -1

// Join finds the rows of terms that come in byte order: one for each, or Unknown.
// It takes time linear in both.
func (m *Model) Join(terms iter.Seq[[]byte]) []int32 {
	var rows []int32
	at := 0
	for t := range terms {
		for at < len(m.terms) && m.terms[at] < string(t) {
			at++
		}
		row := int32(Unknown)
		if at < len(m.terms) && m.terms[at] == string(t) {
			row = int32(at)
		}
		rows = append(rows, row)
	}
	return rows
}

// Weigher adds up one bag of terms after the other. It serves one goroutine.
type Weigher struct {
	m     *Model
	sum   []float64
	known bool
}

// NewWeigher returns an empty Weigher.
func (m *Model) NewWeigher() *Weigher { return &Weigher{m: m, sum: make([]float64, m.Dimensions())} }

// Add adds a term of the bag by its row, with its tf > 0. Unknown adds nothing. The
// weight is (1 + ln tf) · idf, with the idf of the time of learning.
func (w *Weigher) Add(row int32, tf int) {
	if row == Unknown {
		return
	}
	w.known = true
	w.m.basis.addTo(w.sum, int(row), (1+math.Log(float64(tf)))*float64(w.m.idf[row]))
}

// Vector returns the bag's vector, of unit length, or nil when the model knows none
// of its terms, and begins anew. Terms are summed in the order in which they came:
// the same bag in the same order gives the same bits.
func (w *Weigher) Vector() []float32 {
	defer func() {
		clear(w.sum)
		w.known = false
	}()
	if !w.known {
		return nil
	}
	return unit(w.sum)
}

// Passages is how many passages the index had when the model was learned.
func (m *Model) Passages() int { return m.passages }

// lookup returns the row of a term.
func (m *Model) lookup(term string) (row int, ok bool) {
	row = sort.SearchStrings(m.terms, term)
	return row, row < len(m.terms) && m.terms[row] == term
}

// Project returns the vector of a bag of terms, see Weigher.
func (m *Model) Project(bag []Term) []float32 {
	w := m.NewWeigher()
	for _, t := range bag {
		if row, ok := m.lookup(t.Text); ok && t.TF > 0 {
			w.Add(int32(row), t.TF)
		}
	}
	return w.Vector()
}

// unit returns v scaled to length 1, or nil for a zero vector.
func unit(v []float64) []float32 {
	var square float64
	for _, x := range v {
		square += x * x
	}
	if square == 0 {
		return nil
	}
	out := make([]float32, len(v))
	norm := math.Sqrt(square)
	for i, x := range v {
		out[i] = float32(x / norm)
	}
	return out
}
