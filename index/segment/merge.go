package segment

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// Gone marks, in a Remap, what the merged segment no longer has.
const Gone = ^uint32(0)

// Bits is a set of small numbers; those beyond its end are not in it.
type Bits []uint64

// Has says whether i is in the set.
func (b Bits) Has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

// Set puts i, which must be below 64 times the length, into the set.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// NewBits gives an empty set of numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Input is a segment to be merged and what of it is dead.
type Input struct {
	Reader   *Reader
	Dead     Bits // passages
	DeadDocs Bits // document records
}

// Remap says where the passages and document records of an input went: to the
// number given, or Gone.
type Remap struct{ Passages, Docs []uint32 }

// MergeOptions say how a merged segment is written.
type MergeOptions struct {
	Compress bool    // pack the text
	Scores   *Scores // to be kept with the segment; nil for none
	Maxima   Maxima  // to be kept beside scores
	// Dropped, if set, is told of each term that no live passage has.
	Dropped func(term []byte, gid uint32)
}

// Merge writes what is live in the inputs as one segment and gives, by input,
// where it went. The inputs' passage ids must ascend from each to the next.
// A term must have the same global number in all inputs. Memory in use is some
// 30 bytes a term and 8 a passage of the result.
func Merge(ctx context.Context, w io.Writer, in []Input, opt MergeOptions) ([]Remap, error) {
	m := &merger{ctx: ctx, in: in, opt: opt}
	terms := 0
	for _, x := range in {
		terms += x.Reader.terms
	}
	m.w = &writer{o: newOut(w), dict: newDictWriter(terms), text: textWriter{compress: opt.Compress}, scores: opt.Scores}
	m.w.tables = m.tables
	m.number()
	m.maxima()
	for _, step := range []func() error{m.terms, m.passages, m.texts, m.documents, m.w.finish} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("merge segments: %w", err)
		}
	}
	return m.remaps, nil
}

type merger struct {
	ctx     context.Context
	in      []Input
	opt     MergeOptions
	w       *writer
	remaps  []Remap
	termMap [][]uint32 // by input: old term number → new
	docs    []uint32   // postings of the term being merged
	tfs     []uint32
	list    Postings
	lastDoc uint64
}

// number gives the live passages their new numbers.
func (m *merger) number() {
	next := uint32(0)
	for _, x := range m.in {
		r := x.Reader
		re := Remap{make([]uint32, r.passages), make([]uint32, r.docs)}
		for i := range re.Passages {
			re.Passages[i] = Gone
			if !x.Dead.Has(i) {
				re.Passages[i] = next
				next++
				m.w.lengths = append(m.w.lengths, r.PassageLength(i))
			}
		}
		m.remaps = append(m.remaps, re)
		m.termMap = append(m.termMap, make([]uint32, r.terms))
	}
}

// maxima prepares the maxima of terms, which the norms have to be known for.
func (m *merger) maxima() {
	if m.opt.Scores == nil || m.opt.Maxima.shape(len(m.w.lengths)).df == 0 {
		return
	}
	norms2 := make([]float32, 0, len(m.w.lengths))
	for k := range m.in {
		for i, to := range m.remaps[k].Passages {
			if to != Gone {
				norms2 = append(norms2, m.opt.Scores.Norm2(k, i))
			}
		}
	}
	m.w.maxima = newMaximaWriter(m.opt.Maxima, norms2)
}

// mergeCursor is a place in one input's dictionary.
type mergeCursor struct {
	TermCursor
	input int
}

func (m *merger) terms() error {
	m.w.o.begin(secPostings)
	var heap cursorHeap
	for i, x := range m.in {
		c := &mergeCursor{TermCursor{r: x.Reader}, i}
		if c.Next() {
			heap = append(heap, c)
		}
		if c.err != nil {
			return c.err
		}
	}
	heap.init()
	var term []byte
	for n := 0; len(heap) > 0; n++ {
		if n%1024 == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		term = append(term[:0], heap[0].term...)
		if err := m.term(term, &heap); err != nil {
			return err
		}
	}
	m.w.endTerms()
	return nil
}

// term merges the postings of the heap's first term and moves on all cursors
// that stand at it.
func (m *merger) term(term []byte, heap *cursorHeap) error {
	m.docs, m.tfs = m.docs[:0], m.tfs[:0]
	number := uint32(m.w.dict.n)
	gid := (*heap)[0].r.GID((*heap)[0].t)
	for len(*heap) > 0 && bytes.Equal((*heap)[0].term, term) {
		c := (*heap)[0] // equal terms come in the order of the inputs
		if g := c.r.GID(c.t); g != gid {
			return fmt.Errorf("term %q has the global numbers %d and %d", term, gid, g)
		}
		m.termMap[c.input][c.t] = number
		if err := m.gather(c); err != nil {
			return err
		}
		if err := heap.next(); err != nil {
			return err
		}
	}
	if len(m.docs) > 0 {
		m.w.term(term, xxh3.Hash(term), gid, m.docs, m.tfs)
	} else if m.opt.Dropped != nil {
		m.opt.Dropped(term, gid)
	}
	return m.w.o.err
}

// gather appends the live postings of the cursor's term.
func (m *merger) gather(c *mergeCursor) error {
	if err := c.r.Postings(c.t, &m.list); err != nil {
		return err
	}
	re := m.remaps[c.input].Passages
	for m.list.Next() {
		tfs := m.list.TFs
		for i, d := range m.list.Docs {
			if to := re[d]; to != Gone {
				m.docs, m.tfs = append(m.docs, to), append(m.tfs, tfs[i])
			}
		}
	}
	return m.list.Err()
}

