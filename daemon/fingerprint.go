package daemon

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"

	"quern/index"
	"quern/watcher"
)

// fileID is what stays the same when a file is renamed and its content is not
// changed.
type fileID struct {
	dev, ino uint64
	size     int64
	modified int64 // nanoseconds
}

func idOf(i watcher.Info) fileID {
	return fileID{i.Dev, i.Ino, i.Size, i.Modified.UnixNano()}
}

// fingerprint is the note that the index keeps of the file that a document was
// made from. It tells after a restart whether the file has changed meanwhile, and
// whether a file under another name has the same bytes.
type fingerprint struct {
	id      fileID
	changed int64 // ctime in nanoseconds
	digest  xxh3.Uint128
	// settled: the file had rested so long when it was read that its stat
	// proves its content.
	settled bool
	// owner is the length of the path of the file that the document is a member of,
	// as a beginning of the document's own path; 0 for the file itself, which has so
	// many members in the index and was read under these rules for them.
	owner, members int
	rules          uint32
}

// memberMark stands between the path of a file and that of a member in it.
const memberMark = "!/"

// ownerOf is the path of the file that a document with this fingerprint was made
// from.
func (f fingerprint) ownerOf(path string) string {
	if f.owner > 0 && f.owner < len(path) {
		return path[:f.owner]
	}
	return path
}

// fileOf is the path of the file that a document was made from.
func fileOf(doc *index.DocumentInfo) string {
	f, _ := parseFingerprint(doc.Fingerprint)
	return f.ownerOf(doc.Path)
}

// clockTick is longer than any file system's clock stands still: two writes
// within one tick leave the same times.
const clockTick = 50 * time.Millisecond

// fingerprintOf is the note on a file that looked like info and was then read,
// from began on, as data. sure says that it still looked so afterwards.
func fingerprintOf(info watcher.Info, data []byte, began time.Time, sure bool) fingerprint {
	rested := began.Sub(info.Modified) >= clockTick && began.Sub(info.Changed) >= clockTick
	return fingerprint{
		id: idOf(info), changed: info.Changed.UnixNano(), digest: xxh3.Hash128(data), settled: sure && rested,
	}
}

// proves reports whether a file that looks like info has the content it was
// made from.
func (f fingerprint) proves(info watcher.Info) bool {
	return f.settled && f.id == idOf(info) && f.changed == info.Changed.UnixNano()
}

const fingerprintSize = 7*8 + 1 + 3*4

// String is the fingerprint's fixed binary form.
func (f fingerprint) String() string {
	b := make([]byte, 0, fingerprintSize)
	for _, n := range []uint64{
		f.id.dev, f.id.ino, uint64(f.id.size), uint64(f.id.modified), uint64(f.changed), f.digest.Hi, f.digest.Lo,
	} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	settled := byte(0)
	if f.settled {
		settled = 1
	}
	b = append(b, settled)
	for _, n := range []uint32{uint32(f.owner), uint32(f.members), f.rules} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return string(b)
}

// parseFingerprint reads String's form. Anything else, such as that of another
// version, proves nothing.
func parseFingerprint(s string) (f fingerprint, ok bool) {
	if len(s) != fingerprintSize {
		return f, false
	}
	var n [7]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64([]byte(s[8*i : 8*i+8]))
	}
	f = fingerprint{
		id:      fileID{n[0], n[1], int64(n[2]), int64(n[3])},
		changed: int64(n[4]), digest: xxh3.Uint128{Hi: n[5], Lo: n[6]}, settled: s[7*8] == 1,
	}
	rest := []byte(s[7*8+1:])
	f.owner, f.members = int(binary.LittleEndian.Uint32(rest)), int(binary.LittleEndian.Uint32(rest[4:]))
	f.rules = binary.LittleEndian.Uint32(rest[8:])
	return f, true
}
