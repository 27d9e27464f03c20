package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"quern/index/segment"
	"quern/index/segment/vfs"

	"github.com/zeebo/xxh3"
)

// A segment keeps the norms of the time when it was written. When much has
// drifted since, a norms file keeps those of all segments as they are now, so
// that opening the index need not compute them. It is derived: if it is damaged
// or missing nothing is lost. FORMAT.md of package segment has the bytes.
const (
	normsMagic   = "QUERNNRM"
	normsVersion = 1
	normsSuffix  = ".norms"
)

// normsFile is what a norms file holds.
type normsFile struct {
	references []byte            // float32 by gid
	norms      map[string][]byte // by segment name: float32 by passage, squared
}

// encodeNorms writes the norms of the views that are on disk.
func (s *Snapshot) encodeNorms() []byte {
	b := append([]byte(nil), normsMagic...)
	b = binary.LittleEndian.AppendUint32(b, normsVersion)
	b = binary.AppendUvarint(b, uint64(s.stats.len()))
	for g := range s.stats.len() {
		b = appendFloat(b, s.stats.at(g).reference)
	}
	views := s.views[:s.memory()]
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

// floats reads so many float32, as bytes.
func (r *recordReader) floats() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)/4) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:4*n]
	r.b = r.b[4*n:]
	return out
}

func decodeNorms(b []byte) (*normsFile, error) {
	bad := fmt.Errorf("%w: the norms", segment.ErrCorrupt)
	if len(b) < len(normsMagic)+12 || string(b[:8]) != normsMagic {
		return nil, bad
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxh3.Hash(body) != sum || binary.LittleEndian.Uint32(b[8:]) != normsVersion {
		return nil, bad
	}
	r := &recordReader{b: body[12:]}
	n := &normsFile{references: r.floats(), norms: make(map[string][]byte)}
	for range r.count() {
		name := r.string()
		n.norms[name] = r.floats()
	}
	if r.bad || len(r.b) > 0 {
		return nil, bad
	}
	return n, nil
}

// writeNorms writes a norms file and returns its name.
func (st *store) writeNorms(s *Snapshot) (string, error) {
	name := st.newName(normsSuffix)
	return name, writeWhole(st.fs, name, func(f vfs.File) error {
		_, err := f.Write(s.encodeNorms())
		return err
	})
}

// readNorms reads a norms file: nil if there is none that can be used.
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
	n, err := decodeNorms(append([]byte(nil), f.Data...))
	if err != nil {
		e.log.Warn("norms are computed anew", "error", err)
	}
	return n, f.Close()
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
	w := normWriter{view: v, txn: x.txn}
	for p := range v.Passages() {
		w.add(float64(floatAt(b, p)))
	}
	w.end()
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
