package index

import (
	"sort"

	"quern/index/rank"
	"quern/index/segment"
)

// occurrence is a term of the query in a passage.
type occurrence struct {
	term int // in query.terms
	tf   uint32
}

// occurrences goes through the terms of a passage: those of the query, and its
// norm (TFIDF only). Every exact score of a passage is made of these.
func (q *query) occurrences(s *Snapshot, v *view, terms []segment.TermTF, wanted []present, idfs *idfMemo, out []occurrence) ([]occurrence, float64) {
	var sum rank.Squares
	for _, t := range terms {
		wanted = seek(wanted, t.Term)
		if len(wanted) > 0 && wanted[0].rank == t.Term {
			out = append(out, occurrence{wanted[0].term, t.TF})
		}
		if q.model == TFIDF {
			sum.Add(q.weight(t.TF, idfs.idf(int(s.stats.at(int(v.GID(int(t.Term)))).df))))
		}
	}
	return out, sum.Norm()
}

// seek drops what stands before r.
func seek(wanted []present, r uint32) []present {
	for range 8 {
		if len(wanted) == 0 || wanted[0].rank >= r {
			return wanted
		}
		wanted = wanted[1:]
	}
	return wanted[sort.Search(len(wanted), func(i int) bool { return wanted[i].rank >= r }):]
}

// score adds the contributions, in order.
func (q *query) score(found []occurrence, norm float64) float64 {
	sum := 0.0
	for _, o := range found {
		sum += q.contribution(&q.terms[o.term], o.tf, norm)
	}
	return sum
}

// lengthNorm is the norm that contribution takes for BM25.
func (q *query) lengthNorm(length uint32) float64 {
	return rank.BM25Length(q.k1, q.b, int(length), q.length)
}

// idfMemo remembers idfs as long as N stays: those of small dfs, and the latest
// of the others.
type idfMemo struct {
	n      int
	known  [4096]float64 // 0: not computed; an idf is at least 1
	latest [8192]struct {
		df  int
		idf float64
	}
}

// reset prepares the memo for N passages.
func (m *idfMemo) reset(n int) {
	if m.n != n {
		*m = idfMemo{n: n}
	}
}

func (m *idfMemo) idf(df int) float64 {
	if df >= len(m.known) {
		e := &m.latest[df%len(m.latest)]
		if e.df != df {
			e.df, e.idf = df, rank.IDF(m.n, df)
		}
		return e.idf
	}
	if m.known[df] == 0 {
		m.known[df] = rank.IDF(m.n, df)
	}
	return m.known[df]
}