func (m *merger) passages() error {
	var terms []TermTF
	last, first := uint64(0), true
	for k, x := range m.in {
		for i, to := range m.remaps[k].Passages {
			if to == Gone {
				continue
			}
			id := x.Reader.PassageID(i)
			if err := ascending("passage", &last, id, first); err != nil {
				return err
			}
			first = false
			var err error
			if terms, err = m.passage(x.Reader, k, i, terms); err != nil {
				return err
			}
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
	}
	m.w.endPassages()
	return m.w.o.err
}

func (m *merger) passage(r *Reader, k, i int, buf []TermTF) ([]TermTF, error) {
	terms, err := r.Forward(i, buf)
	if err != nil {
		return buf, err
	}
	for j := range terms {
		terms[j].Term = m.termMap[k][terms[j].Term]
	}
	m.w.passage(r.PassageID(i), r.PassageDoc(i), 0, r.PassageLength(i), terms)
	return terms, nil
}

// tables writes the tables by passage, of which the inputs have the entries.
func (m *merger) tables(sec int) error {
	for k, x := range m.in {
		r := x.Reader
		switch sec {
		case secHashes:
			if err := r.hashes.check(0, len(r.hashes.b)); err != nil {
				return err
			}
			m.copyTable(k, r.hashes.b, 8)
		case secRoots:
			m.copyTable(k, r.roots, 4)
		case secNorms:
			m.norms(k)
		}
	}
	return nil
}

// copyTable writes the entries, of so many bytes each, of an input's live
// passages.
func (m *merger) copyTable(k int, table []byte, size int) {
	live := func(i int) bool { return m.remaps[k].Passages[i] != Gone }
	for i, n := 0, len(m.remaps[k].Passages); i < n; i++ {
		from := i
		for i < n && live(i) {
			i++
		}
		m.w.o.write(table[from*size : i*size])
	}
}

func (m *merger) norms(k int) {
	if m.opt.Scores == nil {
		return
	}
	for i, to := range m.remaps[k].Passages {
		if to != Gone {
			m.w.buf = appendFloat(m.w.buf[:0], m.opt.Scores.Norm2(k, i))
			m.w.o.write(m.w.buf)
		}
	}
}

// texts copies whole the compressed blocks of which nothing is dead, and packs
// the rest anew.
func (m *merger) texts() error {
	var buf TextBuffer
	for k, x := range m.in {
		for i := 0; i < x.Reader.passages; {
			n, err := m.copyText(x.Reader, k, i)
			if err != nil {
				return err
			}
			if n > 0 {
				i += n
				continue
			}
			if m.remaps[k].Passages[i] != Gone {
				text, err := x.Reader.Text(i, &buf)
				if err != nil {
					return err
				}
				m.w.text.add(m.w.o, text)
			}
			i++
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
	}
	m.w.endText()
	return m.w.o.err
}

// copyText copies the text block that begins with passage i, if one does and it
// may be copied; n is the number of its passages.
func (m *merger) copyText(r *Reader, k, i int) (n int, err error) {
	start := r.textStarts.get(i)
	block := r.textBegins.search(start)
	if !m.w.text.compress || block == r.textBegins.n || r.textBegins.get(block) != start {
		return 0, nil
	}
	size, err := r.textBlockSize(block)
	if err != nil || size < textBlock/2 {
		return 0, err
	}
	end := start + uint64(size)
	var lens []int
	for at := start; at < end; n++ {
		if i+n >= r.passages || m.remaps[k].Passages[i+n] == Gone {
			return 0, nil
		}
		next := r.textSize
		if i+n+1 < r.passages {
			next = r.textStarts.get(i + n + 1)
		}
		if next < at || next > end {
			return 0, corrupt("text of passage %d passes the end of its block", i+n)
		}
		lens = append(lens, int(next-at))
		at = next
	}
	b, err := r.text.slice(&r.textOffs, block)
	if err != nil || len(b) == 0 || b[0] != textZstd {
		return 0, err
	}
	m.w.text.copyBlock(m.w.o, b, lens)
	return n, nil
}

// documents merges the live records by id.
func (m *merger) documents() error {
	at := make([]int, len(m.in))
	for {
		best, id := -1, uint64(0)
		for k, x := range m.in {
			for at[k] < x.Reader.docs && x.DeadDocs.Has(at[k]) {
				m.remaps[k].Docs[at[k]] = Gone
				at[k]++
			}
			if at[k] < x.Reader.docs && (best < 0 || x.Reader.DocumentID(at[k]) < id) {
				best, id = k, x.Reader.DocumentID(at[k])
			}
		}
		if best < 0 {
			return m.w.o.err
		}
		path, data, err := m.in[best].Reader.Document(at[best])
		if err != nil {
			return err
		}
		if n := m.w.docIDs.n; n > 0 && m.lastDoc == id {
			return fmt.Errorf("document %d has two live records", id)
		}
		m.lastDoc = id
		m.remaps[best].Docs[at[best]] = uint32(m.w.docIDs.n)
		m.w.document(id, string(path), data)
		at[best]++
	}
}

// cursorHeap keeps the cursor with the smallest term first, and of equal ones
// that of the first input.
type cursorHeap []*mergeCursor

func (h cursorHeap) less(i, j int) bool {
	c := bytes.Compare(h[i].term, h[j].term)
	return c < 0 || c == 0 && h[i].input < h[j].input
}

func (h cursorHeap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h cursorHeap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h.less(c+1, c) {
			c++
		}
		if !h.less(c, i) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// next moves the first cursor on.
func (h *cursorHeap) next() error {
	c := (*h)[0]
	if !c.Next() {
		if c.err != nil {
			return c.err
		}
		n := len(*h) - 1
		(*h)[0] = (*h)[n]
		*h = (*h)[:n]
	}
	h.down(0)
	return nil
}
