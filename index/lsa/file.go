package lsa

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"
)

// ErrFormat is wrapped by the errors of Decode and DecodeVectors: the bytes are
// damaged or of another version, and what they held is to be learned anew.
var ErrFormat = errors.New("not a latent semantic model of this version")

const (
	modelMagic   = "QLSM\x00\x00\x00\x01"
	vectorsMagic = "QLSV\x00\x00\x00\x01"
)

// Encode writes the model as bytes, little-endian:
//
//	magic (8) · passages (8) · dimensions (4) · terms (4)
//	idf and scale (4 a term each) · ends of the terms (4 a term)
//	basis (1 a term and dimension) · the terms · xxh3 of all before (8)
func (m *Model) Encode() []byte {
	b := []byte(modelMagic)
	b = binary.LittleEndian.AppendUint64(b, uint64(m.passages))
	b = binary.LittleEndian.AppendUint32(b, uint32(m.dims))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.terms)))
	b = appendFloats(b, m.idf)
	b = appendFloats(b, m.basis.Scale)
	end := uint32(0)
	for _, t := range m.terms {
		end += uint32(len(t))
		b = binary.LittleEndian.AppendUint32(b, end)
	}
	b = appendSigned(b, m.basis.Data)
	for _, t := range m.terms {
		b = append(b, t...)
	}
	return seal(b)
}

func seal(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b)) }

func appendSigned(b []byte, v []int8) []byte {
	for _, x := range v {
		b = append(b, byte(x))
	}
	return b
}

func appendFloats(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Decode reads what Encode wrote; the model's basis is that of b, which must not
// change. The error wraps ErrFormat.
func Decode(b []byte) (*Model, error) {
	r, err := open(b, modelMagic)
	if err != nil {
		return nil, err
	}
	m := &Model{passages: int(r.uint64()), dims: int(r.uint32())}
	n := int(r.uint32())
	r.bound(m.dims)
	m.idf = r.floats(n)
	m.basis = &Vectors{Dimensions: Padded(m.dims), Scale: r.floats(n)}
	ends := r.take(4 * n)
	m.basis.Data = signed(r.take(n * m.basis.Dimensions))
	m.terms = r.strings(ends)
	if r.bad || len(r.b) != 0 {
		return nil, fmt.Errorf("%w: lengths do not agree", ErrFormat)
	}
	return m, nil
}

// Encode writes the vectors as bytes, little-endian:
//
//	magic (8) · passages (4) · dimensions (4) · scale (4 a passage) · data · xxh3 (8)
func (v *Vectors) Encode() []byte {
	b := []byte(vectorsMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Len()))
	b = binary.LittleEndian.AppendUint32(b, uint32(v.Dimensions))
	b = appendFloats(b, v.Scale)
	return seal(appendSigned(b, v.Data))
}

// DecodeVectors reads what Encode wrote; the vectors' data is that of b, which must
// not change. The error wraps ErrFormat.
func DecodeVectors(b []byte) (*Vectors, error) {
	r, err := open(b, vectorsMagic)
	if err != nil {
		return nil, err
	}
	n, dims := int(r.uint32()), int(r.uint32())
	r.bound(dims)
	v := &Vectors{Dimensions: dims, Scale: r.floats(n), Data: signed(r.take(n * dims))}
	if r.bad || len(r.b) != 0 || dims%Lane != 0 {
		return nil, fmt.Errorf("%w: lengths do not agree", ErrFormat)
	}
	return v, nil
}

// open checks the magic and the checksum.
func open(b []byte, magic string) (*reader, error) {
	if len(b) < len(magic)+8 || string(b[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxh3.Hash(body) != sum {
		return nil, fmt.Errorf("%w: checksum does not agree", ErrFormat)
	}
	return &reader{b: body[len(magic):]}, nil
}

// reader takes fields from the front; what is missing makes it bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// MaxDimensions is the greatest length of a vector: with it the sums of products
// stay within 32 bits.
const MaxDimensions = 8192

func (r *reader) bound(dimensions int) {
	if dimensions > MaxDimensions {
		r.take(-1)
	}
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) floats(n int) []float32 {
	if n < 0 || n > len(r.b)/4 {
		r.take(-1)
		return nil
	}
	b := r.take(4 * n)
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (r *reader) strings(ends []byte) []string {
	out := make([]string, len(ends)/4)
	start := 0
	for i := range out {
		end := int(binary.LittleEndian.Uint32(ends[4*i:]))
		out[i] = string(r.take(end - start))
		start = end
	}
	return out
}
