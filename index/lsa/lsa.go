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
func (m *Model) Dimensions() int { return padded(m.dims) }

// Rank is how many dimensions were learned, at most those asked for: a corpus
// of few passages has fewer.
func (m *Model) Rank() int { return m.dims }

// Terms is how many terms the model knows.
func (m *Model) Terms() int { return len(m.terms) }

// Passages is how many passages the index had when the model was learned.
func (m *Model) Passages() int { return m.passages }

// lookup returns the row of a term.
func (m *Model) lookup(term string) (row int, ok bool) {
	row = sort.SearchStrings(m.terms, term)
	return row, row < len(m.terms) && m.terms[row] == term
}

// Project returns the vector of a bag of terms, of unit length, or nil when the model
// knows none of its terms. Weights are (1 + ln tf) · idf, with the idf of the
// time of learning. Terms are summed in the order given: the same bag in the same
// order gives the same bits.
func (m *Model) Project(bag []Term) []float32 {
	sum := make([]float64, m.Dimensions())
	known := false
	for _, t := range bag {
		row, ok := m.lookup(t.Text)
		if !ok || t.TF <= 0 {
			continue
		}
		known = true
		w := (1 + math.Log(float64(t.TF))) * float64(m.idf[row])
		m.basis.addTo(sum, row, w)
	}
	if !known {
		return nil
	}
	return unit(sum)
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
