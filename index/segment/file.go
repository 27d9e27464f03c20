package segment

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// Version of the format. A segment of another version is not read.
const Version = 2

const (
	headerSize = 16
	chunkSize  = 32 << 10
	trailer    = 32
	magic      = "QUERNSEG"
	endMagic   = "GESNREUQ"
)

// Sections, in the order of the section table.
const (
	secPostings = iota
	secStrings
	secForward
	secText
	secDocs
	secHashes
	// The sections from here on are proved when a segment is opened.
	secPassageIDs
	secPassageDocs
	secLengths
	secForwardOffs
	secTextStarts
	secTextBegins
	secTextOffs
	secDictBlocks
	secPostingOffs
	secDFs
	secGIDs
	secBloom
	secDocIDs
	secDocOffs
	secPaths
	secRoots
	secNorms
	secReferences
	secPrefixes
	secLeast
	sections
)

// Counts in the footer.
const (
	cntPassages = iota
	cntDocuments
	cntTerms
	cntPostings
	cntLength // sum of the passages' lengths
	cntTextBlocks
	cntTextSize
	cntMaximaDF
	cntMaximaSuper
	counts
)

// out writes a file and keeps the checksum of each chunk of it. Errors stick.
// What goes to a buffer is written there at once.
type out struct {
	w     io.Writer
	mem   *bytes.Buffer // w, if it is one and was empty
	chunk []byte
	sums  []uint64
	n     uint64 // bytes written
	err   error
	table [sections][2]uint64 // offset and length of each section
}

func newOut(w io.Writer) *out {
	o := &out{w: w}
	if mem, ok := w.(*bytes.Buffer); ok && mem.Len() == 0 {
		o.mem = mem
	} else {
		o.chunk = make([]byte, 0, chunkSize)
	}
	h := append(make([]byte, 0, headerSize), magic...)
	h = binary.LittleEndian.AppendUint32(h, Version)
	o.write(binary.LittleEndian.AppendUint32(h, 0))
	return o
}

func (o *out) write(b []byte) {
	o.n += uint64(len(b))
	if o.mem != nil {
		o.mem.Write(b)
		return
	}
	for len(b) > 0 {
		k := min(len(b), chunkSize-len(o.chunk))
		o.chunk = append(o.chunk, b[:k]...)
		b = b[k:]
		if len(o.chunk) == chunkSize {
			o.flush()
		}
	}
}

func (o *out) flush() {
	o.sums = append(o.sums, xxh3.Hash(o.chunk))
	o.raw(o.chunk)
	o.chunk = o.chunk[:0]
}

// endChunks completes the checksums.
func (o *out) endChunks() {
	if o.mem != nil {
		for chunk := range slices.Chunk(o.mem.Bytes(), chunkSize) {
			o.sums = append(o.sums, xxh3.Hash(chunk))
		}
	} else if len(o.chunk) > 0 {
		o.flush()
	}
}

