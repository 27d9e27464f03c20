package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"quern/index/analysis"
)

// ErrClosed is returned by Apply once the engine is closed.
var ErrClosed = errors.New("the index is closed")

// Engine is an index. Changes go in by Apply, one batch at a time; questions
// go to the Snapshot of the moment. All methods may be called from any
// goroutine.
//
// A batch becomes a segment in memory. Segments in memory are merged, and every
// few seconds written to disk as one; segments on disk are merged in their
// turn. The files are the log: a crash loses the changes since the last
// commit (Stats.Committed), which the caller finds by comparing Documents with
// the files it has.
type Engine struct {
	opts     Options
	analyzer *analysis.Analyzer
	// words is the analyzer without stop words, and forms the one without a
	// stemmer, either made when it is first needed.
	words, forms func() *analysis.Analyzer
	log          *slog.Logger
	store        *store // nil: the index lives in memory

	current atomic.Pointer[Snapshot]

	// Three tokens, to be taken in this order: who has taken disk may replace
	// segments on disk; who has taken mem, segments in memory, and may write
	// the manifest; who has taken writer may publish a snapshot and owns the
	// fields of state.
	disk, mem, writer chan struct{}
	state             writerState

	latent *latent

	wakeMem, wakeDisk chan struct{} // tell the loops that there may be work
	applying          atomic.Int32  // calls of Apply under way
	builders          sync.Pool     // of *builder

	closing context.Context // done when Close is called; ends the loops
	close   context.CancelFunc
	loops   sync.WaitGroup
	closed  sync.Once
	failed  error // of Close
}

// Defaults of Options.
const (
	defaultBudget = 64 << 20
	defaultCommit = 2 * time.Second
	defaultPurge  = time.Hour
)

// Open opens the index in Options.Dir, or an empty one that lives in memory.
// Close it to make everything durable and to end its goroutines.
//
// What is damaged on disk is set aside and told to Options.OnDamage; the rest
// is opened. An index of another version or with other options is emptied, and
// so is told. Errors: options that are not valid; vfs.ErrLocked (wrapped) if
// another engine has the directory; what the file system says.
func Open(o Options) (*Engine, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	e.current.Store(e.empty(0))
	e.state.drift.free, e.state.drift.fine = freeUpkeep, fineUpkeep
	if e.opts.FS != nil {
		if err := e.openStore(); err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
	}
	e.loops.Go(e.memLoop)
	e.loops.Go(e.latentLoop)
	if e.store != nil {
		e.loops.Go(e.diskLoop)
	}
	return e, nil
}

