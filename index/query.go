package index

import (
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
	text    string   // the words that rank, as they were written
	norm    float64  // cosine: of the query's weights

	// constant says that nothing in the query ranks: what it does not
	// exclude is a hit of score 1.
	constant bool
	demands  []demand
	keep     []documentTest
	spans    []*sequence // phrases to be marked in hits

	// For the model best, which is BM25 in all else.
	best  bool
	order []string // the terms as they follow each other in the query
	parts []string // of its names, in byte order
	stop  map[string]bool

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
	from   []string // the prefixes and fuzzy words that it is an expansion of
	boost  float64  // below 1: it is only the expansion of fuzzy words
	times  float64  // boost · tf
	ranks  []int    // by view; -1: the segment does not have it
	idf    float64  // of the model
	weight float64  // of the term in the query, before normalising
}

// dropStopTerms drops the commonest words, unless there are no others.
func (q *query) dropStopTerms() {
	common := func(t queryTerm) bool { return q.stop[t.name] }
	if all := slices.IndexFunc(q.terms, func(t queryTerm) bool { return !common(t) }) < 0; !all {
		q.terms = slices.DeleteFunc(q.terms, common)
	}
}

// nameParts are the terms that a query has if it is code, beside those that it
// has anyway.
func (q *query) nameParts(s *Snapshot, text string) []string {
	plain := make(map[string]bool)
	s.queryTokens(text, func(t analysis.Token) bool {
		plain[t.Term] = true
		return true
	})
	var out []string
	for _, name := range s.analyzer.Of([]byte(text), true).Terms(text) {
		if !plain[name] && !q.stop[name] {
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

// queryTokens goes through the terms of a query's text. A word that may be of
// several languages is English, unless far more passages have it in the form of
// another.
func (s *Snapshot) queryTokens(text string, yield func(analysis.Token) bool) {
	s.analyzer.Query([]byte(text), s.likeliest, yield)
}

// queryTerms are the terms of a query's text, in order.
func (s *Snapshot) queryTerms(text string) (out []string) {
	s.queryTokens(text, func(t analysis.Token) bool {
		out = append(out, t.Term)
		return true
	})
	return out
}

// farMore is how many times as many passages must have a form for it to be taken
// instead of the first.
const farMore = 20

// likeliest is the form of a word that is meant.
func (s *Snapshot) likeliest(forms []string) string {
	best, most := forms[0], 0
	for i, name := range forms {
		t := queryTerm{name: name}
		if t.find(s); i == 0 {
			most = farMore * t.df
		} else if t.df > most {
			best, most = name, t.df
		}
	}
	return best
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
		t.times = float64(t.tf) * t.boost
		if q.model == BM25 {
			t.idf = rank.BM25IDF(q.n, t.df)
			t.weight = float64(t.times * t.idf)
			continue
		}
		t.idf = rank.IDF(q.n, t.df)
		t.weight = float64(q.weight(uint32(t.tf), t.idf) * t.boost)
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
		return rank.BM25(t.times, t.idf, float64(tf), norm)
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
