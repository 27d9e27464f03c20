package daemon

import (
	"path/filepath"
	"sync"
	"time"

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

// renames finds the files that only changed their name within the batch: new
// path → old path. A name that asks for another format is no mere rename.
func (p *pipeline) renames(changes []watcher.Change) map[string]string {
	removed := map[fileID]string{}
	for _, c := range changes {
		if c.Op == watcher.Remove && c.Info.Ino != 0 {
			removed[idOf(c.Info)] = c.Path
		}
	}
	moved := map[string]string{}
	if len(removed) == 0 {
		return moved
	}
	snapshot := p.core.engine.Snapshot()
	for _, c := range changes {
		if c.Op != watcher.Write {
			continue
		}
		id := idOf(c.Info)
		from, ok := removed[id]
		if !ok || filepath.Ext(from) != filepath.Ext(c.Path) {
			continue
		}
		doc, ok := snapshot.Document(from)
		if ok && doc.Size == id.size && doc.Modified.UnixNano() == id.modified && !p.racy.has(from) {
			moved[c.Path] = from
			delete(removed, id)
		}
	}
	return moved
}

// clockTick is longer than any file system's clock stands still: two writes
// within one tick leave the same modification time.
const clockTick = 50 * time.Millisecond

// racySet holds the documents that were read so soon after their modification
// that a later write may have left the same time: their stat proves nothing.
type racySet struct {
	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// note records a document that has just been read.
func (r *racySet) note(path string, modified time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(modified) < clockTick {
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

// move prepares a rename: nothing is read.
func (p *pipeline) move(from string, c watcher.Change) index.Change {
	p.core.files.handled(0)
	p.core.files.clear(from)
	p.core.files.clear(c.Path)
	f := p.core.folderAt(c.Root)
	if f == nil {
		return index.Change{Remove: from}
	}
	rel, _ := relativeTo(f.Path, c.Path)
	return index.Change{Move: &index.Move{From: from, To: index.Document{
		Path: c.Path, Folder: f.Name, Rel: rel, Modified: c.Info.Modified, Size: c.Info.Size,
	}}}
}
