package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern/config"
	"quern/index"
	"quern/index/extract"
	"quern/index/extract/sandbox"
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
	// freeWhenQuiet is how long after the last change the index has written and
	// merged what there was.
	freeWhenQuiet = 8 * time.Second
	// retryFirst and retryMost bound the wait before a failed Apply is tried again.
	retryFirst, retryMost = 100 * time.Millisecond, 30 * time.Second
)

// pipeline carries settled changes from the watcher to the index: it reads and
// extracts files and applies them in groups.
type pipeline struct {
	core  *core
	log   *slog.Logger
	again again
	// members of files, as of the changes applied.
	members memberTable
	used    int64 // bytes read since memory was given back
	owed    bool  // memory is to be given back once more when the index rests too

	applying sync.Mutex // held while changes are applied; guards all fields below
	// Until the catch-up is done: the paths that the watcher has reported, and
	// the documents of an earlier daemon by what their files looked like.
	seen   map[string]bool
	former map[fileID]string
}

func newPipeline(c *core, log *slog.Logger) *pipeline {
	return &pipeline{core: c, log: log, again: newAgain()}
}

// run returns when ctx is done or the watcher is closed.
func (p *pipeline) run(ctx context.Context) {
	for {
		batch, err := p.next(ctx)
		if err != nil {
			return
		}
		p.core.news.tell()
		if !p.core.manners.await(ctx) {
			return
		}
		began := time.Now()
		if !p.applyAll(ctx, batch.Changes) {
			return
		}
		took := time.Since(began)
		p.core.watch.Done(batch)
		p.core.news.tell()
		for i := range batch.Changes {
			p.used += batch.Changes[i].Info.Size
		}
		if p.core.state().Pending == 0 {
			p.core.files.quiet()
			p.giveBack()
		}
		if p.core.hurry.Load() == 0 {
			p.core.manners.rest(ctx, len(batch.Changes), took)
		}
	}
}

// next is the watcher's next batch. Memory that is owed is given back when none
// has come for a while.
func (p *pipeline) next(ctx context.Context) (*watcher.Batch, error) {
	if !p.owed {
		return p.core.watch.Next(ctx)
	}
	quiet, cancel := context.WithTimeout(ctx, freeWhenQuiet)
	defer cancel()
	batch, err := p.core.watch.Next(quiet)
	if err == nil || quiet.Err() == nil || ctx.Err() != nil {
		return batch, err
	}
	p.owed = false
	debug.FreeOSMemory()
	return p.core.watch.Next(ctx)
}

