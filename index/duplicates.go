package index

import (
	"context"
	"slices"

	lang "quern/index/query"

	"quern/index/analysis"

	"github.com/zeebo/xxh3"
)

// Two passages are near-duplicates if of the runs of three terms that either has,
// both have four in five.
//
// Source: Broder, On the resemblance and containment of documents (1997).
const (
	shingle    = 3
	resemblant = 0.8
	// foldedHits bounds the hits that are compared; those after them are shown.
	foldedHits = 200
)

// findFolded is find with near-duplicates folded into the best of them. It looks
// at further hits until it has as many different ones as are wanted.
func (s *Snapshot) findFolded(ctx context.Context, asked *lang.Query, o SearchOptions) (*Result, error) {
	wanted := max(0, o.K) + max(0, o.Offset)
	if o.K <= 0 || wanted < 0 || wanted > s.passages {
		wanted = min(max(0, o.K), s.passages) + min(max(0, o.Offset), s.passages)
	}
	inner := o
	inner.Offset, inner.Text, inner.FoldDuplicates = 0, true, false
	for inner.K = wanted + wanted/2 + 4; ; inner.K *= 2 {
		res, err := s.find(ctx, asked, inner)
		if err != nil {
			return nil, err
		}
		seen := len(res.Hits)
		res.Hits = s.fold(res.Hits)
		if len(res.Hits) >= wanted || seen < inner.K || inner.K > foldedHits {
			res.Hits = cutHits(res.Hits, o)
			return res, nil
		}
	}
}

// cutHits leaves the hits that were wanted, with text if it was.
func cutHits(hits []Hit, o SearchOptions) []Hit {
	hits = hits[min(max(0, o.Offset), len(hits)):]
	hits = hits[:min(max(0, o.K), len(hits))]
	if !o.Text {
		for i := range hits {
			hits[i].Text, hits[i].Highlights, hits[i].Snippet = "", nil, [2]int{}
		}
	}
	return slices.Clip(hits)
}

// fold puts every hit that resembles a better one under it.
func (s *Snapshot) fold(hits []Hit) []Hit {
	var out []Hit
	var sizes []int               // by place in out
	holders := map[uint64][]int{} // shingle → places in out
	for i := range hits {
		h := &hits[i]
		if i >= foldedHits {
			out = append(out, *h)
			continue
		}
		set := s.shingles(h.Text)
		if to := resembling(set, holders, sizes); to >= 0 {
			out[to].Duplicates = append(out[to].Duplicates, Duplicate{h.Document, h.N, h.Lines})
			continue
		}
		for _, x := range set {
			holders[x] = append(holders[x], len(out))
		}
		out, sizes = append(out, *h), append(sizes, len(set))
	}
	return out
}

// resembling is the first of the sets before that resembles this one, or -1.
func resembling(set []uint64, holders map[uint64][]int, sizes []int) int {
	shared := make(map[int]int)
	for _, x := range set {
		for _, i := range holders[x] {
			shared[i]++
		}
	}
	first := -1
	for i, n := range shared {
		if float64(n) >= resemblant*float64(len(set)+sizes[i]-n) && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// shingles are the hashes of a text's runs of terms, each once. A shorter text is
// one run.
func (s *Snapshot) shingles(text string) []uint64 {
	var out []uint64
	var last [shingle]uint64
	n := 0
	hash := func() uint64 {
		var b [8 * shingle]byte
		for i, h := range last {
			for j := range 8 {
				b[8*i+j] = byte(h >> (8 * j))
			}
		}
		return xxh3.Hash(b[:])
	}
	s.analyzer.Tokens([]byte(text), func(t analysis.Token) bool {
		copy(last[:], last[1:])
		last[shingle-1] = xxh3.HashString(t.Term)
		if n++; n >= shingle {
			out = append(out, hash())
		}
		return true
	})
	if n > 0 && n < shingle {
		out = append(out, hash())
	}
	slices.Sort(out)
	return slices.Compact(out)
}
