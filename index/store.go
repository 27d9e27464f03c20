package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"quern/index/segment/vfs"
)

// ErrStorage is wrapped by Apply's error when changes could not be written to
// disk (it is full, say) and as much waits in memory as may. Queries go on;
// writing is tried again and again, and Apply works once it succeeds.
var ErrStorage = errors.New("the index cannot be written to disk")

// store is the engine's directory of files.
type store struct {
	fs      vfs.FS
	options string

	mu       sync.Mutex // guards what follows
	lock     vfs.Lock
	nextFile uint64
	// obsolete are files that no snapshot to come will have. They are
	// removed once a manifest without them is durable.
	obsolete map[string]bool
	damaged  map[string]time.Time // files set aside, and since when they are known
	failed   error                // of the last commit; nil if it succeeded

	committed   uint64 // generation of the manifest
	committedAt time.Time
	segments    string // contents as of the manifest
	norms       string // name of the norms file, or ""
	normsDue    bool   // norms have changed much since it was written
	described   bool   // it has the statistics of the manifest's index
}

func (st *store) newName(suffix string) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.nextFile++
	return fileName(st.nextFile, suffix)
}

func (st *store) discard(names ...string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, n := range names {
		if n != "" {
			st.obsolete[n] = true
		}
	}
}

func (st *store) setFailed(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.failed = err
}

func (st *store) failure() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.failed
}

// sweep removes obsolete files that the manifest just written does not name.
func (st *store) sweep(s *Snapshot) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	named := make(map[string]bool)
	for i := range s.views {
		named[s.views[i].name] = true
	}
	var errs []error
	for name := range st.obsolete {
		if named[name] {
			continue
		}
		if err := st.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		delete(st.obsolete, name)
	}
	return errors.Join(errs...)
}

// write writes a merge to a new file and opens it.
func (st *store) write(ctx context.Context, m *merge) (*seg, error) {
	name := st.newName(segmentSuffix)
	err := writeWhole(st.fs, name, func(f vfs.File) error { return m.run(ctx, f, true) })
	if err != nil {
		return nil, err
	}
	s, err := fileSegment(st.fs, name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the segment just written: %w", err), st.fs.Remove(name))
	}
	return s, nil
}

// flush makes the snapshot of the moment durable. It holds the mem token.
func (e *Engine) flush(ctx context.Context) error {
	err := e.flushed(ctx)
	if ctx.Err() == nil {
		e.store.setFailed(err)
	}
	if err == nil {
		signal(e.wakeDisk)
	}
	return err
}

func (e *Engine) flushed(ctx context.Context) error {
	s, st := e.Snapshot(), e.store
	if st.upToDate(s) {
		return nil
	}
	if err := e.keepDirectory(); err != nil {
		return err
	}
	lo := s.memory()
	m := newMerge(s, lo, len(s.views))
	at := *s // what the manifest will say
	at.views = slices.Clip(s.views[:lo])
	if !m.empty() {
		var err error
		if m.out, err = st.write(ctx, m); err != nil {
			return err
		}
		at.views = append(at.views, newView(0, m.out, m.sources[0].first))
	}
	if err := st.restore(&at); err != nil {
		m.discard(st)
		return err
	}
	norms, err := e.normsFor(s)
	if err != nil {
		m.discard(st)
		return err
	}
	if err := writeManifest(st.fs, at.manifestOf(st, norms)); err != nil {
		// The manifest may be the old or the new one: a later one decides
		// which files may go.
		m.discard(st)
		st.discard(norms)
		return err
	}
	st.note(&at, norms)
	if len(m.sources) > 0 {
		if err := e.exchange(m); err != nil {
			m.discard(st)
			return err
		}
	}
	return st.sweep(&at)
}

// upToDate reports whether the manifest says what the snapshot holds, and is
// where it was written.
func (st *store) upToDate(s *Snapshot) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.lock.Held() && st.committed == s.generation && st.segments == s.contents() && !st.wantsNorms(s)
}

// normsFor gives the norms file to go with a snapshot: the old one, or one that
// it writes if that is due.
func (e *Engine) normsFor(s *Snapshot) (string, error) {
	st := e.store
	st.mu.Lock()
	old, due := st.norms, st.wantsNorms(s)
	st.mu.Unlock()
	if !due {
		return old, nil
	}
	return st.writeNorms(s, nil)
}

// describe writes the norms file that makes the next opening quick, and commits
// it, if all is on disk. The caller has all tokens.
func (e *Engine) describe() error {
	s, st := e.Snapshot(), e.store
	if st.described || len(s.views) == 0 || s.memory() < len(s.views) || s.drift > maxDrift {
		return nil
	}
	name, err := st.writeNorms(s, e.state.numbers.free)
	if err != nil {
		return err
	}
	if err := writeManifest(st.fs, s.manifestOf(st, name)); err != nil {
		st.discard(name)
		return err
	}
	st.note(s, name)
	st.described = true
	return st.sweep(s)
}

// wantsNorms reports whether a norms file is to be written; the caller holds mu.
func (st *store) wantsNorms(s *Snapshot) bool {
	return st.normsDue && s.drift <= maxDrift && s.memory() > 0
}

func (st *store) setNormsDue() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.normsDue = true
}

// note remembers what the manifest says.
func (st *store) note(s *Snapshot, norms string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.norms != norms {
		if st.norms != "" {
			st.obsolete[st.norms] = true
		}
		st.norms, st.normsDue = norms, false
	}
	st.committed, st.committedAt, st.segments = s.generation, time.Now(), s.contents()
	st.described = false
}

// contents tells two snapshots of a generation from each other by their files
// and what lives in them.
func (s *Snapshot) contents() string {
	var b []byte
	for i := range s.views {
		v := &s.views[i]
		b = fmt.Appendf(b, "%s %d %d\n", v.name, v.live, v.liveDocs)
	}
	return string(b)
}
