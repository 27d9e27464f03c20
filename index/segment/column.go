package segment

import (
	"encoding/binary"
	"math/bits"
)

// A column is an array of numbers packed in blocks of 128 as their distance
// from the block's smallest, so that one is found without reading the others:
//
//	u64 count · headers (16 bytes a block) · bits · 8 bytes of zeros
//	header: u64 smallest · u32 offset of the block's bits · u8 width · 3 zeros
const (
	columnBlock  = 128
	columnHeader = 16
	// columnMaxWidth keeps a number and the bits before it in one load.
	columnMaxWidth = 56
)

type columnWriter struct {
	n       int
	block   []uint64
	headers []byte
	bits    []byte
}

// add appends a number. Numbers of one block must lie within 2^56 of each
// other, as counts, offsets and ids do.
func (c *columnWriter) add(v uint64) {
	c.block = append(c.block, v)
	c.n++
	if len(c.block) == columnBlock {
		c.flush()
	}
}

func (c *columnWriter) flush() {
	lo, hi := c.block[0], c.block[0]
	for _, v := range c.block {
		lo, hi = min(lo, v), max(hi, v)
	}
	w := uint(bits.Len64(hi - lo))
	var h [columnHeader]byte
	binary.LittleEndian.PutUint64(h[:], lo)
	binary.LittleEndian.PutUint32(h[8:], uint32(len(c.bits)))
	h[12] = byte(w)
	c.headers = append(c.headers, h[:]...)
	c.pack(lo, w)
	c.block = c.block[:0]
}

func (c *columnWriter) pack(lo uint64, w uint) {
	start := len(c.bits)
	c.bits = append(c.bits, make([]byte, packedLen(len(c.block), w)+overread)...)
	bit := uint(0)
	for _, v := range c.block {
		at := c.bits[start+int(bit>>3):]
		word := binary.LittleEndian.Uint64(at) | (v-lo)<<(bit&7)
		binary.LittleEndian.PutUint64(at, word)
		bit += w
	}
	c.bits = c.bits[:len(c.bits)-overread]
}

// parts gives the bytes of the column, in pieces to be written one after the
// other.
func (c *columnWriter) parts() [][]byte {
	if len(c.block) > 0 {
		c.flush()
	}
	count := binary.LittleEndian.AppendUint64(nil, uint64(c.n))
	return [][]byte{count, c.headers, c.bits, make([]byte, overread)}
}

// each calls f with the numbers, in order; no more may be added.
func (c *columnWriter) each(f func(v uint64)) {
	p := c.parts()
	r := column{n: c.n, headers: p[1], bits: append(p[2], p[3]...)}
	var block [columnBlock]uint64
	for at := 0; at < c.n; at += columnBlock {
		for _, v := range block[:r.block(at/columnBlock, &block)] {
			f(v)
		}
	}
}

// column reads what a columnWriter wrote.
type column struct {
	n       int
	headers []byte
	bits    []byte
}

// openColumn proves that every number of the column lies within it.
func openColumn(b []byte, want int) (column, error) {
	if len(b) < 8 {
		return column{}, corrupt("column of %d bytes", len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	if n != uint64(want) {
		return column{}, corrupt("column of %d entries, not %d", n, want)
	}
	blocks := (want + columnBlock - 1) / columnBlock
	if len(b)-8-overread < blocks*columnHeader {
		return column{}, corrupt("column of %d entries in %d bytes", n, len(b))
	}
	c := column{n: want, headers: b[8 : 8+blocks*columnHeader], bits: b[8+blocks*columnHeader:]}
	for i := range blocks {
		h := c.headers[i*columnHeader:]
		off, w := int(binary.LittleEndian.Uint32(h[8:])), uint(h[12])
		in := min(columnBlock, want-i*columnBlock)
		if w > columnMaxWidth || off+packedLen(in, w)+overread > len(c.bits) {
			return column{}, corrupt("column block %d of width %d at %d", i, w, off)
		}
	}
	return c, nil
}

// get gives entry i < n.
func (c *column) get(i int) uint64 {
	h := c.headers[i/columnBlock*columnHeader:]
	h = h[:columnHeader]
	w := uint(h[12])
	bit := uint(i%columnBlock) * w
	at := uint(binary.LittleEndian.Uint32(h[8:])) + bit>>3
	v := binary.LittleEndian.Uint64(c.bits[at:]) >> (bit & 7)
	return binary.LittleEndian.Uint64(h) + v&(1<<w-1)
}

// block reads the numbers of a block at once and gives how many there are.
func (c *column) block(b int, dst *[columnBlock]uint64) int {
	n := min(columnBlock, c.n-b*columnBlock)
	h := c.headers[b*columnHeader:][:columnHeader]
	least, w := binary.LittleEndian.Uint64(h), uint(h[12])
	bits := c.bits[binary.LittleEndian.Uint32(h[8:]):]
	mask := uint64(1)<<w - 1
	for i, bit := 0, uint(0); i < n; i, bit = i+1, bit+w {
		dst[i] = least + binary.LittleEndian.Uint64(bits[bit>>3:])>>(bit&7)&mask
	}
	return n
}

// search gives the first entry ≥ v of an ascending column, or n.
func (c *column) search(v uint64) int {
	lo, hi := 0, c.n
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if c.get(m) < v {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
