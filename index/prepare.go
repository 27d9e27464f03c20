package index

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"

	"github.com/zeebo/xxh3"
)

const (
	// partPassages is how many new passages go into one segment at most.
	partPassages = 8192
	// smallPart is how many are not worth a goroutine.
	smallPart = 64
)

// part is a run of new passages and the segment made of them.
type part struct {
	jobs []job
	built
}

// job is a new passage: number n of a target.
type job struct {
	t *target
	n int
}

// prepare cuts the new contents into passages, finds those that can be kept
// and analyses the others. It only reads the index.
func (e *Engine) prepare(ctx context.Context, p *plan) error {
	var targets []*target
	p.each(func(t *target) { targets = append(targets, t) })
	err := parallel(ctx, e.opts.Threads, len(targets), func(i int) error {
		t := targets[i]
		if t.content != nil {
			t.passages = e.split(t.content)
			t.fresh = keep(t, p.old(t))
		}
		p.finish(t)
		return nil
	})
	if err != nil {
		return err
	}
	p.parts = partition(targets, e.opts.Threads)
	return parallel(ctx, e.opts.Threads, len(p.parts), func(i int) error {
		b, err := e.analyse(ctx, p.parts[i].jobs)
		p.parts[i].built = b
		return err
	})
}

// parallel calls f(0) … f(n-1) from several goroutines, all of which end
// before it returns, and returns the first error or the cause of ctx.
func parallel(ctx context.Context, threads, n int, f func(int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			if err := f(i); err != nil {
				stop(err)
			}
		}
	}
	if n <= 1 || threads <= 1 {
		work()
		return context.Cause(ctx)
	}
	var wg sync.WaitGroup
	for range min(threads, n) {
		wg.Go(work)
	}
	wg.Wait()
	return context.Cause(ctx)
}

// split cuts a document into places, without pids.
func (e *Engine) split(d *extract.Document) []place {
	passages := chunk.Split(d, e.opts.Chunk)
	out := make([]place, len(passages))
	for i, c := range passages {
		out[i] = place{
			start: c.Start, end: c.End, first: c.FirstLine, last: c.LastLine,
			heading: c.Heading, own: c.HeadingOnly,
		}
		out[i].hash = out[i].sum(d.Text)
	}
	return out
}

// sum hashes all that the passage's terms come from.
func (a *place) sum(text []byte) uint64 {
	h := xxh3.Hash(text[a.start:a.end])
	for _, heading := range a.heading {
		h = h*0x9e3779b97f4a7c15 + xxh3.HashString(heading) + 1
	}
	if a.own {
		h++
	}
	return h
}

// sameTerms reports whether two passages must have the same terms.
func (a *place) sameTerms(text []byte, b *place, other []byte) bool {
	return a.hash == b.hash && a.own == b.own && slices.Equal(a.heading, b.heading) &&
		bytes.Equal(text[a.start:a.end], other[b.start:b.end])
}

// keep gives the target's passages the pids of equal passages of the old
// document, each of which serves once, and returns those that found none.
func keep(t *target, old *document) (fresh []int) {
	byHash := make(map[uint64][]*place)
	if old != nil {
		for i := range old.passages {
			o := &old.passages[i]
			byHash[o.hash] = append(byHash[o.hash], o)
		}
	}
	for i := range t.passages {
		p := &t.passages[i]
		waiting := byHash[p.hash]
		if len(waiting) == 0 || !p.sameTerms(t.content.Text, waiting[0], old.text) {
			fresh = append(fresh, i)
			continue
		}
		p.pid = waiting[0].pid
		byHash[p.hash] = waiting[1:]
	}
	return fresh
}

// partition shares out the new passages, in order.
func partition(targets []*target, threads int) []part {
	var jobs []job
	for _, t := range targets {
		for _, n := range t.fresh {
			jobs = append(jobs, job{t, n})
		}
	}
	size := min(max(smallPart, (len(jobs)+threads-1)/threads), partPassages)
	var parts []part
	for run := range slices.Chunk(jobs, size) {
		parts = append(parts, part{jobs: run})
	}
	return parts
}

// analyse makes a segment of new passages.
func (e *Engine) analyse(ctx context.Context, jobs []job) (built, error) {
	b := newBuilder()
	count := func(t analysis.Token) bool {
		b.add(t.Term)
		return true
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			return built{}, context.Cause(ctx)
		}
		b.begin()
		p := j.t.passages[j.n]
		e.analyzer.Tokens(j.t.content.Text[p.start:p.end], count)
		if e.opts.HeadingTerms {
			e.countHeadings(p, count)
		}
	}
	return b.build(), nil
}

// countHeadings counts the words of the passage's heading path, each once for
// each time it stands there. A passage that is itself the heading line has
// its own heading's words already.
func (e *Engine) countHeadings(p place, count func(analysis.Token) bool) {
	path := p.heading
	if p.own {
		path = path[:len(path)-1]
	}
	for _, heading := range path {
		e.analyzer.Tokens([]byte(heading), count)
	}
}
