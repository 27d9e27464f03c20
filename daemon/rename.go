package daemon

import (
	"sync"

	"github.com/zeebo/xxh3"

	"quern/index/extract"
	"quern/watcher"
)

// fileID is what stays the same when a file is renamed and its content is not
// changed. It proves nothing: a new file may be given the number of one that was
// removed, and a time can be set.
type fileID struct {
	dev, ino uint64
	size     int64
	modified int64 // nanoseconds
}

func idOf(i watcher.Info) fileID {
	return fileID{i.Dev, i.Ino, i.Size, i.Modified.UnixNano()}
}

// origin says which document a file may be under another name.
type origin struct {
	path   string
	digest xxh3.Uint128 // of the bytes that the document was made from
}

// renames finds the files that may only have changed their name within the
// batch: new path → the old one. That they have is for their content to show. A
// name that asks for another format is no mere rename.
func (p *pipeline) renames(changes []watcher.Change) map[string]origin {
	removed := map[fileID]origin{}
	for _, c := range changes {
		if c.Op != watcher.Remove || c.Info.Ino == 0 {
			continue
		}
		if digest, ok := p.digests.get(c.Path); ok {
			removed[idOf(c.Info)] = origin{c.Path, digest}
		}
	}
	moved := map[string]origin{}
	if len(removed) == 0 {
		return moved
	}
	for _, c := range changes {
		id := idOf(c.Info)
		from, ok := removed[id]
		if ok && c.Op == watcher.Write && extract.TypeOf(from.path) == extract.TypeOf(c.Path) {
			moved[c.Path] = from
			delete(removed, id)
		}
	}
	return moved
}

func digestOf(data []byte) xxh3.Uint128 { return xxh3.Hash128(data) }

// digestSet holds the digests of the bytes that the indexed documents were made
// from, by path.
type digestSet struct {
	mu     sync.Mutex // guards byPath
	byPath map[string]xxh3.Uint128
}

func (s *digestSet) set(path string, d xxh3.Uint128) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byPath[path] = d
}

func (s *digestSet) get(path string) (xxh3.Uint128, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.byPath[path]
	return d, ok
}

// forget is called when the document leaves the index.
func (s *digestSet) forget(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byPath, path)
}
