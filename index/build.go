package index

import (
	"slices"

	"quern/index/rank"
)

// builder gathers the terms of passages and makes a segment of them. It is
// used by one goroutine at a time.
type builder struct {
	numbers map[string]uint32 // term → number in order of first sight
	names   []string
	last    []uint32 // number → 1 + the last passage that has the term
	at      []uint32 // number → where in entries, valid for that passage

	entries []entry
	starts  []int // of each passage in entries
	lengths []uint32
}

// entry is a term of a passage, or a passage of a term.
type entry struct{ id, tf uint32 }

func newBuilder() *builder { return &builder{numbers: make(map[string]uint32)} }

// begin starts a passage; add and begin fill it.
func (b *builder) begin() {
	b.starts = append(b.starts, len(b.entries))
	b.lengths = append(b.lengths, 0)
}

// add counts one occurrence of a term in the passage begun last.
func (b *builder) add(term string) {
	id, ok := b.numbers[term]
	if !ok {
		id = uint32(len(b.names))
		b.numbers[term] = id
		b.names = append(b.names, term)
		b.last = append(b.last, 0)
		b.at = append(b.at, 0)
	}
	passage := uint32(len(b.starts))
	b.lengths[passage-1]++
	if b.last[id] == passage {
		b.entries[b.at[id]].tf++
		return
	}
	b.last[id], b.at[id] = passage, uint32(len(b.entries))
	b.entries = append(b.entries, entry{id, 1})
}

// built is a segment without what only the writer knows: the numbers of its
// terms in the table, its passages' names and documents.
type built struct {
	*segment
	names  []string // of the terms, in byte order
	counts []uint32 // how many passages have each
}

// build makes the segment. The builder is spent.
func (b *builder) build() built {
	ranks, names := b.rankTerms()
	s := &segment{lengths: b.lengths}
	byTerm, offsets := b.transpose(ranks)
	b.entries = nil
	s.postings = codeLists(byTerm, offsets)
	counts := make([]uint32, len(names))
	for r := range counts {
		counts[r] = uint32(offsets[r+1] - offsets[r])
	}
	byPassage, offsets := b.transposeBack(byTerm, offsets)
	s.forward = codeLists(byPassage, offsets)
	s.squares = sumSquares(byPassage, offsets)
	return built{s, names, counts}
}

// rankTerms gives each term its rank in byte order.
func (b *builder) rankTerms() (ranks []uint32, names []string) {
	order := make([]uint32, len(b.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if b.names[x] < b.names[y] { // never equal
			return -1
		}
		return 1
	})
	ranks, names = make([]uint32, len(order)), make([]string, len(order))
	for r, id := range order {
		ranks[id], names[r] = uint32(r), b.names[id]
	}
	return ranks, names
}

// transpose sorts the entries by rank, and within a rank by passage, in
// linear time: entries of (passage, tf) by rank.
func (b *builder) transpose(ranks []uint32) ([]entry, []int) {
	offsets := make([]int, len(ranks)+1)
	for i, e := range b.entries {
		b.entries[i].id = ranks[e.id]
		offsets[ranks[e.id]+1]++
	}
	next := accumulateOffsets(offsets)
	out := make([]entry, len(b.entries))
	for p, start := range b.starts {
		end := len(b.entries)
		if p+1 < len(b.starts) {
			end = b.starts[p+1]
		}
		for _, e := range b.entries[start:end] {
			out[next[e.id]] = entry{uint32(p), e.tf}
			next[e.id]++
		}
	}
	return out, offsets
}

// transposeBack turns entries by rank into entries by passage, each
// passage's in ascending order of rank.
func (b *builder) transposeBack(byTerm []entry, termOffsets []int) ([]entry, []int) {
	offsets := make([]int, len(b.starts)+1)
	for _, e := range byTerm {
		offsets[e.id+1]++
	}
	next := accumulateOffsets(offsets)
	out := make([]entry, len(byTerm))
	for r := range len(termOffsets) - 1 {
		for _, e := range byTerm[termOffsets[r]:termOffsets[r+1]] {
			out[next[e.id]] = entry{uint32(r), e.tf}
			next[e.id]++
		}
	}
	return out, offsets
}

// accumulateOffsets turns counts (of i, at i+1) into offsets, and returns a
// copy to count up.
func accumulateOffsets(offsets []int) []int {
	for i := 1; i < len(offsets); i++ {
		offsets[i] += offsets[i-1]
	}
	return slices.Clone(offsets)
}

// codeLists codes the lists of entries that offsets bound.
func codeLists(entries []entry, offsets []int) lists {
	l := lists{offsets: make([]uint64, 1, len(offsets)), data: make([]byte, 0, 2*len(entries))}
	for i := range len(offsets) - 1 {
		next := uint32(0)
		for _, e := range entries[offsets[i]:offsets[i+1]] {
			l.data = appendPair(l.data, e.id-next, e.tf)
			next = e.id + 1
		}
		l.end()
	}
	l.data = slices.Clip(slices.Clone(l.data))
	return l
}

// sumSquares computes Σ a² of each passage.
func sumSquares(entries []entry, offsets []int) []squares {
	out := make([]squares, len(offsets)-1)
	for p := range out {
		var log, raw rank.Squares
		for _, e := range entries[offsets[p]:offsets[p+1]] {
			log.Add(rank.LogTF(e.tf))
			raw.Add(rank.RawTF(e.tf))
		}
		out[p] = squares{float64(log), float64(raw)}
	}
	return out
}
