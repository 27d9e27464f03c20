package daemon

import (
	"sync"
	"time"

	"quern/index"
	"quern/index/extract"
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

// renames finds the files that only changed their name within the batch, by
// their new path: nothing of them is read. A name that asks for another format
// is no mere rename.
func (p *pipeline) renames(changes []watcher.Change) map[string]*index.Move {
	removed := map[fileID]string{}
	for _, c := range changes {
		if c.Op == watcher.Remove && c.Info.Ino != 0 {
			removed[idOf(c.Info)] = c.Path
		}
	}
	moves := map[string]*index.Move{}
	if len(removed) == 0 {
		return moves
	}
	snapshot := p.core.engine.Snapshot()
	for _, c := range changes {
		if c.Op != watcher.Write {
			continue
		}
		id := idOf(c.Info)
		from, ok := removed[id]
		if !ok || extract.TypeOf(from) != extract.TypeOf(c.Path) {
			continue
		}
		f := p.core.folderAt(c.Root)
		doc, ok := snapshot.Document(from)
		if f == nil || !ok || doc.Size != id.size || doc.Modified.UnixNano() != id.modified || p.racy.has(from) {
			continue
		}
		moves[c.Path] = &index.Move{From: from, To: *document(f, c.Path, c.Info.Modified, c.Info.Size)}
		delete(removed, id)
	}
	return moves
}

// clockTick is longer than any file system's clock stands still: two writes
// within one tick leave the same modification time.
const clockTick = 50 * time.Millisecond

// racySet holds the documents whose stat proves nothing: a write may have come
// after they were read and left the same time.
type racySet struct {
	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// mark records whether the document that has just been read is one.
func (r *racySet) mark(path string, racy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if racy {
		r.paths[path] = true
	} else {
		delete(r.paths, path)
	}
}

func (r *racySet) has(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paths[path]
}
