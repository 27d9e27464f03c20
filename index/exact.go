package index

import (
	"sort"

	"quern/index/rank"
)

// occurrence is a term of the query in a passage.
type occurrence struct {
	term int // in query.terms
	tf   uint32
}

// occurrences reads a forward list: the query's terms in it, and its norm
// (TFIDF only). Every exact score of a passage is made of these.
func (q *query) occurrences(s *Snapshot, v *view, list []byte, wanted []present, idfs *idfMemo, out []occurrence) ([]occurrence, float64) {
	var sum rank.Squares
	p := readPairs(list)
	for r, tf, ok := p.next(); ok; r, tf, ok = p.next() {
		wanted = seek(wanted, r)
		if len(wanted) > 0 && wanted[0].rank == r {
			out = append(out, occurrence{wanted[0].term, tf})
		}
		if q.model == TFIDF {
			sum.Add(q.weight(tf, idfs.idf(int(s.dfs.at(int(v.terms[r]))))))
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

// idfMemo remembers the idf of small dfs as long as N stays.
type idfMemo struct {
	n     int
	known [4096]float64 // 0: not computed; an idf is at least 1
}

// reset prepares the memo for N passages.
func (m *idfMemo) reset(n int) {
	if m.n != n {
		*m = idfMemo{n: n}
	}
}

func (m *idfMemo) idf(df int) float64 {
	if df >= len(m.known) {
		return rank.IDF(m.n, df)
	}
	if m.known[df] == 0 {
		m.known[df] = rank.IDF(m.n, df)
	}
	return m.known[df]
}
