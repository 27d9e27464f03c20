package segment

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"
)

// writer puts the parts of a segment in their order: all lengths, then terms
// with their postings, the forward index, texts, documents; then the columns.
type writer struct {
	o           *out
	lengths     []uint32 // of every passage
	dict        *dictWriter
	postings    uint64
	length      uint64
	forwardSize uint64
	text        textWriter
	docSize     uint64
	hashes      []byte
	roots       []byte
	scores      *Scores
	tables      func(sec int) error // writes hashes, roots and norms instead
	maxima      *maximaWriter       // nil: none
	ids, docs   columnWriter
	lens        columnWriter
	forwardOffs columnWriter
	docIDs      columnWriter
	docOffs     columnWriter
	paths       []pathEntry
	buf         []byte
}

type pathEntry struct {
	hash uint64
	ord  uint32
}

// term writes a term's postings; terms come in byte order. Hash is its XXH3.
func (w *writer) term(term []byte, hash uint64, gid uint32, docs, tfs []uint32) {
	off := w.o.n - w.o.table[secPostings][0]
	w.dict.add(term, hash, len(docs), gid, off)
	w.postings += uint64(len(docs))
	w.buf = append(w.buf[:0], w.maxima.term(docs, tfs)...)
	w.buf = appendPostings(w.buf, docs, tfs, w.lengths)
	w.o.write(w.buf)
}

// endSection closes a section whose bytes may be read beyond their end.
func (w *writer) endSection(sec int) {
	w.o.end(sec)
	w.o.write(make([]byte, overread))
}

func (w *writer) endTerms() {
	w.endSection(secPostings)
	w.o.section(secStrings, w.dict.strings)
	w.dict.strings = nil
	w.o.begin(secForward)
}

// passage writes a passage's forward index and columns.
func (w *writer) passage(id, doc, hash uint64, length uint32, terms []TermTF) {
	w.ids.add(id)
	w.docs.add(doc)
	w.lens.add(uint64(length))
	w.length += uint64(length)
	if w.tables == nil {
		w.hashes = binary.LittleEndian.AppendUint64(w.hashes, hash)
		w.roots = appendFloat(w.roots, root(terms))
	}
	w.forwardOffs.add(w.forwardSize)
	w.buf = appendForward(w.buf[:0], terms)
	w.forwardSize += uint64(len(w.buf))
	w.o.write(w.buf)
}

func (w *writer) endPassages() {
	w.o.end(secForward)
	w.o.begin(secText)
}

func (w *writer) endText() {
	w.text.flush(w.o)
	w.o.end(secText)
	w.o.begin(secDocs)
}

// document writes a document's record; ids ascend.
func (w *writer) document(id uint64, path string, data []byte) {
	w.paths = append(w.paths, pathEntry{xxh3.HashString(path), uint32(w.docIDs.n)})
	w.docIDs.add(id)
	w.docOffs.add(w.docSize)
	w.buf = binary.AppendUvarint(w.buf[:0], uint64(len(path)))
	w.buf = append(append(w.buf, path...), data...)
	w.docSize += uint64(len(w.buf))
	w.o.write(w.buf)
}

func (w *writer) finish() error {
	w.o.end(secDocs)
	if err := w.table(secHashes, w.hashes); err != nil {
		return err
	}
	for _, c := range []struct {
		sec int
		col *columnWriter
	}{
		{secPassageIDs, &w.ids}, {secPassageDocs, &w.docs}, {secLengths, &w.lens},
		{secForwardOffs, &w.forwardOffs}, {secTextStarts, &w.text.starts},
		{secTextBegins, &w.text.begins}, {secTextOffs, &w.text.offs},
		{secDictBlocks, &w.dict.blocks}, {secPostingOffs, &w.dict.offs},
		{secDFs, &w.dict.dfs}, {secGIDs, &w.dict.gids},
		{secDocIDs, &w.docIDs}, {secDocOffs, &w.docOffs},
	} {
		w.o.section(c.sec, c.col.parts()...)
	}
	w.o.section(secBloom, w.dict.bloom)
	w.o.section(secPaths, w.pathTable())
	if err := cmp.Or(w.table(secRoots, w.roots), w.table(secNorms, nil)); err != nil {
		return err
	}
	w.references()
	w.o.section(secPrefixes, w.dict.prefixes)
	shape := maximaShape{}
	if w.maxima != nil {
		shape = w.maxima.maximaShape
	}
	w.o.section(secLeast, shape.leastLengths(w.lengths))
	return w.o.finish([counts]uint64{
		cntPassages: uint64(w.ids.n), cntDocuments: uint64(w.docIDs.n), cntTerms: uint64(w.dict.n),
		cntPostings: w.postings, cntLength: w.length,
		cntTextBlocks: uint64(w.text.begins.n), cntTextSize: w.text.raw,
		cntMaximaDF: uint64(shape.df), cntMaximaSuper: uint64(shape.super),
	})
}

// table writes a table by passage: what was gathered, or what tables writes.
func (w *writer) table(sec int, gathered []byte) error {
	w.o.begin(sec)
	defer w.o.end(sec)
	if w.tables != nil {
		return w.tables(sec)
	}
	w.o.write(gathered)
	return nil
}

// references writes those of the terms, if there are scores.
func (w *writer) references() {
	w.o.begin(secReferences)
	if w.scores != nil {
		w.dict.gids.each(func(gid uint64) {
			w.buf = appendFloat(w.buf[:0], w.scores.Reference(uint32(gid)))
			w.o.write(w.buf)
		})
	}
	w.o.end(secReferences)
}

// pathTable is 12 bytes a document, by hash: u64 hash of the path, u32 number.
func (w *writer) pathTable() []byte {
	slices.SortFunc(w.paths, func(a, b pathEntry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.ord, b.ord))
	})
	b := make([]byte, 0, len(w.paths)*pathSize)
	for _, p := range w.paths {
		b = binary.LittleEndian.AppendUint64(b, p.hash)
		b = binary.LittleEndian.AppendUint32(b, p.ord)
	}
	return b
}

// ascending reports what is wrong with ids that must grow.
func ascending(what string, last *uint64, id uint64, first bool) error {
	if !first && id <= *last {
		return fmt.Errorf("%s %d after %d: ids must ascend", what, id, *last)
	}
	*last = id
	return nil
}
