package index

import (
	"context"
	"slices"
	"time"
)

// refineAfter is how long no batch must have come before norms are refined.
const refineAfter = 100 * time.Millisecond

// backgroundLoop merges segments as they come, and refines norms when no more
// come. Nothing of it changes any answer. It ends when the engine closes.
func (e *Engine) backgroundLoop() {
	quiet := time.NewTimer(refineAfter)
	defer quiet.Stop()
	for {
		var err error
		select {
		case <-e.closing.Done():
			return
		case <-e.wake:
			err = e.mergeAll(e.closing)
			quiet.Reset(refineAfter)
		case <-quiet.C:
			err = e.refine(e.closing)
		}
		if err != nil {
			return // the engine closes: these have no other error
		}
	}
}

// mergeAll merges until no merge is wanted.
func (e *Engine) mergeAll(ctx context.Context) error {
	for {
		if merged, err := e.mergeOnce(ctx); err != nil || !merged {
			return err
		}
	}
}

// refine does the upkeep of norms that batches have left.
func (e *Engine) refine(ctx context.Context) error {
	if e.Snapshot().drift <= 2*fineLimit {
		return nil
	}
	if err := e.take(ctx, e.writer); err != nil {
		return err
	}
	defer func() { <-e.writer }()
	next := *e.Snapshot()
	next.views = slices.Clone(next.views)
	e.edit(&next).refine()
	e.current.Store(&next)
	e.log.Debug("refined norms", "passages", next.passages, "terms", next.terms)
	return nil
}
