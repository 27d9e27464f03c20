package sandbox

import (
	"context"
	"sync"
	"time"

	"quern/index/extract"
)

const (
	// workerFiles is how many files a worker serves, and workerTime how long it may
	// have worked, before another takes its place: what a library leaks ends with it.
	workerFiles = 500
	workerTime  = time.Minute
)

// pool keeps workers of one kind.
type pool struct {
	s     *Sandbox
	kind  kind
	slots chan struct{}
	first sync.Mutex // held while a worker starts: the first may have to compile

	mu   sync.Mutex // guards idle
	idle []*worker
}

func newPool(s *Sandbox, k kind) *pool {
	return &pool{s: s, kind: k, slots: make(chan struct{}, s.opts.Workers)}
}

// extract has a worker read a file, once.
func (p *pool) extract(ctx context.Context, name string, data []byte) (*extract.Document, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.slots }()
	w, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	doc, err, fit := w.extract(ctx, name, data)
	p.put(w, fit)
	return doc, err
}

// extractFresh has a worker of its own read a file. With a *Broken error, the
// document is what had been found, or nil.
func (p *pool) extractFresh(ctx context.Context, name string, data []byte) (*extract.Document, error) {
	w, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer w.end()
	doc, err, _ := w.extract(ctx, name, data)
	return doc, err
}

func (p *pool) take(ctx context.Context) (*worker, error) {
	p.mu.Lock()
	for n := len(p.idle); n > 0; n = len(p.idle) {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if w.wake() {
			p.mu.Unlock()
			return w, nil
		}
	}
	p.mu.Unlock()
	return p.start(ctx)
}

func (p *pool) start(ctx context.Context) (*worker, error) {
	p.first.Lock()
	defer p.first.Unlock()
	return p.s.start(ctx, p.kind)
}

// put keeps a worker for the next file if it is fit for one.
func (p *pool) put(w *worker, fit bool) {
	if !fit || w.files >= workerFiles || w.busy >= workerTime || p.s.isClosed() {
		w.end()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w.sleep(p.s.opts.Idle)
	p.idle = append(p.idle, w)
}
