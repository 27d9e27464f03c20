package daemon

import (
	"errors"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"

	"quern/index"
	"quern/index/extract"
	"quern/watcher"
)

// origin says which document a file may be under another name.
type origin struct {
	path   string
	digest xxh3.Uint128 // of the bytes that the document was made from
}

// renames finds the files that may only have changed their name, within the batch
// or while the daemon was away: new path → the old one. That they have is for their
// content to show. A name that asks for another format is no mere rename.
func (p *pipeline) renames(changes []watcher.Change) map[string]origin {
	snapshot := p.core.engine.Snapshot()
	removed := map[fileID]origin{}
	for _, c := range changes {
		if c.Op != watcher.Remove || c.Info.Ino == 0 {
			continue
		}
		if from, ok := originAt(snapshot, c.Path); ok {
			removed[idOf(c.Info)] = from
		}
	}
	moved := map[string]origin{}
	for _, c := range changes {
		if c.Op != watcher.Write || c.Info.Ino == 0 {
			continue
		}
		id := idOf(c.Info)
		from, ok := removed[id]
		if !ok {
			from, ok = p.movedWhileAway(snapshot, c.Path, id)
		}
		if ok && extract.SameFormat(from.path, c.Path) && !p.members.has(from.path) {
			moved[c.Path] = from
			delete(removed, id)
			delete(p.former, id)
		}
	}
	return moved
}

// originAt is the document at path as the origin of a rename.
func originAt(snapshot *index.Snapshot, path string) (origin, bool) {
	doc, ok := snapshot.Document(path)
	if !ok {
		return origin{}, false
	}
	f, ok := parseFingerprint(doc.Fingerprint)
	return origin{path, f.digest}, ok
}

// movedWhileAway finds the document that the file was before the daemon started.
func (p *pipeline) movedWhileAway(snapshot *index.Snapshot, path string, id fileID) (origin, bool) {
	from, ok := p.former[id]
	if !ok || from == path {
		return origin{}, false
	}
	if _, err := os.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
		return origin{}, false
	}
	return originAt(snapshot, from)
}
