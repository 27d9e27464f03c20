package segment

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkMaxima wants maxima for the terms that are to have them, of which Verify
// proves that they bound every posting, and each of them tight.
func checkMaxima(t *testing.T, want Maxima, r *Reader) {
	t.Helper()
	some := want.Share > 0 && r.Passages() >= max(want.Passages, 1)
	if r.HasMaxima() != some {
		t.Fatalf("%+v: segment of %d passages has maxima: %v", want, r.Passages(), r.HasMaxima())
	}
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	var p Postings
	for term := range r.Terms() {
		if err := r.Postings(term, &p); err != nil {
			t.Fatal(err)
		}
		m, ok := p.Maxima()
		if want := some && r.DF(term)*want.Share >= r.Passages(); ok != want || r.TermHasMaxima(term) != want {
			t.Fatalf("term with df %d of %d has maxima: %v", r.DF(term), r.Passages(), ok)
		}
		if ok {
			checkTight(t, r, &p, &m)
		}
	}
}

// checkTight wants that one code less would not do for the block of some posting.
func checkTight(t *testing.T, r *Reader, p *Postings, m *TermMaxima) {
	t.Helper()
	tfs, occupied := make([]uint32, len(m.Blocks)), 0
	for p.Next() {
		for i, d := range p.Docs {
			tfs[d/MaximaBlock] = max(tfs[d/MaximaBlock], p.TFs[i])
		}
	}
	for b, code := range m.Blocks {
		if (code == 0) != (tfs[b] == 0) {
			t.Fatalf("block %d of greatest tf %d has the code %#x", b, tfs[b], code)
		}
		if code != 0 {
			occupied++
			if least := tfLimits[code&15-1]; least >= float64(tfs[b]) {
				t.Fatalf("block %d of greatest tf %d has a code for more than %v", b, tfs[b], least)
			}
		}
	}
	greatest := byte(0)
	for _, code := range m.Blocks {
		greatest = max(greatest, code>>4)
	}
	if occupied > 0 && greatest != maxCode && !math.IsInf(float64(m.Scale), 1) {
		t.Fatalf("greatest impact has the code %d", greatest)
	}
}

// TestSeekIsSearch seeks to and fro, in lists of every shape, and compares with
// the list as a whole.
func TestSeekIsSearch(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		ms := randomModels(r, 1+r.IntN(1500), 1+r.IntN(40))
		merged := build(t, ms, nil, false)
		for range 10 {
			term := r.IntN(max(merged.Terms(), 1))
			if term < merged.Terms() {
				seekAbout(t, r, merged, term)
			}
		}
	}
}

func seekAbout(t *testing.T, r *rand.Rand, seg *Reader, term int) {
	t.Helper()
	var all, tfs []uint32
	var p Postings
	if err := seg.Postings(term, &p); err != nil {
		t.Fatal(err)
	}
	for p.Next() {
		all, tfs = append(all, p.Docs...), append(tfs, p.TFs...)
	}
	if p.Decoded != len(all) {
		t.Fatalf("%d decoded, not %d", p.Decoded, len(all))
	}
	if err := seg.Postings(term, &p); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		doc := uint32(r.IntN(seg.Passages() + 2))
		i, _ := slices.BinarySearch(all, doc)
		if got := p.Seek(doc); got != (i < len(all)) {
			t.Fatalf("seek %d of %d postings: %v, %v", doc, len(all), got, p.Err())
		}
		if i == len(all) {
			continue
		}
		from := i / BlockSize * BlockSize
		if !slices.Equal(p.Docs, all[from:min(from+BlockSize, len(all))]) {
			t.Fatalf("seek %d: the block is %v", doc, p.Docs)
		}
		for k := range p.Docs {
			if p.TF(k) != tfs[from+k] {
				t.Fatalf("seek %d: tf %d of posting %d, not %d", doc, p.TF(k), from+k, tfs[from+k])
			}
		}
	}
}