func newEngine(o Options) (*Engine, error) {
	if err := o.Chunk.Validate(); err != nil {
		return nil, err
	}
	analyzer, err := analysis.New(o.Analysis)
	if err != nil {
		return nil, err
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	e := &Engine{
		opts: o, analyzer: analyzer, log: o.Log,
		disk: make(chan struct{}, 1), mem: make(chan struct{}, 1), writer: make(chan struct{}, 1),
		wakeMem: make(chan struct{}, 1), wakeDisk: make(chan struct{}, 1),
	}
	e.words = sync.OnceValue(func() *analysis.Analyzer { return unstopped(analyzer, o.Analysis.Stemmer) })
	e.forms = sync.OnceValue(func() *analysis.Analyzer { return unstopped(analyzer, analysis.None) })
	e.latent = newLatent(e, o)
	e.closing, e.close = context.WithCancel(context.Background())
	return e, nil
}

// unstopped is an analyzer like a, with another stemmer and without stop words: a
// itself, if it is that already.
func unstopped(a *analysis.Analyzer, stemmer string) *analysis.Analyzer {
	o := a.Options()
	old := o
	o.Stopwords, o.MinLength, o.Stemmer = analysis.None, min(1, o.MinLength), stemmer
	if o == old {
		return a
	}
	other, err := analysis.New(o)
	if err != nil {
		panic(err) // of these options only the list of stop words may be bad
	}
	return other
}

// empty is the snapshot of nothing.
func (e *Engine) empty(generation uint64) *Snapshot {
	return &Snapshot{engine: e, analyzer: e.analyzer, generation: generation}
}

// Snapshot returns the index as of the last batch applied. It never waits.
func (e *Engine) Snapshot() *Snapshot { return e.current.Load() }

// Close makes everything durable and ends background work and waits for it and
// for a batch being applied. Snapshots stay usable; Apply returns ErrClosed. An
// error says that changes since the last commit are not on disk.
func (e *Engine) Close() error {
	e.closed.Do(func() {
		e.close()
		e.loops.Wait()
		for _, token := range []chan struct{}{e.disk, e.mem} {
			token <- struct{}{}
			defer func() { <-token }()
		}
		e.writer <- struct{}{} // a batch under way has ended …
		<-e.writer             // … and later ones find the engine closed
		if e.store != nil {
			if err := e.refined(); err != nil { // it will be done when it is opened
				e.log.Warn("norms were not refined", "error", err)
			}
			e.noteUpkeep(e.Snapshot(), 0)
			e.failed = e.flush(context.Background())
			if e.failed == nil {
				if err := e.describe(); err != nil { // it will be counted when it is opened
					e.log.Warn("the next start will take longer", "error", err)
				}
			}
			e.failed = errors.Join(e.failed, e.store.lock.Close())
		}
	})
	return e.failed
}

// Flush makes all that is searchable durable. It returns when it is, or with
// what the file system says.
func (e *Engine) Flush(ctx context.Context) error {
	if e.store == nil {
		return nil
	}
	for {
		err := e.flushOnce(ctx)
		var d *damaged
		if !errors.As(err, &d) {
			return err
		}
		if _, aside := e.setAside(d); aside != nil {
			return errors.Join(err, aside)
		}
	}
}

func (e *Engine) flushOnce(ctx context.Context) error {
	if err := e.take(ctx, e.mem); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	defer func() { <-e.mem }()
	if err := e.flush(ctx); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// committed is what a crash would leave, and why no more, if writing failed.
func (e *Engine) committed() (generation uint64, at time.Time, failed error) {
	if e == nil || e.store == nil {
		return 0, time.Time{}, nil
	}
	e.store.mu.Lock()
	defer e.store.mu.Unlock()
	return e.store.committed, e.store.committedAt, e.store.failed
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
// The cost is that of the passages that changed: those of a Put whose text
// and headings the old document has too are kept with their new number,
// bytes and lines, and a Move touches no posting. Passages are analysed by
// Options.Threads goroutines.
//
// Errors: a change that does not set exactly one of its fields or has no
// path; ErrNotFound (wrapped) for a Move of a document that is not there;
// ErrStorage (wrapped) if as much waits to be written as may and cannot be;
// ErrClosed; the cause of ctx.
func (e *Engine) Apply(ctx context.Context, changes []Change) (generation uint64, err error) {
	e.applying.Add(1)
	defer e.applying.Add(-1)
	for {
		generation, err = e.apply(ctx, changes)
		var d *damaged
		if !errors.As(err, &d) {
			return generation, err
		}
		if _, aside := e.setAside(d); aside != nil {
			return 0, errors.Join(err, aside)
		}
	}
}

func (e *Engine) apply(ctx context.Context, changes []Change) (uint64, error) {
	if err := e.backpressure(ctx); err != nil {
		return 0, fmt.Errorf("apply changes: %w", err)
	}
	if err := e.take(ctx, e.writer); err != nil {
		return 0, fmt.Errorf("apply changes: %w", err)
	}
	defer func() { <-e.writer }()
	next, err := e.next(ctx, changes)
	if err != nil {
		return 0, err
	}
	if next != nil {
		e.current.Store(next)
		e.noteUpkeep(next, next.postings/4)
		signal(e.wakeMem)
		signal(e.latent.wake)
	}
	return e.Snapshot().generation, nil
}

// next makes the snapshot after the changes; nil if they change nothing.
func (e *Engine) next(ctx context.Context, changes []Change) (next *Snapshot, err error) {
	s := e.Snapshot()
	var p *plan
	if damage := guard(s.views, func() { p, err = newPlan(s, changes) }); damage != nil || err != nil {
		return nil, errors.Join(damage, err)
	}
	if err := e.prepare(ctx, p); err != nil {
		return nil, fmt.Errorf("apply changes: %w", err)
	}
	if p.idle() {
		return nil, nil
	}
	if damage := guard(s.views, func() { next = e.commit(p) }); damage != nil {
		return nil, damage
	}
	return next, nil
}

// noteUpkeep has the norms written again when more than some have changed.
func (e *Engine) noteUpkeep(s *Snapshot, some int64) {
	if d := &e.state.drift; e.store != nil && d.walked > some {
		d.walked = 0
		e.store.setNormsDue()
	}
}

// signal wakes a loop.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it is awake
	}
}

// backpressure makes room in memory: it merges and writes as the loops do, when
// they do not keep up.
func (e *Engine) backpressure(ctx context.Context) error {
	for s := e.Snapshot(); len(s.views)-s.memory() > maxViews; s = e.Snapshot() {
		if merged, err := e.mergeMemory(ctx); err != nil || !merged {
			return err
		}
	}
	if e.store == nil || e.Snapshot().memoryBytes() < e.opts.MemoryBudget/4 {
		return nil
	}
	err := e.Flush(ctx)
	switch {
	case err == nil || e.Snapshot().memoryBytes() < e.opts.MemoryBudget:
		return nil
	case ctx.Err() != nil || errors.Is(err, ErrClosed):
		return err
	}
	return fmt.Errorf("%w: %w", ErrStorage, err)
}
