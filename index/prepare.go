package index

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
	"quern/index/segment"

	"github.com/zeebo/xxh3"
)

const (
	// partPassages is how many new passages go into one segment at most.
	partPassages = 8192
	// smallPart is how many are not worth a goroutine.
	smallPart = 64
)

// part is a run of new passages, with the records of documents, and the
// segment made of them.
type part struct {
	jobs    []job
	records []*target
	first   uint64 // lower bound of the passages' pids
	seg     *seg
}

// job is a new passage: number n of a target.
type job struct {
	t *target
	n int
}

// prepare cuts the new contents into passages, finds those that can be kept,
// and makes segments of the others. It only reads the index; what numbers it
// takes it gives back if it fails.
func (e *Engine) prepare(ctx context.Context, p *plan) error {
	var targets []*target
	p.each(func(t *target) { targets = append(targets, t) })
	err := parallel(ctx, e.opts.Run, e.opts.Threads, len(targets), func(i int) error {
		t := targets[i]
		if t.content != nil {
			t.places = e.split(t.content)
			if err := guard(p.base.views, func() { t.fresh = p.base.keep(t) }); err != nil {
				return err
			}
		}
		t.finish()
		return nil
	})
	if err != nil {
		return err
	}
	targets = slices.DeleteFunc(targets, func(t *target) bool {
		t.unchanged = t.same()
		return t.unchanged
	})
	p.parts = e.partition(targets)
	err = parallel(ctx, e.opts.Run, e.opts.Threads, len(p.parts), func(i int) error {
		err := error(nil)
		if damage := guard(p.base.views, func() { err = e.analyse(ctx, p.base, &p.parts[i]) }); damage != nil {
			return damage
		}
		return err
	})
	e.state.numbers.settle(err == nil)
	if err != nil {
		e.giveBack(targets)
	}
	return err
}

// giveBack frees the slots of documents that are not to be.
func (e *Engine) giveBack(targets []*target) {
	for _, t := range targets {
		if t.old == nil {
			e.state.freeSlots = append(e.state.freeSlots, t.slot)
		}
	}
}

// parallel calls f(0) … f(n-1) from several goroutines, of which run does the work
// and all of which end before it returns, and returns the first error or the cause of ctx.
func parallel(ctx context.Context, run func(func()), threads, n int, f func(int) error) error {
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
		wg.Go(func() { run(work) })
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
			heading: c.Heading, own: c.HeadingOnly, page: c.Page,
		}
		out[i].hash = out[i].sum(d)
	}
	return out
}

// sum hashes all that the passage's terms come from.
func (a *place) sum(d *extract.Document) uint64 {
	h := xxh3.Hash(d.Text[a.start:a.end])
	for _, heading := range a.heading {
		h = h*0x9e3779b97f4a7c15 + xxh3.HashString(heading) + 1
	}
	if a.own {
		h++
	}
	if isCode(d.Type) {
		h += 2
	}
	return h
}

// keep gives the target's passages the pids of equal passages of the old
// document, each of which serves once, and returns those that found none. A
// hash finds them, the text itself proves them equal.
func (s *Snapshot) keep(t *target) (fresh []int) {
	byHash := make(map[uint64][]int)
	if t.old != nil {
		for n := range t.old.places {
			v, local := s.locate(t.old, n)
			hash, err := v.PassageHash(local)
			v.must(err)
			byHash[hash] = append(byHash[hash], n)
		}
	}
	var buf segment.TextBuffer
	for i := range t.places {
		p := &t.places[i]
		waiting := byHash[p.hash]
		if len(waiting) == 0 || !s.sameTerms(t, p, waiting[0], &buf) {
			fresh = append(fresh, i)
			continue
		}
		p.pid = t.old.places[waiting[0]].pid
		byHash[p.hash] = waiting[1:]
	}
	return fresh
}

// sameTerms reports whether a place of the target and place n of its old
// document must have the same terms and show the same text.
func (s *Snapshot) sameTerms(t *target, p *place, n int, buf *segment.TextBuffer) bool {
	old := &t.old.places[n]
	if p.own != old.own || !slices.Equal(p.heading, old.heading) || isCode(t.old.info.Type) != isCode(t.content.Type) {
		return false
	}
	v, local := s.locate(t.old, n)
	return bytes.Equal(shown(t.content.Text[p.start:p.end]), v.text(local, buf))
}

