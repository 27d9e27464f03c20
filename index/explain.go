package index

import (
	"context"
	"fmt"
	"slices"

	lang "quern/index/query"
)

// Explain is ExplainQuery for the words of a text, in which nothing is an
// operator.
func (s *Snapshot) Explain(text string, o SearchOptions, path string, n int) (*Explanation, error) {
	return s.ExplainQuery(lang.Literal(text), o, path, n)
}

// ExplainQuery accounts for the score of passage n of the document at path. Terms
// that the passage does not have are listed with a contribution of 0; to a query
// in which nothing ranks, the filter contributes 1. The error wraps ErrNotFound if
// there is no such passage.
func (s *Snapshot) ExplainQuery(asked *lang.Query, o SearchOptions, path string, n int) (x *Explanation, err error) {
	err = s.read(func(s *Snapshot) error {
		if o.Model == Hybrid {
			x, err = s.explainHybrid(asked, o, path, n)
		} else {
			x, err = s.explain(asked, o, path, n)
		}
		return err
	})
	return x, err
}

func (s *Snapshot) explain(asked *lang.Query, o SearchOptions, path string, n int) (*Explanation, error) {
	d, ok := s.lookPath(path)
	if !ok || n < 0 || n >= len(d.places) {
		return nil, fmt.Errorf("explain passage %d of %q: %w", n, path, ErrNotFound)
	}
	q, err := s.newQuery(context.Background(), asked, o)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", asked, err)
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
	if q.constant {
		x.Score = 1
		x.Terms = []TermExplanation{{Boost: 1, Contribution: 1}}
	}
	x.Demands = s.account(q, i, local, d)
	if q.best {
		x.Model = Best
		return x, s.explainBest(x, q, o, path, n)
	}
	return x, nil
}

// account says which demands a passage meets.
func (s *Snapshot) account(q *query, i, local int, d *document) (out []DemandExplanation) {
	v := &s.views[i]
	r := newRun(context.Background(), s, q, SearchOptions{})
	defer r.release()
	for n := range q.demands {
		x := &q.demands[n]
		out = append(out, DemandExplanation{x.clause, r.meets(x, i, v, local)})
	}
	for _, k := range q.keep {
		out = append(out, DemandExplanation{k.clause, k.test(&d.info)})
	}
	return out
}

// meets reports whether one passage, of view i, meets a demand.
func (r *run) meets(x *demand, i int, v *view, local int) bool {
	has := func(g ranks) bool {
		if g[i] < 0 {
			return false
		}
		v.read(g[i], &r.visitor(0).list)
		ok := r.visitor(0).list.Skip(uint32(local)) && slices.Contains(r.visitor(0).list.Docs, uint32(local))
		v.must(r.visitor(0).list.Err())
		return ok
	}
	for _, group := range x.groups {
		if !slices.ContainsFunc(group, has) {
			return x.not
		}
	}
	return x.check == nil && !x.not || x.check != nil && x.check.passes(r, v, local) != x.not
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
		out[i] = TermExplanation{
			Term: t.name, QueryTF: t.tf, DF: t.df, IDF: t.idf, QueryWeight: t.weight, From: t.from, Boost: t.boost,
		}
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
