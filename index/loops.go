package index

import (
	"context"
	"errors"
	"time"
)

// longestPause is how long a failing disk is left alone at most.
const longestPause = time.Minute

// memLoop merges segments in memory as they come, and writes them to disk when
// there are many or some time has passed. It ends when the engine closes.
func (e *Engine) memLoop() {
	var due <-chan time.Time
	pause := e.opts.CommitEvery
	for {
		flush := false
		select {
		case <-e.closing.Done():
			return
		case <-e.wakeMem:
			for e.more(e.mergeMemory(e.closing)) {
			}
			flush = e.store != nil && e.store.failure() == nil &&
				e.Snapshot().memoryBytes() > e.opts.MemoryBudget/4
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

// flushOrWait flushes and says when to try again if it fails.
func (e *Engine) flushOrWait(pause time.Duration) time.Duration {
	err := e.Flush(e.closing)
	if e.more(true, err) {
		signal(e.wakeDisk)
		return e.opts.CommitEvery
	}
	return min(2*pause, longestPause)
}

// diskLoop merges segments on disk, purges dead text, and mends norms when
// there is time. It ends when the engine closes.
func (e *Engine) diskLoop() {
	last := uint64(0)
	for {
		var tick <-chan time.Time
		if wait, ok := e.nextTick(); ok {
			tick = time.After(wait)
		}
		select {
		case <-e.closing.Done():
			return
		case <-e.wakeDisk:
		case <-tick:
		}
		if e.store != nil {
			for e.more(e.mergeDisk(e.closing)) {
			}
			_ = e.more(true, e.store.purgeDamaged(e.opts.PurgeAfter))
		}
		s := e.Snapshot()
		if s.drift > maxDrift && s.generation == last {
			_ = e.more(true, e.settle())
		}
		last = s.generation
	}
}

// nextTick says when diskLoop has something to do even if nothing wakes it.
func (e *Engine) nextTick() (time.Duration, bool) {
	s := e.Snapshot()
	if s.drift > maxDrift {
		return e.opts.CommitEvery, true
	}
	if e.store == nil {
		return 0, false
	}
	waiting := e.store.hasDamaged()
	for i := range s.views {
		waiting = waiting || !s.views[i].since.IsZero()
	}
	return e.opts.PurgeAfter / 8, waiting
}

// settle makes the drift of the snapshot small.
func (e *Engine) settle() error {
	if err := e.take(e.closing, e.writer); err != nil {
		return err
	}
	defer func() { <-e.writer }()
	next := *e.Snapshot()
	if err := guard(next.views, func() { e.edit(&next).settle() }); err != nil {
		return err
	}
	e.current.Store(&next)
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
	lo, hi := chooseMerge(s.views[at:])
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
	if err := e.take(ctx, e.disk); err != nil {
		return false, err
	}
	defer func() { <-e.disk }()
	s := e.Snapshot()
	views := s.views[:s.memory()]
	lo, hi := choosePurge(views, time.Now().Add(-e.opts.PurgeAfter*3/4))
	if lo == hi {
		lo, hi = chooseMerge(views)
	}
	if lo == hi {
		return false, nil
	}
	m := newMerge(s, lo, hi)
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
