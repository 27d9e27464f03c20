package index

import (
	"math/bits"

	"quern/index/segment"
)

// visit adds up a block, and offers its passages, unless the bound of the block
// proves to be below the floor.
func (w *visitor) visit(v *pruned, b int) {
	if w.below(v.common[b] + v.rare[b]) {
		w.partial = true
		return
	}
	closer := w.q.model == TFIDF && v.rare[b] > 0
	if closer {
		w.addLists(v, b, false)
		if w.below(v.common[b] + w.mostRare(v, b)) {
			w.partial = true
			w.forget()
			return
		}
		w.addLists(v, b, true)
	} else {
		for k, l := range v.lists {
			w.addList(v, k, l, b)
		}
	}
	dirty := w.dirty
	w.dirty = 0
	w.sweep(v.i, v.view, b, &w.sums, dirty)
}

// addLists adds up the rare terms or the frequent ones.
func (w *visitor) addLists(v *pruned, b int, frequent bool) {
	for k, l := range v.lists {
		if l.frequent == frequent {
			w.addList(v, k, l, b)
		}
	}
}

// mostRare bounds what the rare terms, which are added up, are worth, passage by
// passage.
func (w *visitor) mostRare(v *pruned, b int) float64 {
	most := 0.0
	for m := w.dirty; m != 0; m &= m - 1 {
		j := bits.TrailingZeros64(m)
		_, upper := w.bounds(v.view, 64*b+j, w.sums[j])
		most = max(most, upper)
	}
	return most
}

// forget clears the sums.
func (w *visitor) forget() {
	for ; w.dirty != 0; w.dirty &= w.dirty - 1 {
		w.sums[bits.TrailingZeros64(w.dirty)] = 0
	}
}

// addList adds a term's part to the sums of a block.
func (w *visitor) addList(v *pruned, k int, l *list, b int) {
	if !l.frequent {
		docs, tfs := l.in(b)
		w.addBlock(v, l, docs, tfs)
		return
	}
	if l.maxima.Blocks[b] == 0 {
		return
	}
	c := w.cursor(v, k, l)
	lo := uint32(segment.MaximaBlock * b)
	for hi := lo + segment.MaximaBlock; lo < hi && c.Seek(lo); {
		from := firstFrom(c.Docs, lo)
		to := from
		for ; to < len(c.Docs) && c.Docs[to] < hi; to++ {
			w.tfs[to-from] = c.TF(to)
		}
		w.addBlock(v, l, c.Docs[from:to], w.tfs[:to-from])
		if to < len(c.Docs) {
			return
		}
		lo = c.Docs[to-1] + 1
	}
}

func (w *visitor) addBlock(v *pruned, l *list, docs, tfs []uint32) {
	w.add(w.sums[:], segment.MaximaBlock-1, v.view, l.t, l.factor, docs, tfs)
	for _, p := range docs {
		w.dirty |= 1 << (p % segment.MaximaBlock)
	}
}

// cursor gives the visitor's place in list k of a view.
func (w *visitor) cursor(v *pruned, k int, l *list) *segment.Postings {
	for len(w.cursors) <= v.n {
		w.cursors = append(w.cursors, nil)
	}
	if len(w.cursors[v.n]) < len(v.lists) {
		w.cursors[v.n] = make([]segment.Postings, len(v.lists))
	}
	c := &w.cursors[v.n][k]
	if c.DF() == 0 {
		v.read(l.rank, c)
	}
	return c
}

// endCursors gives how many postings the visitor's cursors have decoded, if all
// could be read.
func (w *visitor) endCursors(v *pruned) (decoded int) {
	if v.n >= len(w.cursors) {
		return 0
	}
	for k := range w.cursors[v.n] {
		v.must(w.cursors[v.n][k].Err())
		decoded += w.cursors[v.n][k].Decoded
	}
	return decoded
}
