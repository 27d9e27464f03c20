package index

import (
	"slices"

	"quern/index/lsa"
	"quern/index/rank"
	"quern/index/segment"
)

// Bounds of what vectors are learned from: with them learning takes some seconds
// and some 200 MiB, however large the index is.
const (
	sampleTerms    = 30_000
	samplePassages = 20_000
)

// sample is what vectors are learned from: passages spread evenly over the index,
// and the terms that most of them have, but neither the commonest words of the language
// nor what a single passage has.
func (s *Snapshot) sample() *lsa.Sample {
	names, columns := s.frequentTerms(sampleTerms)
	out := &lsa.Sample{Terms: names, IDF: make([]float64, len(names)), Passages: s.passages}
	for gid, c := range columns {
		if c >= 0 {
			out.IDF[c] = rank.IDF(s.passages, int(s.stats.at(gid).df))
		}
	}
	step := max(1, (s.passages+samplePassages-1)/samplePassages)
	n := 0
	var row rowOf
	for i := range s.views {
		v := &s.views[i]
		v.eachLive(func(local int) {
			if n++; n%step == 0 {
				row.read(v, local, columns)
				out.Add(row.columns, row.tfs)
			}
		})
	}
	return out
}

// rowOf is a passage's terms as columns.
type rowOf struct {
	terms        []segment.TermTF
	columns, tfs []int32
}

func (r *rowOf) read(v *view, local int, columns []int32) {
	r.terms = v.terms(local, r.terms)
	r.columns, r.tfs = r.columns[:0], r.tfs[:0]
	for _, t := range r.terms {
		if c := columns[v.GID(int(t.Term))]; c >= 0 {
			r.columns, r.tfs = append(r.columns, c), append(r.tfs, int32(t.TF))
		}
	}
}

// frequentTerms returns the most frequent terms in byte order, and the place of each
// there by gid, -1 for all others.
func (s *Snapshot) frequentTerms(most int) (names []string, columns []int32) {
	least := s.leastDF(most)
	type term struct {
		name string
		gid  uint32
	}
	var found []term
	stop := s.analyzer.StopTerms(nil)
	columns = slices.Repeat([]int32{-1}, s.stats.len())
	for i := range s.views {
		v := &s.views[i]
		c := v.Cursor()
		for c.Next() {
			gid := v.GID(c.Number())
			if s.stats.at(int(gid)).df >= least && columns[gid] < 0 && !stop[string(c.Term())] {
				columns[gid] = 0
				found = append(found, term{string(c.Term()), gid})
			}
		}
		v.must(c.Err())
	}
	slices.SortFunc(found, func(a, b term) int {
		if a.name < b.name { // never equal
			return -1
		}
		return 1
	})
	for i, t := range found {
		names = append(names, t.name)
		columns[t.gid] = int32(i)
	}
	return names, columns
}

// leastDF is the least df, but 2, that at most some terms reach.
func (s *Snapshot) leastDF(most int) uint32 {
	var byDF [1 << 16]int
	for gid := range s.stats.len() {
		byDF[min(s.stats.at(gid).df, uint32(len(byDF)-1))]++
	}
	n := 0
	for df := len(byDF) - 1; df >= 2; df-- {
		if n += byDF[df]; n > most {
			return uint32(df + 1)
		}
	}
	return 2
}
