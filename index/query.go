package index

import (
	"context"
	"fmt"
	"slices"

	"quern/index/analysis"
	"quern/index/rank"
)

// query is a question: its terms, in byte order, with all that does not
// depend on the passage.
type query struct {
	terms   []queryTerm
	dropped []string // terms that no passage contains, in byte order
	norm    float64  // cosine: of the query's weights

	// For the model best, which is BM25 in all else.
	best  bool
	order []string // the terms as they follow each other in the query
	parts []string // of its names, in byte order

	model  Model
	tf     TF
	raw    bool // tf weights are plain counts
	k1, b  float64
	n      int
	length float64 // average
}

type queryTerm struct {
	name   string
	tf, df int
	ranks  []int   // by view; -1: the segment does not have it
	idf    float64 // of the model
	weight float64 // of the term in the query, before normalising
}

// newQuery analyses the text of a query. It fails with the cause of ctx, too.
func (s *Snapshot) newQuery(ctx context.Context, text string, o SearchOptions) (*query, error) {
	q := &query{model: o.Model, tf: o.TF, k1: o.K1, b: o.B, n: s.passages}
	if err := q.choose(); err != nil {
		return nil, err
	}
	if s.passages > 0 {
		q.length = s.average()
	}
	counts, other, err := q.countTerms(ctx, s, text)
	if err != nil {
		return nil, err
	}
	for name, tf := range counts {
		t := queryTerm{name: name, tf: tf}
		if t.find(s); t.df > 0 {
			q.terms = append(q.terms, t)
		} else if !other[name] {
			q.dropped = append(q.dropped, name)
		}
	}
	slices.Sort(q.dropped)
	slices.SortFunc(q.terms, func(a, b queryTerm) int {
		if a.name < b.name { // never equal
			return -1
		}
		return 1
	})
	if q.best {
		q.parts = s.nameParts(text)
		q.dropStopTerms(s.engine.stopTerms)
	}
	q.weigh()
	return q, nil
}

// dropStopTerms drops the commonest words, unless there are no others.
func (q *query) dropStopTerms(stop map[string]bool) {
	common := func(t queryTerm) bool { return stop[t.name] }
	if all := slices.IndexFunc(q.terms, func(t queryTerm) bool { return !common(t) }) < 0; !all {
		q.terms = slices.DeleteFunc(q.terms, common)
	}
}

// nameParts are the terms that a query has if it is code, beside those that it
// has anyway.
func (s *Snapshot) nameParts(text string) []string {
	plain := make(map[string]bool)
	s.analyzer.Query([]byte(text), func(t analysis.Token) bool {
		plain[t.Term] = true
		return true
	})
	var out []string
	for _, name := range s.analyzer.Of([]byte(text), true).Terms(text) {
		if !plain[name] && !s.engine.stopTerms[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// find looks the term up in all segments.
func (t *queryTerm) find(s *Snapshot) {
	name := []byte(t.name)
	t.ranks = make([]int, len(s.views))
	for i := range s.views {
		rank, ok := s.views[i].rank(name)
		if !ok {
			t.ranks[i] = -1
			continue
		}
		t.ranks[i] = rank
		t.df = int(s.stats.at(int(s.views[i].GID(rank))).df)
	}
}

// countTerms counts the terms of a query's text. Those that are in other only are
// further forms that a word may have.
func (q *query) countTerms(ctx context.Context, s *Snapshot, text string) (counts map[string]int, other map[string]bool, err error) {
	n := 0
	counts, other = make(map[string]int), make(map[string]bool)
	s.analyzer.Query([]byte(text), func(t analysis.Token) bool {
		if _, ok := counts[t.Term]; !ok {
			other[t.Term] = t.Other
		}
		other[t.Term] = other[t.Term] && t.Other
		counts[t.Term]++
		if q.best {
			q.order = append(q.order, t.Term)
		}
		n++
		return n%1024 != 0 || ctx.Err() == nil
	})
	return counts, other, context.Cause(ctx)
}

// choose checks the model's options and fills in the defaults, TFIDF and LogTF.
func (q *query) choose() error {
	switch q.model {
	case "":
		q.model = TFIDF
	case Best:
		q.best, q.model, q.k1, q.b = true, BM25, bestK1, bestB
	}
	if q.tf == "" {
		q.tf = LogTF
	}
	q.raw = q.tf == RawTF
	switch {
	case q.model != TFIDF && q.model != BM25:
		return fmt.Errorf("unknown ranking model %q (use %q, %q or %q)", q.model, TFIDF, BM25, Best)
	case q.tf != LogTF && q.tf != RawTF:
		return fmt.Errorf("unknown tf weighting %q (use %q or %q)", q.tf, LogTF, RawTF)
	case q.model == BM25 && !(q.k1 >= 0 && q.k1 < 1e9 && q.b >= 0 && q.b <= 1):
		return fmt.Errorf("bm25 with k1 %v and b %v: k1 must not be negative, b must be from 0 to 1", q.k1, q.b)
	}
	return nil
}

// weigh fills in idf, weights and norm.
func (q *query) weigh() {
	var sum rank.Squares
	for i := range q.terms {
		t := &q.terms[i]
		if q.model == BM25 {
			t.idf = rank.BM25IDF(q.n, t.df)
			t.weight = float64(float64(t.tf) * t.idf)
			continue
		}
		t.idf = rank.IDF(q.n, t.df)
		t.weight = q.weight(uint32(t.tf), t.idf)
		sum.Add(t.weight)
	}
	q.norm = sum.Norm()
}

// weight is the TF-IDF weight of a term.
func (q *query) weight(tf uint32, idf float64) float64 {
	if q.raw {
		return float64(rank.RawTF(tf) * idf)
	}
	return float64(rank.LogTF(tf) * idf)
}

// factor is what the weight of a tf is multiplied by in the sums that are then
// divided by the passage's norm; TFIDF only.
func (q *query) factor(t *queryTerm) float64 {
	if q.model == BM25 {
		return 0
	}
	return t.weight / q.norm * t.idf
}

// contribution is term t's part in the score of a passage that has it tf > 0
// times. For TFIDF, norm is the passage's norm; for BM25, what BM25Length says.
func (q *query) contribution(t *queryTerm, tf uint32, norm float64) float64 {
	if q.model == BM25 {
		return rank.BM25(float64(t.tf), t.idf, float64(tf), norm)
	}
	return rank.Cosine(t.weight, q.norm, q.weight(tf, t.idf), norm)
}

// present is a term of the query that a segment has.
type present struct {
	rank uint32
	term int // in query.terms
}

// in lists the query's terms that view i has, in ascending order.
func (q *query) in(i int) []present {
	var out []present
	for n := range q.terms {
		if rank := q.terms[n].ranks[i]; rank >= 0 {
			out = append(out, present{uint32(rank), n})
		}
	}
	return out
}
