package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"quern/index/analysis"
)

// ErrClosed is returned by Apply once the engine is closed.
var ErrClosed = errors.New("the index is closed")

// Engine is an index in memory. Changes go in by Apply, one batch at a time;
// questions go to the Snapshot of the moment. All methods may be called from
// any goroutine.
type Engine struct {
	opts     Options
	analyzer *analysis.Analyzer
	log      *slog.Logger

	current atomic.Pointer[Snapshot]

	// writer holds a token: who has taken it may publish a snapshot and owns
	// the fields of state.
	writer chan struct{}
	state  writerState

	// merging holds a token: who has taken it may replace segments. It is
	// taken before writer's.
	merging chan struct{}
	wake    chan struct{} // tells the merger that there may be work

	closing context.Context // done when Close is called; ends the merger
	close   context.CancelFunc
	merger  sync.WaitGroup
}

// writerState is what only the writer needs.
type writerState struct {
	txn     uint64 // number of the last transaction
	nextPID uint64
	free    []uint32 // slots of no document
	drift   drift
}

// Open returns an empty engine. It fails if the options for chunks or analysis
// are not valid. Close it to end its one goroutine, which merges segments.
func Open(o Options) (*Engine, error) {
	if err := o.Chunk.Validate(); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	analyzer, err := analysis.New(o.Analysis)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		opts: o, analyzer: analyzer, log: o.Log,
		writer:  make(chan struct{}, 1),
		merging: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
	}
	e.closing, e.close = context.WithCancel(context.Background())
	e.current.Store(&Snapshot{analyzer: analyzer, opts: &e.opts, table: newTermTable()})
	e.merger.Go(e.mergeLoop)
	return e, nil
}

// Snapshot returns the index as of the last batch applied. It never waits.
func (e *Engine) Snapshot() *Snapshot { return e.current.Load() }

// Close ends background work and waits for it and for a batch being applied.
// Snapshots stay usable; Apply returns ErrClosed. It always returns nil.
func (e *Engine) Close() error {
	e.close()
	e.merger.Wait()
	e.writer <- struct{}{} // a batch under way has ended …
	<-e.writer             // … and later ones find the engine closed
	return nil
}

// take acquires a token, unless ctx ends or the engine closes.
func (e *Engine) take(ctx context.Context, token chan struct{}) error {
	select {
	case token <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.closing.Done():
		return ErrClosed
	}
	if e.closing.Err() != nil {
		<-token
		return ErrClosed
	}
	return nil
}

// Apply makes changes searchable, all at once: one batch is one generation
// and one snapshot. It returns the generation that has them. On an error
// nothing is changed. Changes are made in order, so that a later change of a
// path wins. A batch that changes nothing that can be seen keeps the
// generation.
//
// The cost is that of the passages that changed: those of a Put whose span
// and headings the old document has too are kept with their new number,
// bytes and lines, and a Move touches no posting. Passages are analysed by
// Options.Threads goroutines.
//
// The engine keeps Content.Text and Content.Sections' headings: the caller
// must not change them any more.
//
// Errors: a change that does not set exactly one of its fields or has no
// path; ErrNotFound (wrapped) for a Move of a document that is not there;
// ErrClosed; the cause of ctx.
func (e *Engine) Apply(ctx context.Context, changes []Change) (generation uint64, err error) {
	if err := e.backpressure(ctx); err != nil {
		return 0, fmt.Errorf("apply changes: %w", err)
	}
	if err := e.take(ctx, e.writer); err != nil {
		return 0, fmt.Errorf("apply changes: %w", err)
	}
	defer func() { <-e.writer }()
	s := e.Snapshot()
	p, err := newPlan(s, changes)
	if err != nil {
		return 0, err
	}
	if err := e.prepare(ctx, p); err != nil {
		return 0, fmt.Errorf("apply changes: %w", err)
	}
	if p.idle() {
		return s.generation, nil
	}
	next := e.commit(p)
	e.current.Store(next)
	select {
	case e.wake <- struct{}{}:
	default: // it is awake
	}
	return next.generation, nil
}