// partition shares out the new passages, in order, and numbers them. The last
// part holds the records.
func (e *Engine) partition(targets []*target) []part {
	var jobs []job
	for _, t := range targets {
		if t.old == nil {
			t.slot = e.state.takeSlot()
		} else {
			t.slot = t.old.slot
		}
		for _, n := range t.fresh {
			jobs = append(jobs, job{t, n})
		}
	}
	size := min(max(smallPart, (len(jobs)+e.opts.Threads-1)/e.opts.Threads), partPassages)
	var parts []part
	for run := range slices.Chunk(jobs, size) {
		parts = append(parts, part{jobs: run, first: e.state.nextPID})
		for _, j := range run {
			j.t.places[j.n].pid = e.state.nextPID
			e.state.nextPID++
		}
	}
	if len(parts) == 0 && len(targets) > 0 {
		parts = []part{{first: e.state.nextPID}}
	}
	if len(parts) > 0 {
		parts[len(parts)-1].records = targets
	}
	return parts
}

// builder is a segment.Builder with what it takes to feed it. Most words of a
// batch have been in the one before: it keeps what it found out about terms.
type builder struct {
	segment.Builder
	memos map[*analysis.Analyzer]*analysis.Memo // by the analyzer of a kind of texts
	gids  []uint32                              // by provisional number of a term; noGID if not known
	epoch uint64                                // of the numbering that gids are of
	out   bytes.Buffer
}

const (
	noGID = 1<<32 - 1
	// keptTerms is about how many terms a builder keeps.
	keptTerms = 1 << 16
)

// next makes the builder ready for the next segment. It lets go of all
// documents.
func (b *builder) next() {
	b.out.Reset()
	if b.Terms() < keptTerms {
		b.Next()
		return
	}
	b.Reset()
	b.memos = nil
	b.gids = b.gids[:0]
}

// builders are kept from one batch to the next by the engine. What no batch
// takes for a while is left to the garbage collector.
func (e *Engine) takeBuilder() *builder {
	b, ok := e.builders.Get().(*builder)
	if !ok {
		return &builder{epoch: e.state.numbers.epoch}
	}
	if b.epoch != e.state.numbers.epoch {
		b.epoch, b.gids = e.state.numbers.epoch, b.gids[:0]
	}
	return b
}

// gid gives the gid of a term of the builder.
func (b *builder) gid(n *numbering, base *Snapshot, number uint32, term string, hash uint64) uint32 {
	for len(b.gids) < b.Terms() {
		b.gids = append(b.gids, noGID)
	}
	g := &b.gids[number]
	if *g == noGID {
		*g = n.of(base, term, hash)
	}
	return *g
}

// analyse makes the segment of a part.
func (e *Engine) analyse(ctx context.Context, base *Snapshot, p *part) error {
	b := e.takeBuilder()
	for _, j := range p.jobs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e.addPassage(b, j)
	}
	for _, t := range p.records {
		b.AddDocument(uint64(t.slot), t.path, encodeRecord(&t.info, t.places))
	}
	err := b.Write(&b.out, segment.WriteOptions{
		// What is many will be written to disk soon: merging copies the text
		// as it is packed here.
		Compress: e.store != nil && len(p.jobs) >= bulkSegment,
		GID: func(number uint32, term string, hash uint64) uint32 {
			return b.gid(&e.state.numbers, base, number, term, hash)
		},
	})
	if err != nil {
		return err
	}
	p.seg, err = memorySegment(bytes.Clone(b.out.Bytes())) // without the room to grow
	b.next()
	e.builders.Put(b)
	return err
}

func (e *Engine) addPassage(b *builder, j job) {
	a := &j.t.places[j.n]
	text := j.t.content.Text[a.start:a.end]
	e.addTerms(b, j.t.content.Type, text, a)
	b.EndPassage(segment.Passage{ID: a.pid, Doc: uint64(j.t.slot), Hash: a.hash, Text: shown(text)})
}

// shown is extract.Decode, without copying what it would not change.
func shown(text []byte) []byte {
	if utf8.Valid(text) && bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return []byte(extract.Decode(text))
}

// addTerms adds the terms of a passage: of its text and, if they count, of its
// heading path, each heading once for each time it stands there. A passage that
// is itself the heading line has its own heading's words already.
func (e *Engine) addTerms(b *builder, kind string, text []byte, a *place) {
	analyzer := e.analyzer.Of(text, isCode(kind))
	b.add(analyzer, text)
	if !e.opts.HeadingTerms {
		return
	}
	path := a.heading
	if a.own {
		path = path[:len(path)-1]
	}
	for _, heading := range path {
		b.add(analyzer, []byte(heading))
	}
}

// add adds the terms of a text.
func (b *builder) add(a *analysis.Analyzer, text []byte) {
	memo := b.memos[a]
	if memo == nil {
		if b.memos == nil {
			b.memos = make(map[*analysis.Analyzer]*analysis.Memo)
		}
		memo = new(analysis.Memo)
		b.memos[a] = memo
	}
	a.Numbers(text, b, memo)
}
