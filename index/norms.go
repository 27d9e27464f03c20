package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"

	"quern/index/segment"
	"quern/index/segment/vfs"

	"github.com/zeebo/xxh3"
)

// A segment keeps the norms of the time when it was written. When much has
// drifted since, a norms file keeps those of all segments as they are now, so
// that opening the index need not compute them; and one that is written when the
// index is closed keeps the df of every term, so that opening it need not count
// them. The file is mapped, and its numbers are read where they lie until they
// change. It is derived: if it is damaged or missing nothing is lost. FORMAT.md
// of package segment has the bytes.
const (
	normsMagic   = "QUERNNRM"
	normsVersion = 2
	normsSuffix  = ".norms"
)

// normsFile is what a norms file holds.
type normsFile struct {
	*seg // its name and bytes; it is set aside as a segment is

	// contents are those of the snapshot whose statistics follow; empty if the
	// file has none.
	contents   string
	drift      float64
	terms      int
	postings   int64
	free, dfs  []byte            // uint32: unused numbers of terms; df by gid
	references []byte            // float32 by gid
	norms      map[string][]byte // by segment name: float32 by passage, squared
}

// encodeNorms writes the norms of the views that are on disk, and the statistics
// if that is all there is.
func (s *Snapshot) encodeNorms(free []uint32) []byte {
	b := append([]byte(nil), normsMagic...)
	b = binary.LittleEndian.AppendUint32(b, normsVersion)
	views := s.views[:s.memory()]
	whole := len(views) == len(s.views)
	if whole {
		b = appendString(b, s.contents())
	} else {
		b = appendString(b, "")
	}
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.drift))
	b = binary.AppendUvarint(b, uint64(s.terms))
	b = binary.AppendUvarint(b, uint64(s.postings))
	b = binary.AppendUvarint(b, uint64(len(free)))
	for _, g := range free {
		b = binary.LittleEndian.AppendUint32(b, g)
	}
	b = binary.AppendUvarint(b, uint64(s.stats.len()))
	for g := range s.stats.len() {
		b = binary.LittleEndian.AppendUint32(b, s.stats.at(g).df)
	}
	b = binary.AppendUvarint(b, uint64(s.stats.len()))
	for g := range s.stats.len() {
		b = appendFloat(b, s.stats.at(g).reference)
	}
	b = binary.AppendUvarint(b, uint64(len(views)))
	for i := range views {
		v := &views[i]
		b = appendString(b, v.name)
		b = binary.AppendUvarint(b, uint64(v.Passages()))
		for p := range v.Passages() {
			b = appendFloat(b, float32(v.norms.at(p)))
		}
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

func appendFloat(b []byte, f float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
}

func floatAt(b []byte, i int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
}

// words reads so many numbers of four bytes each, as bytes.
func (r *recordReader) words() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)/4) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:4*n]
	r.b = r.b[4*n:]
	return out
}

// fixed reads eight bytes.
func (r *recordReader) fixed() (v uint64) {
	if len(r.b) < 8 {
		r.bad, r.b = true, nil
		return 0
	}
	v = binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

var errNorms = fmt.Errorf("%w: the norms", segment.ErrCorrupt)

// checkNorms proves the bytes of a norms file.
func checkNorms(b []byte) error {
	if len(b) < len(normsMagic)+12 || string(b[:8]) != normsMagic || binary.LittleEndian.Uint32(b[8:]) != normsVersion ||
		xxh3.Hash(b[:len(b)-8]) != binary.LittleEndian.Uint64(b[len(b)-8:]) {
		return errNorms
	}
	return nil
}

func decodeNorms(b []byte) (*normsFile, error) {
	if err := checkNorms(b); err != nil {
		return nil, err
	}
	r := &recordReader{b: b[12 : len(b)-8]}
	n := &normsFile{contents: r.string(), drift: math.Float64frombits(r.fixed())}
	n.terms, n.postings = int(r.uvarint()), int64(r.uvarint())
	n.free, n.dfs, n.references = r.words(), r.words(), r.words()
	n.norms = make(map[string][]byte)
	for range r.count() {
		name := r.string()
		n.norms[name] = r.words()
	}
	if r.bad || len(r.b) > 0 || len(n.dfs) != len(n.references) || !(n.drift >= 0) {
		return nil, errNorms
	}
	return n, nil
}

// writeNorms writes a norms file and returns its name.
func (st *store) writeNorms(s *Snapshot, free []uint32) (string, error) {
	name := st.newName(normsSuffix)
	return name, writeWhole(st.fs, name, func(f vfs.File) error {
		_, err := f.Write(s.encodeNorms(free))
		return err
	})
}

// readNorms maps a norms file: nil if there is none that can be used.
func (e *Engine) readNorms(name string) (*normsFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := e.store.fs.Map(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the norms: %w", err)
	}
	s := &seg{name: name, data: f.Data}
	var n *normsFile
	damage := guard([]view{{seg: s}}, func() { n, err = decodeNorms(f.Data) })
	if err = errors.Join(err, damage); err != nil {
		e.log.Warn("norms are computed anew", "error", err)
		return nil, f.Close()
	}
	n.seg = s
	runtime.AddCleanup(s, func(m *vfs.Mapping) { _ = m.Close() }, f)
	return n, nil
}

// adopt takes a view's norms from the file, if it has them.
func (n *normsFile) adopt(x *edit, v *view) bool {
	if n == nil {
		return false
	}
	b := n.norms[v.name]
	if len(b) != 4*v.Passages() || v.Passages() == 0 {
		return false
	}
	v.adoptNorms(x.txn, func(i int) float64 {
		defer runtime.KeepAlive(n.seg)
		return float64(floatAt(b, i))
	})
	x.derived, v.derived = n.seg, n.seg
	return true
}

// adoptAll takes the references.
func (n *normsFile) adoptAll(x *edit) {
	if n == nil {
		return
	}
	for g := range min(len(n.references)/4, x.stats.len()) {
		if ref := floatAt(n.references, g); ref == ref {
			x.stats.edit(x.txn, g).reference = ref
		}
	}
}

// knows says whether the file has the statistics of the views of a snapshot.
func (n *normsFile) knows(s *Snapshot) bool {
	if n == nil || n.contents == "" || n.contents != s.contents() {
		return false
	}
	for i := range s.views {
		if v := &s.views[i]; len(n.norms[v.name]) != 4*v.Passages() {
			return false
		}
	}
	return true
}

// adoptStatistics takes all that the file says; it must know the snapshot.
func (n *normsFile) adoptStatistics(x *edit) {
	x.terms, x.postings, x.drift, x.derived = n.terms, n.postings, n.drift, n.seg
	x.stats = pagesOn(x.txn, len(n.dfs)/4, func(gid int) termStat {
		defer runtime.KeepAlive(n.seg)
		return termStat{binary.LittleEndian.Uint32(n.dfs[4*gid:]), floatAt(n.references, gid)}
	})
	x.w.numbers = numbering{next: uint32(x.stats.len()), epoch: x.w.numbers.epoch + 1}
	for i := range len(n.free) / 4 {
		x.w.numbers.free = append(x.w.numbers.free, binary.LittleEndian.Uint32(n.free[4*i:]))
	}
	for i := range x.views {
		n.adopt(x, &x.views[i])
	}
	x.w.drift.lastN = math.Log(float64(1 + x.passages))
}
