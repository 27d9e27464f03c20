package segment

import (
	"encoding/binary"
)

// BlockSize is the number of postings in a packed block.
const BlockSize = 128

// The postings of a term, of which the dictionary knows the number df:
//
//	skip table, if df > 128: 12 bytes for each block, the last one included:
//	    u32 last passage · u32 end of the block from the end of the table ·
//	    u16 greatest tf · u16 least passage length (both saturated)
//	df / 128 full blocks:
//	    u8 width of gaps · u8 width of tfs · gaps · tfs
//	df % 128 postings: uvarint gap<<1 | (tf > 1) · uvarint tf-2 if tf > 1
//
// A gap is the distance from the passage before, less one; the first counts
// from -1. A tf is written less one.
const skipEntry = 12

func blocks(df int) int { return (df + BlockSize - 1) / BlockSize }

func hasSkips(df int) bool { return df > BlockSize }

// appendPostings appends the postings of one term; passages ascend.
func appendPostings(dst []byte, docs, tfs []uint32, lengths []uint32) []byte {
	table := len(dst)
	if hasSkips(len(docs)) {
		dst = append(dst, make([]byte, blocks(len(docs))*skipEntry)...)
	}
	start, prev := len(dst), uint32(0) // prev is one beyond the last passage
	for b := 0; len(docs) > 0; b++ {
		n := min(BlockSize, len(docs))
		if n == BlockSize {
			dst = appendBlock(dst, docs[:n], tfs[:n], prev)
		} else {
			dst = appendTail(dst, docs, tfs, prev)
		}
		prev = docs[n-1] + 1
		if start > table {
			putSkip(dst[table+b*skipEntry:], docs[:n], tfs[:n], lengths, uint32(len(dst)-start))
		}
		docs, tfs = docs[n:], tfs[n:]
	}
	return dst
}

func putSkip(e []byte, docs, tfs, lengths []uint32, end uint32) {
	maxTF, minLen := uint32(0), uint32(0xffff)
	for i, d := range docs {
		maxTF, minLen = max(maxTF, tfs[i]), min(minLen, lengths[d])
	}
	binary.LittleEndian.PutUint32(e, docs[len(docs)-1])
	binary.LittleEndian.PutUint32(e[4:], end)
	binary.LittleEndian.PutUint16(e[8:], uint16(min(maxTF, 0xffff)))
	binary.LittleEndian.PutUint16(e[10:], uint16(minLen))
}

func appendBlock(dst []byte, docs, tfs []uint32, prev uint32) []byte {
	var gaps, less [BlockSize]uint32
	for i, d := range docs {
		gaps[i], less[i] = d-prev, tfs[i]-1
		prev = d + 1
	}
	wg, wt := width(gaps[:]), width(less[:])
	dst = append(dst, byte(wg), byte(wt))
	dst = appendPacked(dst, gaps[:], wg)
	return appendPacked(dst, less[:], wt)
}

func appendTail(dst []byte, docs, tfs []uint32, prev uint32) []byte {
	for i, d := range docs {
		gap := uint64(d-prev) << 1
		if tfs[i] == 1 {
			dst = binary.AppendUvarint(dst, gap)
		} else {
			dst = binary.AppendUvarint(dst, gap|1)
			dst = binary.AppendUvarint(dst, uint64(tfs[i]-2))
		}
		prev = d + 1
	}
	return dst
}

// Postings walks the postings of one term block by block. The zero value is
// empty; Reader.Postings sets it. It may be used again for another term.
type Postings struct {
	// Docs and TFs are the current block: local passage numbers, ascending,
	// and how often the term occurs in each. After Seek, TFs is nil: see TF.
	Docs, TFs []uint32
	// Decoded counts the postings decoded since Reader.Postings.
	Decoded int

	r      *Reader
	df     int
	skips  []byte // the skip table, or nil
	maxima []byte // or nil
	data   []byte // blocks and tail, and overread bytes beyond them
	end    int    // of the tail in data
	block  int    // the next block to decode
	pos    int    // where it begins in data, when there is no skip table
	prev   uint32 // one beyond the last passage of the block before
	err    error
	packed []byte // the current block's tfs, or nil: tfs has them
	width  uint   // of them
	docs   [BlockSize]uint32
	tfs    [BlockSize]uint32
}

// DF is the number of postings, those of dead passages included.
func (p *Postings) DF() int { return p.df }

// Blocks is the number of blocks.
func (p *Postings) Blocks() int { return blocks(p.df) }

// Err is what ended the walk early, if anything did.
func (p *Postings) Err() error { return p.err }

// Next decodes the next block; false means that there is none, or an error.
func (p *Postings) Next() bool {
	if !p.nextDocs() {
		return false
	}
	if p.packed != nil {
		p.unpackTFs()
	}
	p.TFs = p.tfs[:len(p.Docs)]
	return true
}

func (p *Postings) unpackTFs() {
	if p.width == 0 {
		for i := range p.tfs {
			p.tfs[i] = 1
		}
		return
	}
	unpack(p.tfs[:], p.packed, p.width)
	for i := range p.tfs {
		p.tfs[i]++
	}
}

