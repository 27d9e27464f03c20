package index

import (
	"slices"

	"quern/index/rank"
	"quern/index/segment"
)

// list is a term's postings in a view of which only some blocks are visited. Of
// a frequent term there are maxima, and every visitor reads what it needs of the
// postings; those of a rare one are read whole, once.
type list struct {
	t      *queryTerm
	rank   int
	factor float64 // TFIDF: of a tf's weight in the sum

	frequent bool
	maxima   segment.TermMaxima
	worth    [16]float64 // TFIDF: the most that a code says the term adds

	docs, tfs []uint32
	has       segment.Bits // the blocks that have postings
	starts    []uint32     // by 64 blocks, where their postings begin; and the end
}

// open makes l the list of a term of the query in a view. A frequent term's
// maxima are read, a rare one's postings are to be read by readAll.
func (l *list) open(v *view, w present, q *query, frequent bool, postings *segment.Postings) {
	l.t, l.rank, l.frequent = &q.terms[w.term], int(w.rank), frequent
	if l.factor = q.factor(l.t); !frequent {
		return
	}
	v.read(l.rank, postings)
	l.maxima, _ = postings.Maxima()
	for code, impact := range l.maxima.MaxImpacts() {
		l.worth[code] = impact * l.factor
	}
}

// release lets go of the segment.
func (l *list) release() { l.t, l.maxima = nil, segment.TermMaxima{} }

// readAll reads the postings of a rare term.
func (l *list) readAll(v *view, p *segment.Postings) (decoded int) {
	v.read(l.rank, p)
	l.docs, l.tfs = slices.Grow(l.docs[:0], p.DF()), slices.Grow(l.tfs[:0], p.DF())
	for p.Next() {
		l.docs, l.tfs = append(l.docs, p.Docs...), append(l.tfs, p.TFs...)
	}
	v.must(p.Err())
	words := (v.blocks() + 63) / 64
	l.has = slices.Grow(l.has[:0], words)[:words]
	clear(l.has)
	l.starts = slices.Grow(l.starts[:0], words+1)
	for i, p := range l.docs {
		b := p / segment.MaximaBlock
		for len(l.starts) <= int(b/64) {
			l.starts = append(l.starts, uint32(i))
		}
		l.has[b/64] |= 1 << (b % 64)
	}
	for len(l.starts) <= words {
		l.starts = append(l.starts, uint32(len(l.docs)))
	}
	return p.Decoded
}

// in gives a rare term's postings in a block.
func (l *list) in(b int) (docs, tfs []uint32) {
	if !l.has.Has(b) {
		return nil, nil
	}
	lo, hi := l.starts[b/64], l.starts[b/64+1]
	docs, tfs = l.docs[lo:hi], l.tfs[lo:hi]
	from := firstFrom(docs, uint32(segment.MaximaBlock*b))
	to, end := from, uint32(segment.MaximaBlock*(b+1))
	for to < len(docs) && docs[to] < end {
		to++
	}
	return docs[from:to], tfs[from:to]
}

// firstFrom is where in ascending numbers the first ≥ n is.
func firstFrom(numbers []uint32, n uint32) int {
	lo, hi := 0, len(numbers)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); numbers[m] < n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// bound adds to out, by block, what a rare term is worth at most.
func (l *list) bound(w *visitor, v *view, out []float64) {
	for i := 0; i < len(l.docs); {
		b := l.docs[i] / segment.MaximaBlock
		tf := l.tfs[i]
		for i++; i < len(l.docs) && l.docs[i]/segment.MaximaBlock == b; i++ {
			tf = max(tf, l.tfs[i])
		}
		if w.q.model == BM25 {
			out[b] += rank.BM25(l.t.times, l.t.idf, float64(tf), w.lengthNorm(v.BlockLength(int(b))))
		} else {
			out[b] += l.factor * rank.LogTF(tf)
		}
	}
}

// bm25 is the most that a frequent BM25 term adds, by the code of its tf, to the
// score of a passage whose length adds as much to tf.
func (l *list) bm25(code byte, length float64) float64 {
	tf := maxTFs[code]
	if tf == 0 {
		return 0
	}
	return l.t.weight * tf / (tf + length)
}

// bm25Worth is bm25 of every code.
func (l *list) bm25Worth(length float64) (out [16]float64) {
	for code := range out {
		out[code] = l.bm25(byte(code), length)
	}
	return out
}

// maxTFs are finite, so that tf/(tf+length) is a number.
var maxTFs = func() [16]float64 {
	t := segment.MaxTFs()
	for i := range t {
		t[i] = min(t[i], 1e300)
	}
	return t
}()
