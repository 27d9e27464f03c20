package segment

import (
	"io"
	"slices"
)

// Passage is what a Builder takes.
type Passage struct {
	ID   uint64 // ascending in a segment, never used again
	Doc  uint64 // id of its document
	Hash uint64 // of what its terms depend on
	Text []byte
}

// Builder gathers passages and documents and writes them as a segment. The
// zero value is not ready, see NewBuilder. It serves one goroutine.
type Builder struct {
	temp     map[string]uint32 // term → provisional number
	terms    []string
	df       []uint32
	last     []uint32 // by provisional number: 1 + the last passage that has it
	at       []uint32 // by provisional number: where, in fwd, that passage's entry is
	fwd      []TermTF // by passage, provisional numbers
	ends     []int    // of each passage in fwd
	passages []Passage
	lengths  []uint32 // of the passages, in terms
	text     []byte
	textEnds []int
	docs     []record
	size     int
}

type record struct {
	id   uint64
	path string
	data []byte
}

// NewBuilder gives an empty builder.
func NewBuilder() *Builder { return &Builder{temp: map[string]uint32{}} }

// AddDocument takes a document's record; data is opaque to this package.
func (b *Builder) AddDocument(id uint64, path string, data []byte) {
	b.docs = append(b.docs, record{id, path, data})
	b.size += len(path) + len(data) + 64
}

// AddPassage takes a passage with every occurrence of its terms, in any order;
// their number is its length. The text is copied.
func (b *Builder) AddPassage(p Passage, terms func(yield func(string) bool)) {
	n, length := uint32(len(b.passages)+1), uint32(0)
	terms(func(t string) bool {
		b.addTerm(t, n)
		length++
		return true
	})
	b.lengths = append(b.lengths, length)
	b.ends = append(b.ends, len(b.fwd))
	b.text = append(b.text, p.Text...)
	b.textEnds = append(b.textEnds, len(b.text))
	p.Text = nil
	b.passages = append(b.passages, p)
	b.size += 64
}

func (b *Builder) addTerm(t string, passage uint32) {
	id, ok := b.temp[t]
	if !ok {
		id = uint32(len(b.terms))
		t = string(append([]byte(nil), t...)) // t may hold on to a whole text
		b.temp[t] = id
		b.terms = append(b.terms, t)
		b.df, b.last, b.at = append(b.df, 0), append(b.last, 0), append(b.at, 0)
		b.size += len(t) + 80
	}
	if b.last[id] == passage {
		b.fwd[b.at[id]].TF++
		return
	}
	b.last[id], b.at[id] = passage, uint32(len(b.fwd))
	b.df[id]++
	b.fwd = append(b.fwd, TermTF{id, 1})
	b.size += 24 // here, and once more when the postings are made
}

// Size estimates the memory held, and needed to write the segment, in bytes.
func (b *Builder) Size() int { return b.size + len(b.text)*2 }

// Passages is the number of passages taken.
func (b *Builder) Passages() int { return len(b.passages) }

// WriteOptions say how a segment is written.
type WriteOptions struct {
	// Compress packs the text; without it writing is quicker, for a segment
	// that stays in memory a short while.
	Compress bool
	// GID gives the global number of a term. It is called once for each
	// term, in byte order. Nil gives every term the number 0.
	GID func(term []byte) uint32
}

// Write writes the segment. The builder is spent.
func (b *Builder) Write(w io.Writer, opt WriteOptions) error {
	sw := &writer{o: newOut(w), dict: newDictWriter(len(b.terms)), text: textWriter{compress: opt.Compress}}
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
	order := make([]uint32, len(b.terms))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if b.terms[x] < b.terms[y] {
			return -1
		}
		return 1
	})
	return order
}

// invert makes the postings of every term, in the order of the terms: those of
// the i-th are at offs[i]:offs[i+1].
func (b *Builder) invert(order []uint32) (offs []int, docs, tfs []uint32) {
	offs = make([]int, len(order)+1)
	next := make([]int, len(order)) // by provisional number
	for i, id := range order {
		next[id] = offs[i]
		offs[i+1] = offs[i] + int(b.df[id])
	}
	docs, tfs = make([]uint32, len(b.fwd)), make([]uint32, len(b.fwd))
	i := 0
	for p, end := range b.ends {
		for ; i < end; i++ {
			at := next[b.fwd[i].Term]
			docs[at], tfs[at] = uint32(p), b.fwd[i].TF
			next[b.fwd[i].Term]++
		}
	}
	return offs, docs, tfs
}

func (b *Builder) writeTerms(w *writer, opt WriteOptions, order []uint32, offs []int, docs, tfs []uint32) {
	w.lengths = b.lengths
	w.o.begin(secPostings)
	var term []byte
	for i, id := range order {
		term = append(term[:0], b.terms[id]...)
		gid := uint32(0)
		if opt.GID != nil {
			gid = opt.GID(term)
		}
		w.term(term, gid, docs[offs[i]:offs[i+1]], tfs[offs[i]:offs[i+1]])
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
	start = 0
	for _, end := range b.textEnds {
		w.text.add(w.o, b.text[start:end])
		start = end
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
