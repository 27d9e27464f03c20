package segment

import (
	"encoding/binary"
	"math/bits"
)

// overread is how many bytes past their end packed numbers may be read; every
// section that holds some is padded by it.
const overread = 8

// packedLen is the number of bytes n numbers of w bits take.
func packedLen(n int, w uint) int { return (n*int(w) + 7) / 8 }

// appendPacked appends the numbers, w ≤ 32 bits each, as one little-endian
// stream of bits, padded to a whole byte.
func appendPacked(dst []byte, vals []uint32, w uint) []byte {
	var acc uint64
	var n uint
	end := len(dst) + packedLen(len(vals), w)
	for _, v := range vals {
		acc |= uint64(v) << n
		if n += w; n >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			n -= 32
		}
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(acc))[:end]
}

// unpack reads len(dst) numbers of w ≤ 32 bits. src must hold them and
// overread bytes more.
func unpack(dst []uint32, src []byte, w uint) {
	switch {
	case w == 0:
		clear(dst)
	case w <= 14:
		unpack4(dst, src, w)
	default:
		mask := uint64(1)<<w - 1
		for i, bit := 0, uint(0); i < len(dst); i, bit = i+1, bit+w {
			dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		}
	}
}

// unpack4 takes four numbers from every load: 4·14 bits and the 7 before them
// fit 64.
func unpack4(dst []uint32, src []byte, w uint) {
	mask := uint64(1)<<w - 1
	bit := uint(0)
	for len(dst) >= 4 {
		v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
		dst[0] = uint32(v & mask)
		v >>= w
		dst[1] = uint32(v & mask)
		v >>= w
		dst[2] = uint32(v & mask)
		v >>= w
		dst[3] = uint32(v & mask)
		dst = dst[4:]
		bit += 4 * w
	}
	for i := range dst {
		dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += w
	}
}

// width is the number of bits the largest of the numbers takes.
func width(vals []uint32) uint {
	var or uint32
	for _, v := range vals {
		or |= v
	}
	return uint(bits.Len32(or))
}