// TF gives the tf of posting i of the current block.
func (p *Postings) TF(i int) uint32 {
	switch {
	case p.packed == nil:
		return p.tfs[i]
	case p.width == 0:
		return 1
	}
	return packedAt(p.packed, i, p.width) + 1
}

// nextDocs is Next without the tfs.
func (p *Postings) nextDocs() bool {
	p.Docs, p.TFs, p.packed = nil, nil, nil
	if p.err != nil || p.block >= p.Blocks() {
		return false
	}
	n := min(BlockSize, p.df-p.block*BlockSize)
	p.Docs = p.docs[:n]
	if n == BlockSize {
		p.decodeBlock()
	} else {
		p.decodeTail()
	}
	p.block++
	p.Decoded += n
	if p.err != nil {
		p.Docs = nil
		return false
	}
	return true
}

// Skip moves on, never back, to the block that holds the first passage ≥ doc,
// and decodes it. False means that no passage is left, or an error.
func (p *Postings) Skip(doc uint32) bool {
	if len(p.Docs) > 0 && p.Docs[len(p.Docs)-1] >= doc {
		return true
	}
	if p.skips != nil {
		lo, hi := p.block, p.Blocks()
		for lo < hi {
			m := int(uint(lo+hi) >> 1)
			if p.Last(m) < doc {
				lo = m + 1
			} else {
				hi = m
			}
		}
		p.seek(lo)
	}
	for p.Next() {
		if p.Docs[len(p.Docs)-1] >= doc {
			return true
		}
	}
	return false
}

// seek makes b the next block to decode; there must be a skip table.
func (p *Postings) seek(b int) {
	p.block = b
	if b == 0 {
		p.pos, p.prev = 0, 0
		return
	}
	e := p.skips[(b-1)*skipEntry:]
	p.prev = binary.LittleEndian.Uint32(e) + 1
	p.pos = int(binary.LittleEndian.Uint32(e[4:]))
}

// HasBounds says whether Last, MaxTF and MinLength may be asked: short lists
// keep no bounds.
func (p *Postings) HasBounds() bool { return p.skips != nil }

// Last is the last passage of block b.
func (p *Postings) Last(b int) uint32 { return binary.LittleEndian.Uint32(p.skips[b*skipEntry:]) }

// MaxTF is the greatest tf in block b; ok is false when it is beyond counting.
func (p *Postings) MaxTF(b int) (tf uint32, ok bool) {
	v := binary.LittleEndian.Uint16(p.skips[b*skipEntry+8:])
	return uint32(v), v < 0xffff
}

// MinLength is a lower bound of the lengths, in terms, of block b's passages.
func (p *Postings) MinLength(b int) uint32 {
	return uint32(binary.LittleEndian.Uint16(p.skips[b*skipEntry+10:]))
}

func (p *Postings) decodeBlock() {
	if p.pos < 0 || p.pos+2 > p.end {
		p.err = corrupt("postings block at %d of %d", p.pos, p.end)
		return
	}
	wg, wt := uint(p.data[p.pos]), uint(p.data[p.pos+1])
	at := p.pos + 2
	mid := at + packedLen(BlockSize, wg)
	end := mid + packedLen(BlockSize, wt)
	if wg > 32 || wt > 32 || end > p.end {
		p.err = corrupt("postings block of widths %d and %d", wg, wt)
		return
	}
	next := unpackSums(p.docs[:], p.data[at:], wg, p.prev)
	p.packed, p.width = p.data[mid:], wt
	p.bound(next)
	p.prev, p.pos = uint32(next), end
}

// bound checks that the block's passages are the segment's; next is one beyond
// the last of them.
func (p *Postings) bound(next uint64) {
	if next > uint64(p.r.passages) {
		p.err = corrupt("postings reach passage %d of %d", next, p.r.passages)
	} else if p.skips != nil && uint64(p.Last(p.block)) != next-1 {
		p.err = corrupt("postings block ends at %d, not %d", next-1, p.Last(p.block))
	}
}

func (p *Postings) decodeTail() {
	pos, prev := p.pos, p.prev
	for i := range p.Docs {
		v, n := binary.Uvarint(p.data[min(pos, p.end):p.end])
		pos += max(n, 0)
		tf := uint64(1)
		if n > 0 && v&1 != 0 {
			tf, n = binary.Uvarint(p.data[pos:p.end])
			pos += max(n, 0)
			tf += 2
		}
		gap := v >> 1
		if n <= 0 || gap >= uint64(p.r.passages) || tf > 1<<32-1 || tf == 0 {
			p.err = corrupt("postings tail at %d of %d", pos, p.end)
			return
		}
		prev += uint32(gap)
		if int(prev) >= p.r.passages {
			p.err = corrupt("postings reach passage %d of %d", prev, p.r.passages)
			return
		}
		p.docs[i], p.tfs[i] = prev, uint32(tf)
		prev++
	}
	p.bound(uint64(prev))
	p.prev, p.pos = prev, pos
}
