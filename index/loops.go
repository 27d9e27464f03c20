package index

import (
	"context"
	"errors"
	"slices"
	"time"
)

// longestPause is how long a failing disk is left alone at most.
const longestPause = time.Minute

// refineAfter is how long no batch must have come or be under way before norms
// are refined.
const refineAfter = 100 * time.Millisecond

// refineRest is how much longer than refining takes norms are left alone after
// it, so that it never takes much of a processor.
const refineRest = 20

// purgeParts is into how many parts PurgeAfter is cut: by the time three quarters
// of it are over dead text is merged away, within one part it is seen that they
// are, and within another one the old files go.
const purgeParts = 16

// memLoop merges segments in memory as they come, and writes them to disk when
// there are many or some time has passed. When no more come it refines the
// norms. It ends when the engine closes.
func (e *Engine) memLoop() {
	var due <-chan time.Time
	quiet := time.NewTimer(refineAfter)
	defer quiet.Stop()
	pause := e.opts.CommitEvery
	var rested time.Time // before then norms are not refined again
	for {
		flush := false
		select {
		case <-e.closing.Done():
			return
		case <-e.wakeMem:
			e.more(false, e.mergeAll(e.closing))
			quiet.Reset(max(refineAfter, time.Until(rested)))
			flush = e.store != nil && e.store.failure() == nil &&
				e.Snapshot().memoryBytes() > 3*e.opts.MemoryBudget/16
		case <-quiet.C:
			if e.applying.Load() > 0 {
				quiet.Reset(refineAfter)
				continue
			}
			start := time.Now()
			e.more(false, e.refine(e.closing))
			rested = time.Now().Add(refineRest * time.Since(start))
		case <-due:
			due, flush = nil, true
		}
		if flush {
			pause = e.flushOrWait(pause)
		}
		if due == nil && e.store != nil && !e.store.upToDate(e.Snapshot()) {
			due = time.After(pause)
		}
	}
}

// mergeAll merges in memory until no merge is wanted.
func (e *Engine) mergeAll(ctx context.Context) error {
	for {
		if merged, err := e.mergeMemory(ctx); err != nil || !merged {
			return err
		}
	}
}

// flushOrWait flushes and says when to try again if it fails.
func (e *Engine) flushOrWait(pause time.Duration) time.Duration {
	err := e.Flush(e.closing)
	if e.more(true, err) {
		return e.opts.CommitEvery
	}
	return min(2*pause, longestPause)
}

// diskLoop merges segments on disk and purges dead text. It ends when the
// engine closes.
func (e *Engine) diskLoop() {
	for {
		var tick <-chan time.Time
		if e.mourns() {
			tick = time.After(e.opts.PurgeAfter / purgeParts)
		}
		select {
		case <-e.closing.Done():
			return
		case <-e.wakeDisk:
		case <-tick:
		}
		for e.more(e.mergeDisk(e.closing)) {
		}
		e.more(false, e.store.purgeDamaged(e.opts.PurgeAfter))
	}
}

// mourns reports whether there is dead text on disk.
func (e *Engine) mourns() bool {
	s := e.Snapshot()
	dead := func(v view) bool { return !v.since.IsZero() }
	return e.store.hasDamaged() || slices.ContainsFunc(s.views[:s.memory()], dead)
}

// refine does the upkeep of norms that batches have left.
func (e *Engine) refine(ctx context.Context) error {
	if e.Snapshot().drift <= maxDrift {
		return nil
	}
	if err := e.take(ctx, e.writer); err != nil {
		return err
	}
	defer func() { <-e.writer }()
	return e.refined()
}

// refined is refine for one who has the writer token.
func (e *Engine) refined() error {
	if e.Snapshot().drift <= maxDrift {
		return nil
	}
	next := *e.Snapshot()
	if err := guard(next.views, func() { e.edit(&next).refine() }); err != nil {
		return err
	}
	e.current.Store(&next)
	e.noteUpkeep(&next, next.postings/4)
	e.log.Debug("refined norms", "passages", next.passages, "terms", next.terms)
	return nil
}

// mergeMemory does the merge in memory that is most wanted, if any. Building
// goes on beside batches and queries; only the exchange waits for the writer.
func (e *Engine) mergeMemory(ctx context.Context) (bool, error) {
	if err := e.take(ctx, e.mem); err != nil {
		return false, err
	}
	defer func() { <-e.mem }()
	s := e.Snapshot()
	at := s.memory()
	if e.store != nil && e.store.failure() == nil {
		at = s.afterBulk(at)
	}
	lo, hi := chooseMerge(sizesOf(s.views[at:]))
	if lo == hi {
		return false, nil
	}
	m := newMerge(s, at+lo, at+hi)
	if err := m.inMemory(ctx); err != nil {
		return false, err
	}
	return true, e.exchange(m)
}

// mergeDisk does the merge on disk that is most wanted, if any. The next commit
// makes it good and removes the files merged.
func (e *Engine) mergeDisk(ctx context.Context) (bool, error) {
	return e.mergeDiskBy(ctx, func(views []view) (lo, hi int) {
		if lo, hi = choosePurge(views, time.Now().Add(-e.opts.PurgeAfter*3/4)); lo < hi {
			return lo, hi
		}
		return chooseMerge(sizesOf(views))
	})
}

func (e *Engine) mergeDiskBy(ctx context.Context, choose func([]view) (lo, hi int)) (bool, error) {
	if err := e.take(ctx, e.disk); err != nil {
		return false, err
	}
	defer func() { <-e.disk }()
	s := e.Snapshot()
	lo, hi := choose(s.views[:s.memory()])
	if lo == hi {
		return false, nil
	}
	m := newMerge(s, lo, hi)
	if err := e.keepDirectory(); err != nil {
		return false, err
	}
	if !m.empty() {
		var err error
		if m.out, err = e.store.write(ctx, m); err != nil {
			return false, err
		}
	}
	if err := e.exchange(m); err != nil {
		m.discard(e.store)
		return false, err
	}
	for i := range m.sources {
		e.store.discard(m.sources[i].name)
	}
	e.log.Debug("merged segments", "from", hi-lo, "index", e.Snapshot())
	signal(e.wakeMem)
	return true, nil
}

// more tells whether a step did something and another may follow. What went
// wrong is told to the log, and damage set aside.
func (e *Engine) more(did bool, err error) bool {
	var d *damaged
	switch {
	case err == nil:
		return did
	case errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &d):
		_, err := e.setAside(d)
		return did && err == nil
	case errors.Is(err, errReplaced):
		return did
	}
	e.log.Warn("the index could not be written", "error", err)
	return false
}
