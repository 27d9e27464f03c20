package segment

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"
)

// Verify reads the whole segment and proves that its parts agree: checksums,
// order of the terms and ids, counts, and that the postings and the forward
// index say the same. It needs 16 bytes a term of memory.
func (r *Reader) Verify() error {
	if err := r.CheckAll(); err != nil {
		return err
	}
	v := verifier{r: r, sums: make([]uint64, r.terms), dfs: make([]uint32, r.terms)}
	for _, step := range []func() error{v.passages, v.terms, v.documents} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

type verifier struct {
	r    *Reader
	sums []uint64 // by term: sum over its passages of a hash of passage and tf
	dfs  []uint32
}

func posting(passage int, tf uint32) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], uint32(passage))
	binary.LittleEndian.PutUint32(b[4:], tf)
	return xxh3.Hash(b[:])
}

func (v *verifier) passages() error {
	var terms []TermTF
	var buf TextBuffer
	length, last := uint64(0), uint64(0)
	for i := range v.r.passages {
		var err error
		if terms, err = v.r.Forward(i, terms); err != nil {
			return err
		}
		for _, t := range terms {
			v.sums[t.Term] += posting(i, t.TF)
			v.dfs[t.Term]++
		}
		if id := v.r.PassageID(i); i > 0 && id <= last {
			return corrupt("passage %d has id %d after %d", i, id, last)
		} else {
			last = id
		}
		length += uint64(v.r.PassageLength(i))
		if _, err := v.r.Text(i, &buf); err != nil {
			return err
		}
	}
	if length != v.r.length {
		return corrupt("lengths add up to %d, not %d", length, v.r.length)
	}
	return nil
}

func (v *verifier) terms() error {
	c := v.r.Cursor()
	var p Postings
	var last []byte
	count := uint64(0)
	for n := 0; c.Next(); n++ {
		if n > 0 && bytes.Compare(last, c.Term()) >= 0 {
			return corrupt("term %q after %q", c.Term(), last)
		}
		last = append(last[:0], c.Term()...)
		sum, err := v.term(c.Number(), &p)
		if err != nil {
			return err
		}
		if sum != v.sums[n] || p.df != int(v.dfs[n]) {
			return corrupt("term %q: postings and forward index differ", c.Term())
		}
		if n%dictBlock == 0 && v.r.prefix(n/dictBlock) != prefix(last) {
			return corrupt("prefix of term %q", last)
		}
		if t, ok, err := v.r.Lookup(last); err != nil || !ok || t != n {
			return corrupt("term %q is not found: %v", last, err)
		}
		count += uint64(p.df)
	}
	if c.Err() == nil && count != v.r.postingCount {
		return corrupt("%d postings, not %d", count, v.r.postingCount)
	}
	return c.Err()
}

// term adds up the postings of term t and proves their bounds.
func (v *verifier) term(t int, p *Postings) (sum uint64, err error) {
	if err := v.r.Postings(t, p); err != nil {
		return 0, err
	}
	m, maxima := p.Maxima()
	for b := 0; p.Next(); b++ {
		for i, d := range p.Docs {
			sum += posting(int(d), p.TFs[i])
			if maxima && !v.r.bounded(&m, int(d), p.TFs[i]) {
				return 0, corrupt("maxima of term %d do not bound passage %d", t, d)
			}
			if !p.HasBounds() {
				continue
			}
			if tf, ok := p.MaxTF(b); ok && p.TFs[i] > tf || v.r.PassageLength(int(d)) < p.MinLength(b) {
				return 0, corrupt("bounds of block %d of term %d", b, t)
			}
		}
	}
	return sum, p.Err()
}

// bounded proves the maxima of a posting's block and superblock.
func (r *Reader) bounded(m *TermMaxima, passage int, tf uint32) bool {
	b := passage / MaximaBlock
	s := b >> r.maxima.super
	impacts, norm := m.MaxImpacts(), math.Sqrt(float64(r.Norm2(passage)))
	for _, code := range []byte{m.Blocks[b], m.Supers[s]} {
		// The same sum may have been rounded differently.
		if impacts[code>>4]*norm < logTF(tf)*(1-1e-12) || tfLimits[code&15] < float64(tf) {
			return false
		}
	}
	return r.BlockLength(b) <= r.PassageLength(passage) && r.SuperLength(s) <= r.BlockLength(b)
}

func (v *verifier) documents() error {
	last := uint64(0)
	for i := range v.r.docs {
		id := v.r.DocumentID(i)
		if i > 0 && id <= last {
			return corrupt("document record %d has id %d after %d", i, id, last)
		}
		last = id
		path, _, err := v.r.Document(i)
		if err != nil {
			return err
		}
		found := false
		err = v.r.FindPath(string(path), func(j int) bool { found = j == i; return !found })
		if err != nil || !found {
			return corrupt("document record %d is not found by its path: %v", i, err)
		}
	}
	return nil
}
