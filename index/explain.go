package index

import (
	"context"
	"fmt"
)

// Explain accounts for the score of passage n of the document at path. Terms
// that the passage does not have are listed with a contribution of 0. The
// error wraps ErrNotFound if there is no such passage.
func (s *Snapshot) Explain(text string, o SearchOptions, path string, n int) (x *Explanation, err error) {
	err = s.read(func(s *Snapshot) error {
		if o.Model == Hybrid {
			x, err = s.explainHybrid(text, o, path, n)
		} else {
			x, err = s.explain(text, o, path, n)
		}
		return err
	})
	return x, err
}

func (s *Snapshot) explain(text string, o SearchOptions, path string, n int) (*Explanation, error) {
	d, ok := s.lookPath(path)
	if !ok || n < 0 || n >= len(d.places) {
		return nil, fmt.Errorf("explain passage %d of %q: %w", n, path, ErrNotFound)
	}
	q, err := s.newQuery(context.Background(), text, o)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", text, err)
	}
	i, local, ok := locate(s.views, d.places[n].pid)
	if !ok {
		s.locate(d, n) // says what is wrong
	}
	v := &s.views[i]
	memo := &idfMemo{n: q.n}
	found, norm := q.occurrences(s, v, v.terms(local, nil), q.in(i), memo, nil)
	x := &Explanation{
		Model: q.model, Passages: q.n, Length: int(v.PassageLength(local)), Dropped: q.dropped,
	}
	if q.model == BM25 {
		x.K1, x.B, x.AverageLength = q.k1, q.b, q.length
		norm = q.lengthNorm(v.PassageLength(local))
	} else {
		x.TF, x.QueryNorm, x.PassageNorm = q.tf, q.norm, norm
	}
	x.Score = q.score(found, norm)
	x.Terms = q.account(found, norm)
	if q.best {
		x.Model = Best
		return x, s.explainBest(x, q, o, path, n)
	}
	return x, nil
}

// explainBest adds what the model best adds.
func (s *Snapshot) explainBest(x *Explanation, q *query, o SearchOptions, path string, n int) error {
	bonuses, ok, err := s.closely(context.Background(), q, o, path, n)
	x.Closely = ok
	for _, b := range bonuses {
		value := b.value()
		x.Score += value
		x.Bonuses = append(x.Bonuses, BonusExplanation{b.kind, b.name, b.tf, b.weight, b.idf, b.length, value})
	}
	return err
}

// account lists every term's part.
func (q *query) account(found []occurrence, norm float64) []TermExplanation {
	out := make([]TermExplanation, len(q.terms))
	for i := range q.terms {
		t := &q.terms[i]
		out[i] = TermExplanation{Term: t.name, QueryTF: t.tf, DF: t.df, IDF: t.idf, QueryWeight: t.weight}
	}
	for _, o := range found {
		t := &out[o.term]
		t.TF = int(o.tf)
		t.Contribution = q.contribution(&q.terms[o.term], o.tf, norm)
		t.PassageWeight = q.passageWeight(t, norm)
	}
	return out
}

// passageWeight is the term's weight in the passage before normalising; for
// BM25, the saturated tf, which the query's weight is multiplied by.
func (q *query) passageWeight(t *TermExplanation, norm float64) float64 {
	if q.model == BM25 {
		return float64(t.TF) / (float64(t.TF) + norm)
	}
	return q.weight(uint32(t.TF), t.IDF)
}
