// Package eval measures how well a search finds what it should: questions whose
// evidence is known (a golden set) are asked, and where the evidence stands among
// the hits gives recall, precision, MRR, nDCG and what the hits cost a reader. It
// says of every piece of evidence that is missed why it is, compares models, and
// keeps a baseline that later changes are held against.
//
// It knows nothing of the index or the daemon: whoever can search is a Searcher.
// Golden sets are read by Load (golden.go), from TOML, JSON lines, tables of tabs
// or a folder in the layout of BEIR.
package eval

import (
	"context"
	"errors"
)

// Set is a golden set: questions and what answers them.
type Set struct {
	Name      string // the file's or the folder's
	Questions []Question
}

// Question is one question with its evidence.
type Question struct {
	ID       string // the number of the question, from 1, if it was given none
	Text     string
	Evidence []Evidence
	Line     int // of the golden set's file; 0 if it has no lines
}

// Hit is a passage found, as far as judging it needs.
type Hit struct {
	Path, Rel string // absolute, and within its folder with slashes
	Passage   int
	Lines     [2]int // 1-based, inclusive
	Bytes     [2]int // half-open
	Text      string
	Score     float64
}

// Query is what a Searcher is asked.
type Query struct {
	Text  string
	Model string
	K     int
	// Collapse keeps each document's best passage.
	Collapse bool
}

// Term is a term of a passage.
type Term struct {
	Name   string
	TF, DF int
}

// ErrNotIndexed is what the errors of Searcher.Passages wrap when a document is
// not in the index; the error says why.
var ErrNotIndexed = errors.New("not in the index")

// Searcher is what is measured.
type Searcher interface {
	// Search gives the best K hits, best first.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Passages gives the passages of a document, named as evidence names it.
	// The error wraps ErrNotIndexed if it is not there.
	Passages(ctx context.Context, path string) ([]Hit, error)
	// Terms gives those terms of text that the passage h or another has, in
	// byte order; TF is that of h.
	Terms(ctx context.Context, text string, h Hit) ([]Term, error)
}

// Options choose what is measured. The zero value measures the default model at
// DefaultSweep.
type Options struct {
	Models []string // the first is compared with the others; "" is the default model
	// Sweep is the k to measure at, ascending.
	Sweep []int
	// K is the one to compare and to diagnose misses at; 0: 10, or the
	// largest of Sweep if that is less.
	K int
	// Words, if not 0, has recall measured within so many words of the best hits,
	// too.
	Words int
	// Diagnose says why what is missed is.
	Diagnose bool
	// Progress, if set, is told how many questions are done.
	Progress func(done, total int)
}

// DefaultSweep is the k to measure at unless others are asked for.
var DefaultSweep = []int{1, 2, 3, 5, 10, 20, 50}

func (o *Options) fill() {
	if len(o.Models) == 0 {
		o.Models = []string{""}
	}
	if len(o.Sweep) == 0 {
		o.Sweep = DefaultSweep
	}
	if o.K == 0 {
		o.K = min(10, o.depth())
	}
}

// depth is how many hits a question needs.
func (o *Options) depth() int {
	deepest := o.K
	for _, k := range o.Sweep {
		deepest = max(deepest, k)
	}
	return deepest
}
