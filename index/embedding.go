package index

import (
	"context"
	"fmt"
	"math"

	"quern/index/lsa"
	"quern/index/segment"
)

// Embedder turns text into vectors outside of the index, as a service does.
type Embedder interface {
	// Name names the model: vectors of another name are of no use.
	Name() string
	// Embed returns a vector for each text, all of one length, at most 8,192. query
	// says that the texts are queries, which some models tell from passages.
	// It is asked for a few dozen passages at a time.
	Embed(ctx context.Context, texts []string, query bool) ([][]float32, error)
}

// embedding is what makes the vectors of one space.
type embedding interface {
	// name is unique among all that ever made vectors of this index.
	name() string
	// local says that a vector costs microseconds.
	local() bool
	// query returns the vector of a query, given as text and as its terms.
	query(ctx context.Context, text string, terms []lsa.Term) ([]float32, error)
	// passages returns the vectors of some passages of a view; a passage may
	// have none.
	passages(ctx context.Context, v *view, locals []int) (*lsa.Vectors, error)
}

// learned is the embedding that is learned from the index itself.
type learned struct {
	model *lsa.Model
	id    string
}

func (l *learned) name() string { return l.id }
func (l *learned) local() bool  { return true }

func (l *learned) query(_ context.Context, _ string, terms []lsa.Term) ([]float32, error) {
	return l.model.Project(terms), nil
}

// bag is the terms that some passage contains, in byte order.
func (q *query) bag() []lsa.Term {
	out := make([]lsa.Term, len(q.terms))
	for i := range q.terms {
		out[i] = lsa.Term{Text: q.terms[i].name, TF: q.terms[i].tf}
	}
	return out
}

func (l *learned) passages(ctx context.Context, v *view, locals []int) (*lsa.Vectors, error) {
	out := lsa.NewVectors(l.model.Dimensions(), len(locals))
	rows := l.model.Join(v.eachTerm)
	weigher := l.model.NewWeigher()
	var buf []segment.TermTF
	for i, local := range locals {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		buf = v.terms(local, buf)
		for _, t := range buf {
			weigher.Add(rows[t.Term], int(t.TF))
		}
		out.Set(i, weigher.Vector())
	}
	return out, nil
}

// eachTerm yields the terms of the segment in byte order.
func (v *view) eachTerm(yield func([]byte) bool) {
	c := v.Cursor()
	for c.Next() {
		if !yield(c.Term()) {
			return
		}
	}
	v.must(c.Err())
}

// remote is the embedding of an Embedder.
type remote struct{ Embedder }

func (r remote) name() string { return "remote:" + r.Name() }
func (r remote) local() bool  { return false }

func (r remote) query(ctx context.Context, text string, _ []lsa.Term) ([]float32, error) {
	vectors, err := r.embed(ctx, []string{text}, true)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func (r remote) passages(ctx context.Context, v *view, locals []int) (*lsa.Vectors, error) {
	texts := make([]string, len(locals))
	var buf segment.TextBuffer
	for i, local := range locals {
		text, err := v.Text(local, &buf)
		v.must(err)
		texts[i] = string(text)
	}
	vectors, err := r.embed(ctx, texts, false)
	if err != nil {
		return nil, err
	}
	out := lsa.NewVectors(len(vectors[0]), len(vectors))
	for i, vector := range vectors {
		out.Set(i, vector)
	}
	return out, nil
}

// embed checks what the service says, and scales and pads it.
func (r remote) embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	vectors, err := r.Embed(ctx, texts, query)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", r.Name(), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("embed with %s: %d vectors for %d texts", r.Name(), len(vectors), len(texts))
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) || len(v) > lsa.MaxDimensions {
			return nil, fmt.Errorf("embed with %s: vector %d has %d dimensions", r.Name(), i, len(v))
		}
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if out[i], err = scaled(v); err != nil {
			return nil, fmt.Errorf("embed with %s: vector %d: %w", r.Name(), i, err)
		}
	}
	return out, nil
}

// scaled returns v at unit length, padded to whole lanes; a zero vector stays one.
func scaled(v []float32) ([]float32, error) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return nil, fmt.Errorf("a component is not a finite number")
	}
	out := make([]float32, lsa.Padded(len(v)))
	if square == 0 {
		return out, nil
	}
	norm := math.Sqrt(square)
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out, nil
}
