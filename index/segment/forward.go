package segment

import "encoding/binary"

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
	b = b[k:]
	buf = buf[:0]
	next := uint64(0)
	for range n {
		gap, k := uvarint(b)
		next += gap
		if k <= 0 || gap > uint64(r.terms) || next >= uint64(r.terms) {
			return nil, corrupt("forward index: terms of passage %d", i)
		}
		buf = append(buf, TermTF{uint32(next), 1})
		next++
		b = b[k:]
	}
	return buf, r.forwardTFs(i, buf, b)
}

// uvarint is binary.Uvarint, quicker for the short ones.
func uvarint(b []byte) (uint64, int) {
	if len(b) >= 2 {
		if b[0] < 0x80 {
			return uint64(b[0]), 1
		}
		if b[1] < 0x80 {
			return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
		}
	}
	return binary.Uvarint(b)
}

func (r *Reader) forwardTFs(i int, terms []TermTF, b []byte) error {
	flags := (len(terms) + 7) / 8
	if flags > len(b) {
		return corrupt("forward index: flags of passage %d", i)
	}
	bits, rest := b[:flags], b[flags:]
	for j := range terms {
		if bits[j/8]&(1<<(j%8)) == 0 {
			continue
		}
		v, k := uvarint(rest)
		if k <= 0 || v > 1<<32-3 {
			return corrupt("forward index: tfs of passage %d", i)
		}
		terms[j].TF = uint32(v) + 2
		rest = rest[k:]
	}
	return nil
}

// ForwardBytes gives the coded terms of passage i, in place: two passages of a
// segment with equal bytes have equal terms.
func (r *Reader) ForwardBytes(i int) ([]byte, error) {
	return r.forward.slice(&r.forwardOffs, i)
}
