package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"quern/index/lsa"
)

// latent keeps the vectors of the passages up to date, once anybody asks for
// them: it learns a model, embeds new passages, and learns anew when the
// passages are no longer those it learned from.
type latent struct {
	engine *Engine

	wake   chan struct{}
	wanted atomic.Bool
	// ready is closed when there are vectors, or there is a reason why not.
	ready     chan struct{}
	readyOnce sync.Once

	// current is nil before there are vectors, and when those there were have been
	// dropped.
	current  atomic.Pointer[space]
	mu       sync.Mutex // held by who replaces current; guards embedder
	embedder Embedder   // nil: vectors are learned
	failure  atomic.Pointer[error]
	// spared is set when a service has failed a query.
	spared atomic.Pointer[sparing]

	// The loop's own.
	learnedTo uint64    // frontier of the passages that were learned from
	rested    time.Time // before then nothing is learned again
	saved     int       // passages in the file
	purged    time.Time // when the model's terms were last looked through
}

func newLatent(e *Engine, o Options) *latent {
	return &latent{engine: e, embedder: o.Embedder, wake: make(chan struct{}, 1), ready: make(chan struct{})}
}

// EmbeddingStats say how the vectors of hybrid ranking stand.
type EmbeddingStats struct {
	// Wanted says that anybody has asked for them.
	Wanted bool
	// Name of what makes them, "" before there are any; Dimensions of a vector.
	Name       string
	Dimensions int
	// Embedded is how many passages have been embedded, Lacking how many have
	// not.
	Embedded, Lacking int
	// Learned is how many passages the index had when the model was learned.
	Learned int
	// Err is why there are none, or no new ones.
	Err error
}

// WantEmbedding has vectors made from now on. It returns at once.
func (e *Engine) WantEmbedding() {
	if !e.latent.wanted.Swap(true) {
		signal(e.latent.wake)
	}
}

// SetEmbedder has vectors made by another embedder from now on, nil: learned from
// the index. Those there were are dropped unless they are of the same name.
func (e *Engine) SetEmbedder(embedder Embedder) {
	l := e.latent
	l.mu.Lock()
	l.embedder = embedder
	if sp := l.current.Load(); sp != nil && sp.name() != l.nameWanted(sp) {
		l.current.Store(nil)
	}
	l.mu.Unlock()
	l.failure.Store(nil)
	l.spared.Store(nil)
	signal(l.wake)
}

// nameWanted is the name that the vectors of sp need to be of use. The caller holds
// l.mu.
func (l *latent) nameWanted(sp *space) string {
	if l.embedder != nil {
		return remote{l.embedder}.name()
	}
	if _, ok := sp.embedding.(*learned); ok {
		return sp.name()
	}
	return ""
}

// Embedding says how the vectors stand.
func (e *Engine) Embedding() EmbeddingStats {
	l := e.latent
	st := EmbeddingStats{Wanted: l.wanted.Load()}
	if err := l.failure.Load(); err != nil {
		st.Err = *err
	}
	sp := l.current.Load()
	if sp == nil {
		return st
	}
	st.Name = sp.name()
	st.Lacking = sp.lacking(e.Snapshot())
	for _, b := range sp.blocks {
		st.Embedded += len(b.pids)
		st.Dimensions = b.vec.Dimensions
	}
	if own, ok := sp.embedding.(*learned); ok {
		st.Learned = own.model.Passages()
	}
	return st
}

// Times of latentLoop.
const (
	// relearnRest is how much longer than learning takes nothing is learned after it.
	relearnRest = 20
	// embedRetry is how long a service that fails is left alone; it doubles up to
	// longestPause.
	embedRetry = time.Second
)

// latentLoop makes vectors as passages come. It ends when the engine closes.
func (e *Engine) latentLoop() {
	l := e.latent
	pause := embedRetry
	var again <-chan time.Time
	for {
		select {
		case <-e.closing.Done():
			return
		case <-l.wake:
		case <-again:
		}
		again = nil
		if !l.wanted.Load() {
			continue
		}
		wait, err := l.catchUp(e.closing)
		l.note(err)
		switch {
		case e.closing.Err() != nil:
			return
		case errors.Is(err, lsa.ErrTooSmall): // until more passages come
			wait = 0
		case err != nil:
			e.log.Warn("vectors could not be made", "error", err)
			wait, pause = pause, min(2*pause, longestPause)
		default:
			pause = embedRetry
		}
		if wait > 0 {
			again = time.After(wait)
		}
	}
}

