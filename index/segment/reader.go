package segment

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/zeebo/xxh3"
)

const pathSize = 12

// Reader reads a segment. It holds on to the bytes it was given and is safe for
// concurrent use; the buffers its methods take are not.
type Reader struct {
	f                         *file
	passages, docs, terms     int
	postingCount, length      uint64
	textSize                  uint64
	postings, strings         section
	forward, text, records    section
	hashes                    section
	ids, passageDocs, lengths column
	forwardOffs, textStarts   column
	textBegins, textOffs      column
	dictBlocks, postingOffs   column
	dfs, gids                 column
	docIDs, docOffs           column
	bloom                     bloom
	paths, prefixes           []byte
	roots, norms, references  []byte
	scored                    bool
	maxima                    maximaShape
	least                     []byte
}

// Open reads a segment from its bytes, which must not change. trusted says that
// they were just written by this process and need no proof by checksum.
func Open(b []byte, trusted bool) (*Reader, error) {
	f, err := openFile(b, trusted)
	if err != nil {
		return nil, err
	}
	if err := f.check(0, headerSize); err != nil {
		return nil, err
	}
	for sec := secPassageIDs; sec < sections; sec++ {
		if err := f.check(int(f.table[sec][0]), int(f.table[sec][1])); err != nil {
			return nil, err
		}
	}
	r := &Reader{f: f}
	if err := r.readCounts(); err != nil {
		return nil, err
	}
	return r, r.openSections()
}

func (r *Reader) readCounts() error {
	c := &r.f.cnt
	for _, i := range []int{cntPassages, cntDocuments, cntTerms, cntTextBlocks} {
		if c[i] > math.MaxInt32 {
			return corrupt("count %d is %d", i, c[i])
		}
	}
	r.passages, r.docs, r.terms = int(c[cntPassages]), int(c[cntDocuments]), int(c[cntTerms])
	r.postingCount, r.length, r.textSize = c[cntPostings], c[cntLength], c[cntTextSize]
	return nil
}

func (r *Reader) openSections() error {
	blocks := (r.terms + dictBlock - 1) / dictBlock
	textBlocks := int(r.f.cnt[cntTextBlocks])
	for _, c := range []struct {
		sec int
		col *column
		n   int
	}{
		{secPassageIDs, &r.ids, r.passages}, {secPassageDocs, &r.passageDocs, r.passages},
		{secLengths, &r.lengths, r.passages}, {secForwardOffs, &r.forwardOffs, r.passages},
		{secTextStarts, &r.textStarts, r.passages}, {secTextBegins, &r.textBegins, textBlocks},
		{secTextOffs, &r.textOffs, textBlocks}, {secDictBlocks, &r.dictBlocks, blocks},
		{secPostingOffs, &r.postingOffs, r.terms}, {secDFs, &r.dfs, r.terms},
		{secGIDs, &r.gids, r.terms}, {secDocIDs, &r.docIDs, r.docs}, {secDocOffs, &r.docOffs, r.docs},
	} {
		s := r.f.section(c.sec)
		var err error
		if *c.col, err = openColumn(s.b, c.n); err != nil {
			return err
		}
	}
	r.postings, r.strings = r.f.section(secPostings), r.f.section(secStrings)
	r.forward, r.text = r.f.section(secForward), r.f.section(secText)
	r.records, r.hashes = r.f.section(secDocs), r.f.section(secHashes)
	bl, paths, prefixes := r.f.section(secBloom), r.f.section(secPaths), r.f.section(secPrefixes)
	r.bloom, r.paths, r.prefixes = bloom(bl.b), paths.b, prefixes.b
	if len(r.bloom) == 0 || len(r.bloom)%bloomLine != 0 || len(r.paths) != r.docs*pathSize ||
		len(r.hashes.b) != r.passages*8 || len(r.prefixes) != blocks*8 {
		return corrupt("tables of %d, %d and %d bytes", len(r.bloom), len(r.paths), len(r.hashes.b))
	}
	if err := r.openScores(); err != nil {
		return err
	}
	if err := r.openMaxima(); err != nil {
		return err
	}
	if r.postings.off+len(r.postings.b)+overread > len(r.f.data) {
		return corrupt("postings reach the end of the file")
	}
	return nil
}

func (r *Reader) openScores() error {
	roots, norms, refs := r.f.section(secRoots), r.f.section(secNorms), r.f.section(secReferences)
	r.roots, r.norms, r.references = roots.b, norms.b, refs.b
	r.scored = len(r.norms) == r.passages*4 && len(r.references) == r.terms*4
	if len(r.roots) != r.passages*4 || !r.scored && len(r.norms)+len(r.references) > 0 {
		return corrupt("scores of %d, %d and %d bytes", len(r.roots), len(r.norms), len(r.references))
	}
	return nil
}

// Passages is the number of passages, dead ones included.
func (r *Reader) Passages() int { return r.passages }

// Documents is the number of document records.
func (r *Reader) Documents() int { return r.docs }

// Terms is the number of terms.
func (r *Reader) Terms() int { return r.terms }

// PostingCount is the number of postings of all terms.
func (r *Reader) PostingCount() int { return int(r.postingCount) }

