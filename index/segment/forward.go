package segment

import (
	"encoding/binary"
	"math/bits"
)

// TermTF is a term of a passage, by its number, and how often it occurs.
type TermTF struct{ Term, TF uint32 }

// The terms of a passage in the forward index:
//
//	uvarint n · n × uvarint gap (the distance from the term before, less one) ·
//	n bits, set where tf > 1, padded to a byte · uvarint tf-2 for each such term
func appendForward(dst []byte, terms []TermTF) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(terms)))
	next := uint32(0)
	for _, t := range terms {
		dst = binary.AppendUvarint(dst, uint64(t.Term-next))
		next = t.Term + 1
	}
	at := len(dst)
	dst = append(dst, make([]byte, (len(terms)+7)/8)...)
	for i, t := range terms {
		if t.TF > 1 {
			dst[at+i/8] |= 1 << (i % 8)
			dst = binary.AppendUvarint(dst, uint64(t.TF-2))
		}
	}
	return dst
}

// Forward gives the terms of passage i in ascending order, in buf if it is
// large enough.
func (r *Reader) Forward(i int, buf []TermTF) ([]TermTF, error) {
	b, err := r.forward.slice(&r.forwardOffs, i)
	if err != nil {
		return nil, err
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return nil, corrupt("forward index: count of passage %d", i)
	}
	if uint64(cap(buf)) < n {
		buf = make([]TermTF, n, n+n/2)
	}
	buf = buf[:n]
	k, ok := decodeTerms(buf, b, k, uint64(r.terms))
	if !ok {
		return nil, corrupt("forward index: terms of passage %d", i)
	}
	return buf, forwardTFs(i, buf, b[k:])
}

// decodeTerms reads gaps from b[at:] and returns where they end. Terms are
// below limit.
func decodeTerms(dst []TermTF, b []byte, at int, limit uint64) (end int, ok bool) {
	next := uint64(0)
	for j := range dst {
		var gap uint64
		switch {
		case at+1 >= len(b):
			return 0, false // the flags follow
		case b[at] < 0x80:
			gap = uint64(b[at])
			at++
		case b[at+1] < 0x80:
			gap = uint64(b[at]&0x7f) | uint64(b[at+1])<<7
			at += 2
		default:
			v, k := binary.Uvarint(b[at:])
			if k <= 0 || v >= limit {
				return 0, false
			}
			gap = v
			at += k
		}
		next += gap
		dst[j] = TermTF{uint32(next), 1}
		next++
	}
	return at, next <= limit // ascending: the last is the greatest
}

func forwardTFs(i int, terms []TermTF, b []byte) error {
	flags := (len(terms) + 7) / 8
	if flags > len(b) {
		return corrupt("forward index: flags of passage %d", i)
	}
	rest := b[flags:]
	for at, w := range b[:flags] {
		for ; w != 0; w &= w - 1 {
			j := at*8 + bits.TrailingZeros8(w)
			v, k := binary.Uvarint(rest)
			if k <= 0 || v > 1<<32-3 || j >= len(terms) {
				return corrupt("forward index: tfs of passage %d", i)
			}
			terms[j].TF = uint32(v) + 2
			rest = rest[k:]
		}
	}
	return nil
}

// ForwardBytes gives the coded terms of passage i, in place: two passages of a
// segment with equal bytes have equal terms.
func (r *Reader) ForwardBytes(i int) ([]byte, error) {
	return r.forward.slice(&r.forwardOffs, i)
}