// giveBack returns memory to the system after much work: an idle program does not
// collect its garbage for minutes, and keeps what it has collected. The index goes
// on to write and merge, and what that needed is owed.
func (p *pipeline) giveBack() {
	if p.used >= freeAfter {
		p.used, p.owed = 0, true
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

// applyAll makes the changes searchable; false means that ctx was done first.
func (p *pipeline) applyAll(ctx context.Context, changes []watcher.Change) bool {
	p.applying.Lock()
	defer p.applying.Unlock()
	p.see(changes)
	for _, group := range groups(changes, applyBytes) {
		moved := p.renames(group)
		var outcomes []outcome
		prepare := func() []index.Change {
			defer func() { moved = nil }() // should what was to be moved not be there
			outcomes = p.prepare(ctx, group, moved)
			return compact(outcomes)
		}
		if !p.commit(ctx, prepare) {
			return false
		}
		for _, o := range outcomes {
			if len(o.changes) > 0 {
				p.members.set(o.file, o.members)
			}
		}
	}
	return true
}

// commit applies changes and tries again until it has succeeded, so that none is
// lost; false means that ctx was done first. The changes are prepared anew when
// one of them did not fit the index.
func (p *pipeline) commit(ctx context.Context, prepare func() []index.Change) bool {
	changes := prepare()
	for wait := retryFirst; ; wait = min(2*wait, retryMost) {
		before := p.core.engine.Snapshot()
		generation, err := p.core.engine.Apply(ctx, changes)
		if err == nil {
			p.core.stuck.Store(nil)
			p.core.changes.record(before, generation, changes)
			p.core.news.tell()
			return true
		}
		if ctx.Err() == nil {
			p.log.Error("changes could not be applied and are tried again", "changes", len(changes), "wait", wait, "err", err)
		}
		p.core.stuck.Store(&err)
		if errors.Is(err, index.ErrNotFound) {
			changes = prepare()
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
func (p *pipeline) prepare(ctx context.Context, changes []watcher.Change, moved map[string]origin) []outcome {
	out := make([]outcome, len(changes))
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(changes)); i = next.Add(1) - 1 {
			out[i] = p.one(ctx, changes[i], moved[changes[i].Path])
		}
	}
	var wg sync.WaitGroup
	for range min(readers, len(changes)) {
		wg.Go(func() { p.core.run(work) })
	}
	wg.Wait()
	return out
}

// compact joins the outcomes' changes, without the removals that a rename tells
// already.
func compact(outcomes []outcome) []index.Change {
	var changes []index.Change
	for _, o := range outcomes {
		changes = append(changes, o.changes...)
	}
	gone := map[string]bool{}
	for _, c := range changes {
		if c.Move != nil {
			gone[c.Move.From] = true
		}
	}
	return slices.DeleteFunc(changes, func(c index.Change) bool {
		return c.Remove != "" && gone[c.Remove]
	})
}

// one prepares a single change and records the file's state. from names the
// document that the file may be, or is zero.
func (p *pipeline) one(ctx context.Context, c watcher.Change, from origin) outcome {
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
	out, err := p.read(ctx, c, from)
	switch {
	case err == nil:
		files.clear(c.Path)
		return out
	case sandbox.IsUnavailable(err):
		p.again.add(c.Path, time.Now())
	case errors.Is(err, sandbox.ErrClosed), ctx.Err() != nil:
		return outcome{} // it is read when the daemon runs again
	}
	p.refused(c.Path, err)
	return p.remove(c.Path)
}

// refused records why the file cannot be indexed.
func (p *pipeline) refused(path string, err error) {
	switch {
	case errors.Is(err, errVanished), errors.Is(err, errHidden):
		p.core.files.clear(path)
	case errors.Is(err, extract.ErrBinary), errors.Is(err, extract.ErrLimit), errors.Is(err, errNotRegular), errors.Is(err, errTooLarge):
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

// read reads the file of a Write, unless the index has it as it is, and extracts
// it, unless its bytes are those of the document it may have been renamed from. A
// file that changes meanwhile is taken as it was read, and looked at again.
func (p *pipeline) read(ctx context.Context, c watcher.Change, from origin) (outcome, error) {
	f := p.core.folderAt(c.Root)
	if f == nil {
		return outcome{}, errVanished // its folder has just been removed
	}
	if from.path == "" && p.isIndexed(f, c) {
		p.core.work.unchanged.Add(1)
		return outcome{}, nil
	}
	if reason := p.quarantined(c); reason != "" {
		return outcome{}, &sandbox.Broken{Reason: reason}
	}
	began := time.Now()
	data, info, err := p.core.readFile(c.Path, f.MaxFileSize, f.FollowSymlinks)
	changed := errors.Is(err, errChanged)
	if changed || errors.Is(err, errVanished) {
		p.core.watch.Touch(c.Path)
	}
	p.noteRead(c.Path, err)
	if err != nil && !changed {
		return outcome{}, err
	}
	same := !changed && info.Size() == c.Info.Size && info.ModTime().Equal(c.Info.Modified)
	note := fingerprintOf(c.Info, data, began, same)
	doc := document(f, c.Path, info.ModTime(), info.Size())
	if from.path != "" && from.digest == note.digest {
		p.core.work.moved.Add(1)
		note.rules = f.memberRules()
		doc.Fingerprint = note.String()
		return outcome{file: c.Path, changes: []index.Change{{Move: &index.Move{From: from.path, To: *doc}}}}, nil
	}
	p.core.work.extracted.Add(1)
	if doc.Content, err = p.extract(ctx, c, data); err != nil {
		return outcome{}, err
	}
	return p.put(f, doc, note), nil
}

// extract has the text of a file found. One that ends its reader is not tried again
// until it has changed.
func (p *pipeline) extract(ctx context.Context, c watcher.Change, data []byte) (*extract.Document, error) {
	content, err := p.core.extract(ctx, c.Path, data)
	var broken *sandbox.Broken
	if errors.As(err, &broken) {
		p.core.quarantine.add(c.Path, c.Info, broken.Reason)
	}
	return content, err
}

// extract has the text of a file found, by a command of the config if there is one for
// its type.
func (c *core) extract(ctx context.Context, path string, data []byte) (*extract.Document, error) {
	if len(c.extractors) > 0 {
		if format := extract.Detect(path, data); c.extractors[format] != nil {
			return c.sandbox.Command(ctx, format, c.extractors[format], data)
		}
	}
	return c.sandbox.Extract(ctx, path, data)
}

// extractorsOf are the config's commands by type.
func extractorsOf(cfg config.Config) map[string][]string {
	out := map[string][]string{}
	for _, e := range cfg.Extractors {
		out[e.Type] = e.Command
	}
	return out
}

// quarantined is why the file is not to be read, "" if it is.
func (p *pipeline) quarantined(c watcher.Change) string {
	if p.core.isForced(c.Path) {
		return ""
	}
	return p.core.quarantine.reason(c.Path, c.Info)
}

// isIndexed reports whether the index has the file as it is, so that it need not
// be read.
func (p *pipeline) isIndexed(f *folder, c watcher.Change) bool {
	if p.core.isForced(c.Path) {
		return false
	}
	doc, ok := p.core.engine.Snapshot().Document(c.Path)
	if !ok {
		return false
	}
	note, ok := parseFingerprint(doc.Fingerprint)
	rel, _ := relativeTo(f.Path, c.Path)
	return ok && note.proves(c.Info) && doc.Folder == f.Name && doc.Rel == rel && note.owner == 0 &&
		note.rules == f.memberRules() && p.members.all(p.core.engine.Snapshot(), c.Path, note.members)
}

// noteRead sees to it that a file is read again whose reading failed for a reason
// that no event will tell the end of.
func (p *pipeline) noteRead(path string, err error) {
	for _, settled := range []error{nil, errChanged, errVanished, errNotRegular, errTooLarge, errHidden, fs.ErrPermission} {
		if errors.Is(err, settled) {
			p.again.forget(path)
			return
		}
	}
	p.again.add(path, time.Now())
}

// document is a file of the folder, without its content.
func document(f *folder, path string, modified time.Time, size int64) *index.Document {
	rel, _ := relativeTo(f.Path, path)
	return &index.Document{Path: path, Folder: f.Name, Rel: rel, Modified: modified, Size: size}
}