// note keeps the reason why there are no new vectors, and lets go who waits.
func (l *latent) note(err error) {
	if err == nil {
		l.failure.Store(nil)
	} else {
		l.failure.Store(&err)
	}
	l.readyOnce.Do(func() { close(l.ready) })
}

// catchUp brings the vectors up to date, and says after what time to look again; 0
// is when something changes.
func (l *latent) catchUp(ctx context.Context) (again time.Duration, err error) {
	if err := l.begin(ctx); err != nil {
		return 0, err
	}
	if err := l.embedAll(ctx); err != nil {
		return 0, err
	}
	sp := l.current.Load()
	if sp == nil {
		return time.Millisecond, nil // dropped meanwhile
	}
	if model := sp.model(); model != nil {
		if again, err = l.relearn(ctx, model); err != nil {
			return 0, err
		}
		l.purge(model)
		again = sooner(again, time.Until(l.purged.Add(l.engine.opts.PurgeAfter/2)))
	}
	if sp = l.current.Load(); sp == nil {
		return time.Millisecond, nil
	}
	if err := l.save(ctx, sp); err != nil && ctx.Err() == nil {
		l.engine.log.Warn("vectors could not be written", "error", err)
	}
	return again, nil
}

// sooner is the shorter of two waits; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if b = max(b, time.Millisecond); a == 0 {
		return b
	}
	return min(a, b)
}

// model is what the space was learned with; nil if it was not.
func (sp *space) model() *lsa.Model {
	if own, ok := sp.embedding.(*learned); ok {
		return own.model
	}
	return nil
}

// begin opens the file of vectors, or makes the first.
func (l *latent) begin(ctx context.Context) error {
	if l.current.Load() != nil {
		return nil
	}
	l.mu.Lock()
	embedder := l.embedder
	l.mu.Unlock()
	sp, err := l.open(embedder)
	if err != nil {
		l.engine.log.Info("vectors are made anew", "reason", err)
	}
	if sp == nil && embedder != nil {
		l.saved = 0
		sp = &space{embedding: remote{embedder}}
	}
	if sp == nil {
		if sp, err = l.learn(ctx); err != nil {
			return err
		}
	}
	l.replace(nil, sp)
	return nil
}

// replace makes next the vectors in use, unless others than old have been meanwhile, or
// next is no longer of use.
func (l *latent) replace(old, next *space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if next.name() == l.nameWanted(next) {
		l.current.CompareAndSwap(old, next)
	}
}

