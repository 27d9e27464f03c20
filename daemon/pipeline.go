package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

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
	// freeAfter is how many bytes of source must have been handled for their
	// memory to be given back to the system when all is quiet.
	freeAfter = 32 << 20
	// retryFirst and retryMost bound the wait before a failed Apply is tried again.
	retryFirst, retryMost = 100 * time.Millisecond, 30 * time.Second
)

// pipeline carries settled changes from the watcher to the index: it reads and
// extracts files and applies them in groups.
type pipeline struct {
	core    *core
	log     *slog.Logger
	digests digestSet
	again   again
	used    int64 // bytes of source handled since memory was last given back
}

func newPipeline(c *core, log *slog.Logger) *pipeline {
	return &pipeline{core: c, log: log, digests: digestSet{byPath: map[string]xxh3.Uint128{}}, again: again{files: map[string]attempt{}}}
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
		for i := range batch.Changes {
			p.used += batch.Changes[i].Info.Size
		}
		if p.core.watch.State().Pending == 0 {
			p.core.files.quiet()
			p.giveBack()
		}
	}
}

// giveBack returns memory to the system after much work: an idle program does not
// collect its garbage for minutes, and keeps what it has collected.
func (p *pipeline) giveBack() {
	if p.used >= freeAfter {
		p.used = 0
		debug.FreeOSMemory()
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
	prepared := p.prepare(changes, p.renames(changes))
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		_, err := p.core.engine.Apply(ctx, prepared)
		if err == nil {
			p.core.stuck.Store(nil)
			return true
		}
		p.core.stuck.Store(&err)
		if errors.Is(err, index.ErrNotFound) { // what was to be moved is not there
			prepared = p.prepare(changes, nil)
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
// order; files are read side by side. moved has what renames found.
func (p *pipeline) prepare(changes []watcher.Change, moved map[string]origin) []index.Change {
	out := make([]index.Change, len(changes))
	var wg sync.WaitGroup
	slots := make(chan struct{}, readers)
	for i, c := range changes {
		slots <- struct{}{}
		wg.Go(func() {
			out[i] = p.one(c, moved[c.Path])
			<-slots
		})
	}
	wg.Wait()
	return compact(out)
}

// compact drops the removals that a rename tells already.
func compact(changes []index.Change) []index.Change {
	gone := map[string]bool{}
	for _, c := range changes {
		if c.Move != nil {
			gone[c.Move.From] = true
		}
	}
	return slices.DeleteFunc(changes, func(c index.Change) bool { return c.Remove != "" && gone[c.Remove] })
}

// one prepares a single change and records the file's state. from names the
// document that the file may be, or is zero.
func (p *pipeline) one(c watcher.Change, from origin) index.Change {
	files := p.core.files
	switch c.Op {
	case watcher.Remove:
		p.again.forget(c.Path)
		files.clear(c.Path)
		files.handled(0)
		return p.remove(c.Path)
	case watcher.Skip:
		p.again.forget(c.Path)
		files.set(c.Path, problem{ipc.FileSkipped, c.Reason})
		files.handled(0)
		return p.remove(c.Path)
	}
	files.handled(c.Info.Size)
	change, err := p.read(c, from)
	if err == nil {
		files.clear(c.Path)
		return change
	}
	p.refused(c.Path, err)
	return p.remove(c.Path)
}

func (p *pipeline) remove(path string) index.Change {
	p.digests.forget(path)
	return index.Change{Remove: path}
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

// read reads the file of a Write and, unless its bytes are those of the document
// it may have been renamed from, extracts it. A file that changes meanwhile is
// taken as it was read, and looked at again.
func (p *pipeline) read(c watcher.Change, from origin) (index.Change, error) {
	f := p.core.folderAt(c.Root)
	if f == nil {
		return index.Change{}, errVanished // its folder has just been removed
	}
	data, info, err := readFile(c.Path, f.MaxFileSize, f.FollowSymlinks)
	changed := errors.Is(err, errChanged)
	if changed || errors.Is(err, errVanished) {
		p.core.watch.Touch(c.Path)
	}
	p.noteRead(c.Path, err)
	if err != nil && !changed {
		return index.Change{}, err
	}
	doc, digest := document(f, c.Path, info.ModTime(), info.Size()), digestOf(data)
	if from.path != "" && from.digest == digest {
		p.digests.set(c.Path, digest)
		return index.Change{Move: &index.Move{From: from.path, To: *doc}}, nil
	}
	if doc.Content, err = extracted(c.Path, data); err != nil {
		return index.Change{}, err
	}
	p.digests.set(c.Path, digest)
	return index.Change{Put: doc}, nil
}

// noteRead sees to it that a file is read again whose reading failed for a reason
// that no event will tell the end of.
func (p *pipeline) noteRead(path string, err error) {
	for _, settled := range []error{nil, errChanged, errVanished, errNotRegular, errTooLarge, fs.ErrPermission} {
		if errors.Is(err, settled) {
			p.again.forget(path)
			return
		}
	}
	p.again.add(path, time.Now())
}

// extracted is the text of a file. A fault of ours in reading its format is the
// file's problem, not the end of the daemon.
func extracted(path string, data []byte) (doc *extract.Document, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("extracting its text failed, please report this: %v", fault)
		}
	}()
	return extract.Extract(path, data)
}

// document is a file of the folder, without its content.
func document(f *folder, path string, modified time.Time, size int64) *index.Document {
	rel, _ := relativeTo(f.Path, path)
	return &index.Document{Path: path, Folder: f.Name, Rel: rel, Modified: modified, Size: size}
}
