package segment

import (
	"cmp"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// Passage is what a Builder takes.
type Passage struct {
	ID   uint64 // ascending in a segment, never used again
	Doc  uint64 // id of its document
	Hash uint64 // of what its terms depend on
	Text []byte
}

// Builder gathers passages and documents and writes them as a segment. The
// zero value is empty. It serves one goroutine, and after Reset or Next again.
type Builder struct {
	terms    []builderTerm // by provisional number
	uses     []termUse     // likewise, of this segment
	used     []uint32      // the provisional numbers that occur in it
	table    []uint32      // of terms by hash: 1 + provisional number, or 0
	fwd      []TermTF      // by passage, provisional numbers
	ends     []int         // of each passage in fwd
	passages []Passage
	lengths  []uint32 // of the passages, in terms
	length   uint32   // of the one begun
	docs     []record
	docIDs   []uint32 // postings …
	tfs      []uint32 // … of all terms, when they are written
	size     int
}

type builderTerm struct {
	term string
	hash uint64
}

type termUse struct {
	df   uint32
	last uint32 // 1 + the last passage that has the term
	at   uint32 // where, in fwd, that passage's entry is
}

type record struct {
	id   uint64
	path string
	data []byte
}

// NewBuilder gives an empty builder.
func NewBuilder() *Builder { return &Builder{} }

// Reset empties the builder and keeps its memory for the next segment, but
// nothing that it was given.
func (b *Builder) Reset() {
	b.Next()
	clear(b.terms)
	b.terms, b.uses, b.table = b.terms[:0], b.uses[:0], b.table[:0]
}

// Next empties the builder but for the terms and their provisional numbers: the
// next segment is likely to have most of them.
func (b *Builder) Next() {
	clear(b.passages)
	clear(b.docs)
	for _, id := range b.used {
		b.uses[id] = termUse{}
	}
	b.used, b.fwd = b.used[:0], b.fwd[:0]
	b.ends, b.passages, b.lengths, b.docs = b.ends[:0], b.passages[:0], b.lengths[:0], b.docs[:0]
	b.size, b.length = 0, 0
}

// AddDocument takes a document's record; data is opaque to this package.
func (b *Builder) AddDocument(id uint64, path string, data []byte) {
	b.docs = append(b.docs, record{id, path, data})
	b.size += len(path) + len(data) + 64
}

// AddPassage takes a passage with every occurrence of its terms, in any order;
// their number is its length. The builder holds on to the terms and the text,
// which must not change before it has written them.
func (b *Builder) AddPassage(p Passage, terms func(yield func(string) bool)) {
	terms(func(t string) bool {
		b.Add(b.Number(t))
		return true
	})
	b.EndPassage(p)
}

// Add takes an occurrence of a term, by its provisional number (see Number), in
// the passage that EndPassage will add.
func (b *Builder) Add(number uint32) {
	u, passage := &b.uses[number], uint32(len(b.passages)+1)
	b.length++
	if u.last == passage {
		b.fwd[u.at].TF++
		return
	}
	if u.df == 0 {
		b.used = append(b.used, number)
		b.size += len(b.terms[number].term) + 80
	}
	u.last, u.at = passage, uint32(len(b.fwd))
	u.df++
	b.fwd = append(b.fwd, TermTF{number, 1})
}

// EndPassage takes the passage whose terms Add was given.
func (b *Builder) EndPassage(p Passage) {
	b.lengths = append(b.lengths, b.length)
	b.length = 0
	b.ends = append(b.ends, len(b.fwd))
	b.passages = append(b.passages, p)
	b.size += 64 + 2*len(p.Text)
}

// minTable is the least size of the table of terms, a power of two.
const minTable = 256

// Number gives the provisional number of a term, until the next Reset.
func (b *Builder) Number(term string) uint32 {
	if 2*len(b.terms) >= len(b.table) {
		b.grow()
	}
	h := xxh3.HashString(term)
	mask := uint64(len(b.table) - 1)
	i := h & mask
	for ; b.table[i] != 0; i = (i + 1) & mask {
		if e := &b.terms[b.table[i]-1]; e.hash == h && e.term == term {
			return b.table[i] - 1
		}
	}
	b.terms, b.uses = append(b.terms, builderTerm{term, h}), append(b.uses, termUse{})
	b.table[i] = uint32(len(b.terms))
	return uint32(len(b.terms) - 1)
}

// grow doubles the table.
func (b *Builder) grow() {
	n := max(minTable, 2*len(b.table))
	b.table = slices.Grow(b.table[:0], n)[:n]
	clear(b.table)
	for id := range b.terms {
		i := b.terms[id].hash & uint64(n-1)
		for b.table[i] != 0 {
			i = (i + 1) & uint64(n-1)
		}
		b.table[i] = uint32(id + 1)
	}
}

// Size estimates the memory held, and needed to write the segment, in bytes: of
// an entry of fwd, once more for its posting.
func (b *Builder) Size() int { return b.size + 24*len(b.fwd) }

// Terms is how many terms have a provisional number: they are below it.
func (b *Builder) Terms() int { return len(b.terms) }

// Passages is the number of passages taken.
func (b *Builder) Passages() int { return len(b.passages) }

// WriteOptions say how a segment is written.
type WriteOptions struct {
	// Compress packs the text; without it writing is quicker, for a segment
	// that stays in memory a short while.
	Compress bool
	// GID gives the global number of a term, of which it is told the
	// provisional number and the XXH3, too. It is called once for each term,
	// in byte order. Nil gives every term the number 0.
	GID func(number uint32, term string, hash uint64) uint32
}

// Write writes the segment. The builder is spent.
func (b *Builder) Write(w io.Writer, opt WriteOptions) error {
	sw := &writer{o: newOut(w), dict: newDictWriter(len(b.used)), text: textWriter{compress: opt.Compress}}
	order := b.order()
	offs, docs, tfs := b.invert(order)
	b.writeTerms(sw, opt, order, offs, docs, tfs)
	if err := b.writePassages(sw, order, offs, docs, tfs); err != nil {
		return err
	}
	if err := b.writeDocuments(sw); err != nil {
		return err
	}
	return sw.finish()
}

// order gives the provisional numbers in the byte order of their terms.
func (b *Builder) order() []uint32 {
	type start struct {
		prefix uint64
		id     uint32
	}
	by := make([]start, len(b.used))
	for i, id := range b.used {
		by[i] = start{prefix(b.terms[id].term), id}
	}
	slices.SortFunc(by, func(x, y start) int {
		switch {
		case x.prefix < y.prefix:
			return -1
		case x.prefix > y.prefix:
			return 1
		}
		return cmp.Compare(b.terms[x.id].term, b.terms[y.id].term)
	})
	for i, s := range by {
		b.used[i] = s.id
	}
	return b.used
}

// invert makes the postings of every term, in the order of the terms: those of
// the i-th are at offs[i]:offs[i+1].
func (b *Builder) invert(order []uint32) (offs []int, docs, tfs []uint32) {
	offs = make([]int, len(order)+1)
	for i, id := range order {
		b.uses[id].at = uint32(offs[i]) // from now on where its next posting goes
		offs[i+1] = offs[i] + int(b.uses[id].df)
	}
	n := len(b.fwd)
	b.docIDs, b.tfs = slices.Grow(b.docIDs[:0], n), slices.Grow(b.tfs[:0], n)
	docs, tfs = b.docIDs[:n], b.tfs[:n]
	i := 0
	for p, end := range b.ends {
		for _, t := range b.fwd[i:end] {
			at := &b.uses[t.Term].at
			docs[*at], tfs[*at] = uint32(p), t.TF
			*at++
		}
		i = end
	}
	return offs, docs, tfs
}

func (b *Builder) writeTerms(w *writer, opt WriteOptions, order []uint32, offs []int, docs, tfs []uint32) {
	w.lengths = b.lengths
	w.o.begin(secPostings)
	var term []byte
	for i, id := range order {
		t := &b.terms[id]
		term = append(term[:0], t.term...)
		gid := uint32(0)
		if opt.GID != nil {
			gid = opt.GID(id, t.term, t.hash)
		}
		w.term(term, t.hash, gid, docs[offs[i]:offs[i+1]], tfs[offs[i]:offs[i+1]])
	}
	w.endTerms()
}

// writePassages puts the postings back into passages: taken in the order of the
// terms they fill each passage's part of fwd in that order.
func (b *Builder) writePassages(w *writer, order []uint32, offs []int, docs, tfs []uint32) error {
	next := make([]int, len(b.passages))
	for p := range next[min(1, len(next)):] {
		next[p+1] = b.ends[p]
	}
	for i := range order {
		for j := offs[i]; j < offs[i+1]; j++ {
			p := docs[j]
			b.fwd[next[p]] = TermTF{uint32(i), tfs[j]}
			next[p]++
		}
	}
	start, last := 0, uint64(0)
	for i, p := range b.passages {
		if err := ascending("passage", &last, p.ID, i == 0); err != nil {
			return err
		}
		w.passage(p.ID, p.Doc, p.Hash, b.lengths[i], b.fwd[start:b.ends[i]])
		start = b.ends[i]
	}
	w.endPassages()
	for _, p := range b.passages {
		w.text.add(w.o, p.Text)
	}
	w.endText()
	return nil
}

func (b *Builder) writeDocuments(w *writer) error {
	slices.SortFunc(b.docs, func(x, y record) int {
		if x.id < y.id {
			return -1
		}
		return 1
	})
	last := uint64(0)
	for i, d := range b.docs {
		if err := ascending("document", &last, d.id, i == 0); err != nil {
			return err
		}
		w.document(d.id, d.path, d.data)
	}
	return nil
}