func (o *out) raw(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

// begin starts a section at a multiple of 8.
func (o *out) begin(sec int) {
	o.write(make([]byte, -o.n&7))
	o.table[sec][0] = o.n
}

func (o *out) end(sec int) { o.table[sec][1] = o.n - o.table[sec][0] }

func (o *out) section(sec int, parts ...[]byte) {
	o.begin(sec)
	for _, p := range parts {
		o.write(p)
	}
	o.end(sec)
}

// finish writes the footer: checksums, counts, section table, trailer.
func (o *out) finish(cnt [counts]uint64) error {
	o.endChunks()
	f := make([]byte, 0, len(o.sums)*8+counts*8+sections*16+trailer)
	for _, s := range o.sums {
		f = binary.LittleEndian.AppendUint64(f, s)
	}
	for _, c := range cnt {
		f = binary.LittleEndian.AppendUint64(f, c)
	}
	for _, s := range o.table {
		f = binary.LittleEndian.AppendUint64(f, s[0])
		f = binary.LittleEndian.AppendUint64(f, s[1])
	}
	f = binary.LittleEndian.AppendUint64(f, o.n)
	f = binary.LittleEndian.AppendUint32(f, Version)
	f = binary.LittleEndian.AppendUint32(f, sections<<16|counts)
	f = binary.LittleEndian.AppendUint64(f, xxh3.Hash(f))
	f = append(f, endMagic...)
	o.raw(f)
	return o.err
}

// file is the bytes of a segment with their checksums.
type file struct {
	data  []byte // without the footer
	sums  []byte
	good  []atomic.Uint32 // a bit for each chunk proved
	cnt   [counts]uint64
	table [sections][2]uint64
}

// openFile proves the footer. trusted says that the bytes were just written
// in memory and need no proof.
func openFile(b []byte, trusted bool) (*file, error) {
	if len(b) < headerSize+trailer {
		return nil, corrupt("%d bytes are too few", len(b))
	}
	if string(b[:8]) != magic || string(b[len(b)-8:]) != endMagic {
		return nil, corrupt("it does not begin or end as a segment does")
	}
	t := b[len(b)-trailer:]
	size, version := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint32(t[8:])
	if size > uint64(len(b)-trailer) || size < headerSize {
		return nil, corrupt("data of %d bytes in a file of %d", size, len(b))
	}
	foot := b[size : len(b)-16]
	if xxh3.Hash(foot) != binary.LittleEndian.Uint64(t[16:]) {
		return nil, corrupt("checksum of the footer")
	}
	if head := binary.LittleEndian.Uint32(b[8:]); version != Version || head != Version {
		return nil, versionError(version, head)
	}
	f := &file{data: b[:size:size]}
	return f, f.readFooter(foot, binary.LittleEndian.Uint32(t[12:]), trusted)
}

func versionError(foot, head uint32) error {
	if foot != head {
		return corrupt("version %d at its begin and %d at its end", head, foot)
	}
	return versionErr(foot)
}

func (f *file) readFooter(foot []byte, shape uint32, trusted bool) error {
	chunks := (len(f.data) + chunkSize - 1) / chunkSize
	if shape != sections<<16|counts || len(foot) != chunks*8+counts*8+sections*16+16 {
		return corrupt("footer of %d bytes for %d chunks", len(foot), chunks)
	}
	f.sums, foot = foot[:chunks*8], foot[chunks*8:]
	for i := range f.cnt {
		f.cnt[i] = binary.LittleEndian.Uint64(foot[i*8:])
	}
	foot = foot[counts*8:]
	size := uint64(len(f.data))
	for i := range f.table {
		off, n := binary.LittleEndian.Uint64(foot[i*16:]), binary.LittleEndian.Uint64(foot[i*16+8:])
		if off > size || n > size-off {
			return corrupt("section %d at %d of length %d", i, off, n)
		}
		f.table[i] = [2]uint64{off, n}
	}
	f.good = make([]atomic.Uint32, (chunks+31)/32)
	if trusted {
		for i := range f.good {
			f.good[i].Store(1<<32 - 1)
		}
	}
	return nil
}

// check proves the chunks under n bytes at off, each only once.
func (f *file) check(off, n int) error {
	if n == 0 {
		return nil
	}
	for c, last := off/chunkSize, (off+n-1)/chunkSize; c <= last; c++ {
		word, bit := &f.good[c/32], uint32(1)<<(c%32)
		if word.Load()&bit != 0 {
			continue
		}
		chunk := f.data[c*chunkSize : min((c+1)*chunkSize, len(f.data))]
		if xxh3.Hash(chunk) != binary.LittleEndian.Uint64(f.sums[c*8:]) {
			return corrupt("checksum of bytes %d–%d", c*chunkSize, c*chunkSize+len(chunk))
		}
		word.Or(bit)
	}
	return nil
}

// section is a part of a file.
type section struct {
	f   *file
	off int
	b   []byte
}

func (f *file) section(sec int) section {
	off, n := f.table[sec][0], f.table[sec][1]
	return section{f, int(off), f.data[off : off+n : off+n]}
}

// check proves n bytes at off of the section, which must lie within it.
func (s *section) check(off, n int) error { return s.f.check(s.off+off, n) }

// slice gives, proved, the bytes from the column's entry i to its next entry or
// the end of the section.
func (s *section) slice(offs *column, i int) ([]byte, error) {
	from, to := offs.get(i), uint64(len(s.b))
	if i+1 < offs.n {
		to = offs.get(i + 1)
	}
	if from > to || to > uint64(len(s.b)) {
		return nil, corrupt("bytes %d–%d of a section of %d", from, to, len(s.b))
	}
	return s.b[from:to:to], s.check(int(from), int(to-from))
}

var sectionNames = [sections]string{
	"postings", "strings", "forward", "text", "documents", "hashes", "ids", "owners", "lengths",
	"forward at", "text at", "text blocks", "text blocks at", "dictionary at", "postings at", "df", "gid",
	"bloom", "document ids", "documents at", "paths", "roots", "norms", "references", "prefixes",
	"least lengths",
}

// Sections gives the number of bytes of each part of the segment.
func (r *Reader) Sections() map[string]int64 {
	out := make(map[string]int64, sections)
	for i, name := range sectionNames {
		out[name] = int64(r.f.table[i][1])
	}
	return out
}
