package segment

import (
	"bytes"
	"encoding/binary"
	"sort"

	"github.com/zeebo/xxh3"
)

// dictBlock is the number of terms front-coded together.
const dictBlock = 16

// Dictionary strings, in blocks of 16 terms:
//
//	the first:  uvarint length · bytes
//	the others: uvarint shared with the term before · uvarint length of the
//	            rest · the rest
//
// and columns by term (postings offset, df, global id) and by block (offset of
// its strings).
type dictWriter struct {
	n       int
	strings []byte
	last    []byte
	blocks  columnWriter // offset of each block in strings
	offs    columnWriter // offset of each term's postings
	dfs     columnWriter
	gids    columnWriter
	bloom   bloom
	// prefixes are, by block, the first eight bytes of its first term.
	prefixes []byte
}

// newDictWriter expects at most terms terms.
func newDictWriter(terms int) *dictWriter { return &dictWriter{bloom: newBloom(terms)} }

func (d *dictWriter) add(term []byte, hash uint64, df int, gid uint32, off uint64) {
	if d.n%dictBlock == 0 {
		d.blocks.add(uint64(len(d.strings)))
		d.prefixes = binary.LittleEndian.AppendUint64(d.prefixes, prefix(term))
		d.strings = binary.AppendUvarint(d.strings, uint64(len(term)))
		d.strings = append(d.strings, term...)
	} else {
		shared := commonPrefix(d.last, term)
		d.strings = binary.AppendUvarint(d.strings, uint64(shared))
		d.strings = binary.AppendUvarint(d.strings, uint64(len(term)-shared))
		d.strings = append(d.strings, term[shared:]...)
	}
	d.last = append(d.last[:0], term...)
	d.offs.add(off)
	d.dfs.add(uint64(df))
	d.gids.add(uint64(gid))
	d.bloom.add(hash)
	d.n++
}