// embedAll embeds what is lacking, batch by batch.
func (l *latent) embedAll(ctx context.Context) error {
	for {
		more, err := l.embedSome(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// embedSome embeds one batch.
func (l *latent) embedSome(ctx context.Context) (more bool, err error) {
	sp := l.current.Load()
	if sp == nil {
		return false, nil
	}
	next, err := l.extend(ctx, sp)
	if err != nil || next == sp {
		return false, err
	}
	l.replace(sp, next) // or another was quicker
	if !sp.local() {
		l.note(nil)
	}
	return true, nil
}

func (l *latent) extend(ctx context.Context, sp *space) (next *space, err error) {
	s := l.engine.Snapshot()
	if damage := guard(s.views, func() { next, err = sp.extend(ctx, s) }); damage != nil {
		_, aside := l.engine.setAside(damage.(*damaged))
		return nil, errors.Join(damage, aside)
	}
	return next, err
}

// relearn learns anew when the passages have changed much, and says when it may
// if it is too soon.
func (l *latent) relearn(ctx context.Context, model *lsa.Model) (again time.Duration, err error) {
	if !l.drifted(l.engine.Snapshot(), model) {
		return 0, nil
	}
	if wait := time.Until(l.rested); wait > 0 {
		return wait, nil
	}
	sp, err := l.learn(ctx)
	if errors.Is(err, lsa.ErrTooSmall) {
		return 0, nil // the old model serves
	}
	if err != nil {
		return 0, err
	}
	for { // embed all that there is before it is used
		next, err := l.extend(ctx, sp)
		if err != nil {
			return 0, err
		}
		if next == sp {
			break
		}
		sp = next
	}
	l.swap(sp)
	return 0, l.embedAll(ctx)
}

// swap is replace, whatever is in use.
func (l *latent) swap(next *space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if next.name() == l.nameWanted(next) {
		l.current.Store(next)
		l.saved = 0
	}
}

// drifted reports whether more than a fifth of the passages are other than those
// that were learned from.
func (l *latent) drifted(s *Snapshot, model *lsa.Model) bool {
	before := model.Passages()
	born := 0
	for i := range s.views {
		born += s.views[i].Passages() - s.views[i].firstFrom(l.learnedTo)
	}
	died := max(0, before+born-s.passages)
	return 5*(born+died) > before
}

// learn learns a model from the passages of the moment.
func (l *latent) learn(ctx context.Context) (*space, error) {
	s := l.engine.Snapshot()
	start := time.Now()
	var sample *lsa.Sample
	if damage := guard(s.views, func() { sample = s.sample() }); damage != nil {
		_, aside := l.engine.setAside(damage.(*damaged))
		return nil, errors.Join(damage, aside)
	}
	model, err := lsa.Fit(ctx, sample, lsa.DefaultOptions)
	if err != nil {
		return nil, fmt.Errorf("learn vectors: %w", err)
	}
	l.learnedTo, l.purged, l.saved = s.frontier(), time.Now(), 0
	l.rested = time.Now().Add(relearnRest * time.Since(start))
	id := fmt.Sprintf("lsa:%d:%d", s.generation, start.UnixNano())
	l.engine.log.Debug("learned vectors", "passages", sample.Rows(), "terms", len(model.Terms()), "dimensions", model.Rank(), "took", time.Since(start))
	return &space{embedding: &learned{model, id}}, nil
}

// frontier is above all pids.
func (s *Snapshot) frontier() uint64 {
	for i := len(s.views) - 1; i >= 0; i-- {
		if n := s.views[i].Passages(); n > 0 {
			return s.views[i].PassageID(n-1) + 1
		}
	}
	return 0
}

// purge takes the terms out of the model that no passage has any more: the words of
// a deleted document do not stay on disk.
func (l *latent) purge(old *lsa.Model) {
	if time.Since(l.purged) < l.engine.opts.PurgeAfter/2 {
		return
	}
	l.purged = time.Now()
	s := l.engine.Snapshot()
	model := old.Keep(func(term string) bool { return s.DF(term) > 0 })
	if len(model.Terms()) == len(old.Terms()) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.current.Load(); now != nil && now.model() == old {
		l.current.Store(&space{&learned{model, now.name()}, now.blocks, now.frontier})
		l.saved = 0
	}
}

// catchable is how many passages a query embeds itself rather than to do without
// them.
const catchable = 1000

// ask returns the vectors to search with, nil for none: those of the last changes are
// there, if there are few. It waits for the first as long as ctx allows.
func (l *latent) ask(ctx context.Context) *space {
	l.engine.WantEmbedding()
	if l.current.Load() == nil {
		select {
		case <-l.ready:
		case <-ctx.Done():
		}
	}
	sp := l.current.Load()
	for sp != nil && sp.local() {
		if n := sp.lacking(l.engine.Snapshot()); n == 0 || n > catchable {
			break
		}
		if more, err := l.embedSome(ctx); err != nil || !more {
			break
		}
		sp = l.current.Load()
	}
	return sp
}

// spare is how long a service that failed a query is not asked another: queries are
// answered at once meanwhile.
const spare = 10 * time.Second

type sparing struct {
	err error
	at  time.Time
}

// vectorOf is the vector of a query.
func (l *latent) vectorOf(ctx context.Context, sp *space, text string, terms []lsa.Term) ([]float32, error) {
	if sp.local() {
		return sp.embedding.query(ctx, text, terms)
	}
	if f := l.spared.Load(); f != nil && time.Since(f.at) < spare {
		return nil, f.err
	}
	vector, err := sp.embedding.query(ctx, text, terms)
	if err != nil && ctx.Err() != context.Canceled {
		l.spared.Store(&sparing{err, time.Now()})
	}
	return vector, err
}

// forget drops vectors that can no longer be read; others are made.
func (l *latent) forget(sp *space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current.CompareAndSwap(sp, nil) {
		signal(l.wake)
	}
}
