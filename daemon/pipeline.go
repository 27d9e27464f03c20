package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"quern/index"
	"quern/index/extract"
	"quern/ipc"
	"quern/watcher"
)

const (
	// applyBytes bounds the source text read for one Apply.
	applyBytes = 16 << 20
	// readers is how many files are read and extracted at once.
	readers = 4
	// retryFirst and retryMost bound the wait before a failed Apply is tried again.
	retryFirst, retryMost = 100 * time.Millisecond, 30 * time.Second
)

// pipeline carries settled changes from the watcher to the index: it reads and
// extracts files and applies them in groups.
type pipeline struct {
	core *core
	log  *slog.Logger
	racy racySet
}

func newPipeline(c *core, log *slog.Logger) *pipeline {
	return &pipeline{core: c, log: log, racy: racySet{paths: map[string]bool{}}}
}

// run returns when ctx is done or the watcher is closed.
func (p *pipeline) run(ctx context.Context) {
	for {
		batch, err := p.core.watch.Next(ctx)
		if err != nil {
			return
		}
		for _, group := range groups(batch.Changes, applyBytes) {
			if !p.apply(ctx, group) {
				return
			}
		}
		p.core.watch.Done(batch)
		if p.core.watch.State().Pending == 0 {
			p.core.files.quiet()
		}
	}
}

// groups cuts changes into runs of at most limit bytes of source, or one change.
func groups(changes []watcher.Change, limit int64) [][]watcher.Change {
	var out [][]watcher.Change
	var bytes int64
	first := 0
	for i, c := range changes {
		if i > first && bytes+c.Info.Size > limit {
			out = append(out, changes[first:i])
			first, bytes = i, 0
		}
		if c.Op == watcher.Write {
			bytes += c.Info.Size
		}
	}
	return append(out, changes[first:])
}

// apply makes the changes searchable. It tries again until it has succeeded, so
// that none is lost; false means that ctx was done first.
func (p *pipeline) apply(ctx context.Context, changes []watcher.Change) bool {
	prepared := p.prepare(changes)
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		_, err := p.core.engine.Apply(ctx, prepared)
		if err == nil {
			return true
		}
		if ctx.Err() == nil {
			p.log.Error("changes could not be applied and are tried again", "changes", len(prepared), "wait", wait, "err", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// prepare turns what the watcher saw into changes of the index, in the same
// order; files are read side by side.
func (p *pipeline) prepare(changes []watcher.Change) []index.Change {
	moves := p.renames(changes)
	out := make([]index.Change, len(changes))
	var wg sync.WaitGroup
	slots := make(chan struct{}, readers)
	for i, c := range changes {
		if m := moves[c.Path]; m != nil {
			p.core.files.handled(0)
			p.core.files.clear(c.Path)
			out[i] = index.Change{Move: m}
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			out[i] = p.one(c)
			<-slots
		})
	}
	wg.Wait()
	return compact(out, moves)
}

// compact drops the removals that a rename tells already.
func compact(changes []index.Change, moves map[string]*index.Move) []index.Change {
	gone := make(map[string]bool, len(moves))
	for _, m := range moves {
		gone[m.From] = true
	}
	return slices.DeleteFunc(changes, func(c index.Change) bool { return c.Remove != "" && gone[c.Remove] })
}

// one prepares a single change and records the file's state.
func (p *pipeline) one(c watcher.Change) index.Change {
	files := p.core.files
	switch c.Op {
	case watcher.Remove:
		files.clear(c.Path)
		files.handled(0)
		p.racy.mark(c.Path, false)
		return index.Change{Remove: c.Path}
	case watcher.Skip:
		files.set(c.Path, problem{ipc.FileSkipped, c.Reason})
		files.handled(0)
		return index.Change{Remove: c.Path}
	}
	files.handled(c.Info.Size)
	doc, err := p.read(c)
	if err == nil {
		files.clear(c.Path)
		return index.Change{Put: doc}
	}
	p.refused(c.Path, err)
	return index.Change{Remove: c.Path}
}

// refused records why the file cannot be indexed.
func (p *pipeline) refused(path string, err error) {
	switch {
	case errors.Is(err, errVanished):
		p.core.files.clear(path)
	case errors.Is(err, extract.ErrBinary), errors.Is(err, errNotRegular), errors.Is(err, errTooLarge):
		p.core.files.set(path, problem{ipc.FileSkipped, err.Error()})
	default:
		p.core.files.set(path, problem{ipc.FileFailed, reasonOf(err)})
	}
}

// reasonOf is the error without the path, which the status names anyway.
func reasonOf(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Op + ": " + pathErr.Err.Error()
	}
	return err.Error()
}

// read reads and extracts the file of a Write. A file that changes meanwhile is
// taken as it was read, and looked at again.
func (p *pipeline) read(c watcher.Change) (*index.Document, error) {
	f := p.core.folderAt(c.Root)
	if f == nil {
		return nil, errVanished // its folder has just been removed
	}
	began := time.Now()
	data, info, err := readFile(c.Path, f.MaxFileSize, f.FollowSymlinks)
	changed := errors.Is(err, errChanged)
	if changed || errors.Is(err, errVanished) {
		p.core.watch.Touch(c.Path)
	}
	if err != nil && !changed {
		return nil, err
	}
	content, err := extract.Extract(c.Path, data)
	if err != nil {
		return nil, err
	}
	p.racy.mark(c.Path, changed || began.Sub(info.ModTime()) < clockTick)
	doc := document(f, c.Path, info.ModTime(), info.Size())
	doc.Content = content
	return doc, nil
}

// document is a file of the folder, without its content.
func document(f *folder, path string, modified time.Time, size int64) *index.Document {
	rel, _ := relativeTo(f.Path, path)
	return &index.Document{Path: path, Folder: f.Name, Rel: rel, Modified: modified, Size: size}
}
