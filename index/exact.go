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
	for _, t := range terms {
		if len(wanted) == 0 {
			break
		}
		if wanted = seek(wanted, t.Term); len(wanted) > 0 && wanted[0].rank == t.Term {
			out = append(out, occurrence{wanted[0].term, t.TF})
		}
	}
	if q.model != TFIDF {
		return out, 0
	}
	var sum rank.Squares
	for i, df := range idfs.dfsOf(s, v, terms) {
		sum.Add(q.weight(terms[i].TF, idfs.idf(int(df))))
	}
	return out, sum.Norm()
}

// dfsOf gives the df of each term. It goes step by step through all of them, so
// that the processor waits for many places in memory at once.
func (m *idfMemo) dfsOf(s *Snapshot, v *view, terms []segment.TermTF) []uint32 {
	m.dfs = m.dfs[:0]
	for _, t := range terms {
		m.dfs = append(m.dfs, v.GID(int(t.Term)))
	}
	for i, gid := range m.dfs {
		m.dfs[i] = s.stats.at(int(gid)).df
	}
	return m.dfs
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
	dfs    []uint32      // scratch
	known  [4096]float64 // 0: not computed; an idf is at least 1
	latest [8192]struct {
		df  int
		idf float64
	}
}

// reset prepares the memo for N passages.
func (m *idfMemo) reset(n int) {
	if m.n != n {
		*m = idfMemo{n: n, dfs: m.dfs}
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
