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

// packedAt reads number i of those that unpack would read.
func packedAt(src []byte, i int, w uint) uint32 {
	bit := uint(i) * w
	return uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & (1<<w - 1))
}

// unpackSums reads gaps as unpack does and gives the numbers that lie them
// apart: dst[i] = base + i + gap[0] + … + gap[i]. It returns one more than the
// last, which may be beyond 32 bits, as those before it may then.
func unpackSums(dst []uint32, src []byte, w uint, base uint32) uint64 {
	sum, mask := uint64(base), uint64(1)<<w-1
	bit, step := uint(0), 4*w
	if w > 14 {
		for i := range dst {
			sum += binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
			dst[i] = uint32(sum)
			sum++
			bit += w
		}
		return sum
	}
	for len(dst) >= 4 { // as in unpack4
		v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
		a := v & mask
		b := a + v>>w&mask + 1
		c := b + v>>(2*w)&mask + 1
		d := c + v>>(3*w)&mask + 1
		dst[0], dst[1], dst[2], dst[3] = uint32(sum+a), uint32(sum+b), uint32(sum+c), uint32(sum+d)
		sum += d + 1
		dst = dst[4:]
		bit += step
	}
	for i := range dst {
		sum += binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
		dst[i] = uint32(sum)
		sum++
		bit += w
	}
	return sum
}

// width is the number of bits the largest of the numbers takes.
func width(vals []uint32) uint {
	var or uint32
	for _, v := range vals {
		or |= v
	}
	return uint(bits.Len32(or))
}