// Length is the sum of the passages' lengths in terms.
func (r *Reader) Length() int64 { return int64(r.length) }

// TextSize is the number of bytes of all passages' texts, unpacked.
func (r *Reader) TextSize() int64 { return int64(r.textSize) }

// Size is the number of bytes of the segment.
func (r *Reader) Size() int64 {
	return int64(len(r.f.data) + len(r.f.sums) + counts*8 + sections*16 + trailer)
}

// PassageID is the global id of passage i.
func (r *Reader) PassageID(i int) uint64 { return r.ids.get(i) }

// PassageDoc is the id of passage i's document.
func (r *Reader) PassageDoc(i int) uint64 { return r.passageDocs.get(i) }

// PassageLength is the length of passage i in terms.
func (r *Reader) PassageLength(i int) uint32 { return uint32(r.lengths.get(i)) }

// PassageHash is the hash the passage was added with.
func (r *Reader) PassageHash(i int) (uint64, error) {
	if err := r.hashes.check(i*8, 8); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(r.hashes.b[i*8:]), nil
}

// FindPassage gives the number of the passage with a global id.
func (r *Reader) FindPassage(id uint64) (int, bool) {
	i := r.ids.search(id)
	return i, i < r.passages && r.ids.get(i) == id
}

// DF is the number of passages, dead ones included, that have term t.
func (r *Reader) DF(t int) int { return int(r.dfs.get(t)) }

// GID is the global number of term t.
func (r *Reader) GID(t int) uint32 { return uint32(r.gids.get(t)) }

// EachTerm calls f for each term in turn: quicker than GID and DF one by one.
func (r *Reader) EachTerm(f func(t int, gid uint32, df int)) {
	var gids, dfs [columnBlock]uint64
	for t := 0; t < r.terms; t += columnBlock {
		n := r.gids.block(t/columnBlock, &gids)
		r.dfs.block(t/columnBlock, &dfs)
		for i := range n {
			f(t+i, uint32(gids[i]), int(dfs[i]))
		}
	}
}

// Postings makes p walk the postings of term t from their start.
func (r *Reader) Postings(t int, p *Postings) error {
	p.r, p.df, p.block, p.pos, p.prev, p.err = r, r.DF(t), 0, 0, 0, nil
	p.Docs, p.TFs, p.packed, p.skips, p.maxima = nil, nil, nil, nil, nil
	p.Decoded = 0
	b, err := r.postings.slice(&r.postingOffs, t)
	if err != nil {
		return err
	}
	if p.df == 0 || p.df > r.passages {
		return corrupt("term %d has df %d of %d", t, p.df, r.passages)
	}
	from := int(r.postingOffs.get(t)) + r.postings.off
	if r.maxima.has(p.df) {
		n := r.maxima.size()
		if n > len(b) {
			return corrupt("maxima of term %d", t)
		}
		p.maxima, b = b[:n:n], b[n:]
		from += n
	}
	table := 0
	if hasSkips(p.df) {
		table = blocks(p.df) * skipEntry
		if table > len(b) {
			return corrupt("skip table of term %d", t)
		}
		p.skips = b[:table:table]
	}
	p.end = len(b) - table
	from += table
	p.data = r.f.data[from : from+p.end+overread]
	return nil
}

// FindDocument gives the number of the record of the document with an id.
func (r *Reader) FindDocument(id uint64) (int, bool) {
	i := r.docIDs.search(id)
	return i, i < r.docs && r.docIDs.get(i) == id
}

// DocumentID is the id of the document of record i.
func (r *Reader) DocumentID(i int) uint64 { return r.docIDs.get(i) }

// Document gives the path and the data of record i, in place.
func (r *Reader) Document(i int) (path, data []byte, err error) {
	b, err := r.records.slice(&r.docOffs, i)
	if err != nil {
		return nil, nil, err
	}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, corrupt("path of document record %d", i)
	}
	return b[k : k+int(n)], b[k+int(n):], nil
}

// FindPath calls yield for each record with the path, until it returns false.
// A segment may hold several, of which at most one is live.
func (r *Reader) FindPath(path string, yield func(i int) bool) error {
	hash := xxh3.HashString(path)
	lo, hi := 0, r.docs
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if binary.LittleEndian.Uint64(r.paths[m*pathSize:]) < hash {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for ; lo < r.docs && binary.LittleEndian.Uint64(r.paths[lo*pathSize:]) == hash; lo++ {
		i := int(binary.LittleEndian.Uint32(r.paths[lo*pathSize+8:]))
		if i >= r.docs {
			return corrupt("path table names record %d of %d", i, r.docs)
		}
		p, _, err := r.Document(i)
		if err != nil {
			return err
		}
		if bytes.Equal(p, []byte(path)) && !yield(i) {
			return nil
		}
	}
	return nil
}

// CheckAll proves every byte of the segment by its checksums, also what was
// proved before: a medium may have failed since.
func (r *Reader) CheckAll() error {
	for i := range r.f.good {
		r.f.good[i].Store(0)
	}
	return r.f.check(0, len(r.f.data))
}
