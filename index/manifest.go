package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"quern/index/extract"
	"quern/index/segment"
	"quern/index/segment/vfs"

	"github.com/zeebo/xxh3"
)

// The manifest says which files make up the index and what of them is dead. It
// is replaced in one step; what it says is the index that a crash leaves.
// FORMAT.md of package segment has the bytes.
const (
	manifestName    = "MANIFEST"
	manifestTemp    = "MANIFEST.tmp"
	manifestMagic   = "QUERNMAN"
	manifestVersion = 1
)

// ErrOutdated is wrapped by what is told of an index that cannot be used
// because another version or other options made it. It is built anew.
var ErrOutdated = errors.New("made by another version or with other options")

type manifest struct {
	options    string
	generation uint64
	nextFile   uint64
	norms      string // name of the norms file, or ""
	totals     totals
	folders    map[string]FolderStats
	segments   []manifestSegment
}

type manifestSegment struct {
	name           string
	size           int64
	first          uint64
	since          time.Time
	dead, deadDocs segment.Bits
}

func (m *manifest) encode() []byte { return m.encodeAs(manifestVersion) }

func (m *manifest) encodeAs(version uint32) []byte {
	b := append([]byte(nil), manifestMagic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = appendString(b, m.options)
	b = appendString(b, m.norms)
	for _, v := range []uint64{m.generation, m.nextFile,
		uint64(m.totals.passages), uint64(m.totals.length), uint64(m.totals.documents)} {
		b = binary.AppendUvarint(b, v)
	}
	b = binary.AppendUvarint(b, uint64(len(m.folders)))
	for name, f := range m.folders {
		b = appendString(b, name)
		b = binary.AppendUvarint(b, uint64(f.Documents))
		b = binary.AppendUvarint(b, uint64(f.Passages))
	}
	b = binary.AppendUvarint(b, uint64(len(m.segments)))
	for i := range m.segments {
		b = m.segments[i].append(b)
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

func (s *manifestSegment) append(b []byte) []byte {
	b = appendString(b, s.name)
	b = binary.AppendUvarint(b, uint64(s.size))
	b = binary.AppendUvarint(b, s.first)
	since := int64(0)
	if !s.since.IsZero() {
		since = s.since.Unix()
	}
	b = binary.AppendVarint(b, since)
	return appendBits(appendBits(b, s.dead), s.deadDocs)
}

// appendBits writes a set as its size and the gaps between its members.
func appendBits(b []byte, set segment.Bits) []byte {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	b = binary.AppendUvarint(b, uint64(n))
	last := -1
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			at := i*64 + bits.TrailingZeros64(w)
			b = binary.AppendUvarint(b, uint64(at-last-1))
			last = at
		}
	}
	return b
}

func decodeManifest(b []byte) (*manifest, error) {
	bad := func(what string) error { return fmt.Errorf("%w: the manifest: %s", segment.ErrCorrupt, what) }
	if len(b) < len(manifestMagic)+12 || string(b[:8]) != manifestMagic {
		return nil, bad("it does not begin as one does")
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxh3.Hash(body) != sum {
		return nil, bad("checksum")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != manifestVersion {
		return nil, fmt.Errorf("%w: manifest version %d, not %d", ErrOutdated, v, manifestVersion)
	}
	r := &recordReader{b: body[12:]}
	m := &manifest{options: r.string(), norms: r.string(), folders: make(map[string]FolderStats)}
	m.generation, m.nextFile = r.uvarint(), r.uvarint()
	m.totals = totals{passages: int(r.uvarint()), length: int64(r.uvarint()), documents: int(r.uvarint())}
	for range r.count() {
		name := r.string()
		m.folders[name] = FolderStats{Documents: int(r.uvarint()), Passages: int(r.uvarint())}
	}
	for range r.count() {
		m.segments = append(m.segments, r.segment())
	}
	if r.bad || len(r.b) > 0 {
		return nil, bad("length")
	}
	return m, nil
}

func (r *recordReader) segment() manifestSegment {
	s := manifestSegment{name: r.string(), size: int64(r.uvarint()), first: r.uvarint()}
	if since := r.varint(); since != 0 {
		s.since = time.Unix(since, 0)
	}
	s.dead, s.deadDocs = r.bits(), r.bits()
	return s
}

func (r *recordReader) bits() (set segment.Bits) {
	last := uint64(0)
	for range r.count() {
		at := last + r.uvarint()
		last = at + 1
		if r.bad || at > 1<<32 {
			r.bad = true
			return nil
		}
		for uint64(len(set)) <= at>>6 {
			set = append(set, make(segment.Bits, max(1, len(set)/2))...)
		}
		set.Set(int(at))
	}
	return set
}

// manifestOf describes the part of a snapshot that is on disk, as it must be
// for all of it.
func (s *Snapshot) manifestOf(st *store, norms string) *manifest {
	m := &manifest{options: st.options, norms: norms, generation: s.generation, totals: s.totals, folders: s.folders}
	st.mu.Lock()
	m.nextFile = st.nextFile
	st.mu.Unlock()
	for i := range s.views {
		v := &s.views[i]
		m.segments = append(m.segments, manifestSegment{
			name: v.name, size: v.Size(), first: v.first, since: v.since,
			dead: bitsOf(&v.dead), deadDocs: bitsOf(&v.deadDocs),
		})
	}
	return m
}

// optionsKey tells indexes that hold other things from each other.
func (o *Options) optionsKey() string {
	key := fmt.Sprintf("segment %d record %d extract %d chunk %+v analysis %+v headings %v",
		segment.Version, recordVersion, extract.Version, o.Chunk, o.Analysis, o.HeadingTerms)
	return strings.ToValidUTF8(key, "?")
}

// writeWhole writes a file and makes its contents durable. A file that could
// not be written whole is removed.
func writeWhole(fs vfs.FS, name string, write func(f vfs.File) error) error {
	f, err := fs.Create(name)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", name, err), fs.Remove(name))
	}
	return nil
}

// writeManifest makes m the index that a crash leaves. After an error either
// the old or the new one is.
func writeManifest(fs vfs.FS, m *manifest) error {
	data := m.encode()
	err := writeWhole(fs, manifestTemp, func(f vfs.File) error {
		_, err := f.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	// The files that it names must be there before it is.
	for _, step := range []func() error{
		fs.SyncDir,
		func() error { return fs.Rename(manifestTemp, manifestName) },
		fs.SyncDir,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("replace the manifest: %w", err)
		}
	}
	return nil
}

// fileName is the name of the n-th file.
func fileName(n uint64, suffix string) string { return fmt.Sprintf("%012d%s", n, suffix) }

const (
	segmentSuffix = ".seg"
	damagedSuffix = ".damaged"
	cacheTag      = "CACHEDIR.TAG"
	lockName      = "LOCK"
)

// cacheTagText marks the directory for back-up programs, see bford.info/cachedir.
const cacheTagText = "Signature: 8a477f597d28d172789f06886806bc55\n# The index of quern. It can be built again from the files.\n"

// writeTag writes CACHEDIR.TAG if it is not there.
func writeTag(fs vfs.FS) error {
	list, err := fs.List()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(i vfs.Info) bool { return i.Name == cacheTag && i.Size > 0 }) {
		return nil
	}
	return writeWhole(fs, cacheTag, func(f vfs.File) error {
		_, err := f.Write([]byte(cacheTagText))
		return err
	})
}