// prefix is the first eight bytes of a term, so that numbers compare as terms
// do, but for equal ones.
func prefix[T []byte | string](term T) uint64 {
	if len(term) >= 8 {
		return uint64(term[7]) | uint64(term[6])<<8 | uint64(term[5])<<16 | uint64(term[4])<<24 |
			uint64(term[3])<<32 | uint64(term[2])<<40 | uint64(term[1])<<48 | uint64(term[0])<<56
	}
	var b [8]byte
	copy(b[:], term)
	return binary.BigEndian.Uint64(b[:])
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Lookup gives the number of a term, and false if the segment does not have it.
func (r *Reader) Lookup(term []byte) (t int, ok bool, err error) {
	if r.terms == 0 || !r.bloom.has(xxh3.Hash(term)) {
		return 0, false, nil
	}
	lo, err := r.beyond(term)
	if err != nil || lo == 0 {
		return 0, false, err
	}
	c := TermCursor{r: r}
	c.seekBlock(lo - 1)
	for c.Next() {
		switch cmp := bytes.Compare(c.term, term); {
		case cmp == 0:
			return c.t, true, nil
		case cmp > 0:
			return 0, false, nil
		}
	}
	return 0, false, c.err
}

// MayHave says of nearly all terms that are not there, by their XXH3, that they
// are not.
func (r *Reader) MayHave(hash uint64) bool { return r.terms > 0 && r.bloom.has(hash) }

// beyond gives the first block of the dictionary that begins beyond a term.
// Nearly always the prefixes alone tell.
func (r *Reader) beyond(term []byte) (int, error) {
	p := prefix(term)
	lo := sort.Search(r.dictBlocks.n, func(i int) bool { return r.prefix(i) >= p })
	hi := lo + sort.Search(r.dictBlocks.n-lo, func(i int) bool { return r.prefix(lo+i) > p })
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		first, _, err := r.firstTerm(m)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(first, term) <= 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, nil
}

func (r *Reader) prefix(block int) uint64 { return binary.LittleEndian.Uint64(r.prefixes[block*8:]) }

// firstTerm gives the first term of a dictionary block, in place, and where
// the second one begins.
func (r *Reader) firstTerm(block int) (term []byte, next int, err error) {
	at, end, err := r.dictRange(block)
	if err != nil {
		return nil, 0, err
	}
	s := r.strings.b
	n, k := binary.Uvarint(s[at:end])
	if k <= 0 || n > uint64(end-at-k) {
		return nil, 0, corrupt("dictionary block %d: length of the first term", block)
	}
	at += k
	return s[at : at+int(n)], at + int(n), nil
}

// dictRange gives the bytes of a block of the dictionary, proved.
func (r *Reader) dictRange(block int) (start, end int, err error) {
	at, to := r.dictBlocks.get(block), uint64(len(r.strings.b))
	if block+1 < r.dictBlocks.n {
		to = r.dictBlocks.get(block + 1)
	}
	if at > to || to > uint64(len(r.strings.b)) {
		return 0, 0, corrupt("dictionary block %d at %d–%d", block, at, to)
	}
	if err := r.strings.check(int(at), int(to-at)); err != nil {
		return 0, 0, err
	}
	return int(at), int(to), nil
}

// Term appends the bytes of term t to buf.
func (r *Reader) Term(t int, buf []byte) ([]byte, error) {
	c := TermCursor{r: r}
	c.seekBlock(t / dictBlock)
	for c.Next() {
		if c.t == t {
			return append(buf, c.term...), nil
		}
	}
	if c.err == nil {
		c.err = corrupt("no term %d", t)
	}
	return nil, c.err
}

// TermCursor walks terms in byte order.
type TermCursor struct {
	r     *Reader
	t     int // the current term; next is t+1
	begun bool
	term  []byte
	pos   int
	end   int // of the current block
	err   error
}

// Cursor gives a cursor before the first term.
func (r *Reader) Cursor() *TermCursor { return &TermCursor{r: r} }

// CursorAt gives a cursor whose Next is the first term ≥ from.
func (r *Reader) CursorAt(from []byte) (*TermCursor, error) {
	lo, err := r.beyond(from)
	if err != nil {
		return nil, err
	}
	c := &TermCursor{r: r}
	c.seekBlock(max(lo-1, 0))
	for {
		before := *c
		before.term = append([]byte(nil), c.term...)
		if !c.Next() {
			return c, c.err
		}
		if bytes.Compare(c.term, from) >= 0 {
			return &before, nil
		}
	}
}

// Term is the current term, valid until Next.
func (c *TermCursor) Term() []byte { return c.term }

// Number is the current term's number.
func (c *TermCursor) Number() int { return c.t }

// Err is what ended the walk early, if anything did.
func (c *TermCursor) Err() error { return c.err }

func (c *TermCursor) seekBlock(block int) {
	c.t = block*dictBlock - 1
	c.begun = true
}

// Next goes on to the next term; false means that there is none, or an error.
func (c *TermCursor) Next() bool {
	if !c.begun {
		c.seekBlock(0)
	}
	if c.err != nil || c.t+1 >= c.r.terms {
		return false
	}
	c.t++
	if c.t%dictBlock == 0 || c.end == 0 {
		c.first()
	} else {
		c.follow()
	}
	return c.err == nil
}

func (c *TermCursor) first() {
	block := c.t / dictBlock
	var term []byte
	if term, c.pos, c.err = c.r.firstTerm(block); c.err != nil {
		return
	}
	_, c.end, c.err = c.r.dictRange(block)
	c.term = append(c.term[:0], term...)
}

func (c *TermCursor) follow() {
	s := c.r.strings.b[:c.end]
	shared, k1 := binary.Uvarint(s[min(c.pos, c.end):])
	if k1 <= 0 || shared > uint64(len(c.term)) {
		c.err = corrupt("dictionary: prefix of term %d", c.t)
		return
	}
	rest, k2 := binary.Uvarint(s[c.pos+k1:])
	if k2 <= 0 || rest > uint64(c.end-c.pos-k1-k2) {
		c.err = corrupt("dictionary: length of term %d", c.t)
		return
	}
	c.pos += k1 + k2
	c.term = append(c.term[:shared], s[c.pos:c.pos+int(rest)]...)
	c.pos += int(rest)
}

// bloom tells at once, nearly always, that a term is not there: one cache line
// of 512 bits a term, six bits of it set, about 12 bits a term in all.
type bloom []byte

const (
	bloomLine  = 64 // bytes
	bloomTerms = 42 // terms a line
	bloomBits  = 6
)

func newBloom(terms int) bloom {
	return make(bloom, (terms/bloomTerms+1)*bloomLine)
}

func (b bloom) line(h uint64) []byte {
	lines := uint64(len(b) / bloomLine)
	i := (h >> 32) * lines >> 32
	return b[i*bloomLine : (i+1)*bloomLine]
}

func (b bloom) add(h uint64) {
	line := b.line(h)
	for range bloomBits {
		h = h*0x9e3779b97f4a7c15 + 1
		bit := h >> 55
		line[bit>>3] |= 1 << (bit & 7)
	}
}

func (b bloom) has(h uint64) bool {
	line := b.line(h)
	for range bloomBits {
		h = h*0x9e3779b97f4a7c15 + 1
		bit := h >> 55
		if line[bit>>3]&(1<<(bit&7)) == 0 {
			return false
		}
	}
	return true
}
