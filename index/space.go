package index

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"quern/index/lsa"
	"quern/index/segment/vfs"
)

// space is the vectors of the passages. It never changes: extend returns another
// with more.
type space struct {
	embedding
	// blocks hold the vectors in the order of their passages' pids.
	blocks []*vectorBlock
	// frontier is above all pids that have been embedded.
	frontier uint64
}

// vectorBlock is the vectors of some passages, some of them dead by now.
type vectorBlock struct {
	pids []uint64 // ascending
	vec  *lsa.Vectors
	file *vfs.Mapping // that vec lies in; nil for one in memory
}

// embedBatch is how many passages are embedded at once: what is lost when a
// service fails.
const (
	localBatch  = 4096
	remoteBatch = 32
)

// lacking is how many passages of the snapshot have not been embedded; dead ones
// may be counted.
func (sp *space) lacking(s *Snapshot) (n int) {
	for i := range s.views {
		v := &s.views[i]
		n += v.Passages() - v.firstFrom(sp.frontier)
	}
	return n
}

// firstFrom is the number of the first passage whose pid is at least pid.
func (v *view) firstFrom(pid uint64) int {
	return sort.Search(v.Passages(), func(i int) bool { return v.PassageID(i) >= pid })
}

// extend embeds the snapshot's next passages: one batch. The same space comes back when
// none are left.
func (sp *space) extend(ctx context.Context, s *Snapshot) (*space, error) {
	batch := localBatch
	if !sp.local() {
		batch = remoteBatch
	}
	v, locals := sp.next(s, batch)
	if len(locals) == 0 {
		return sp, nil
	}
	vec, err := sp.passages(ctx, v, locals)
	if err != nil {
		return nil, err
	}
	b := &vectorBlock{vec: vec, pids: make([]uint64, len(locals))}
	for i, local := range locals {
		b.pids[i] = v.PassageID(local)
	}
	out := &space{sp.embedding, append(slices.Clip(sp.blocks), b), b.pids[len(b.pids)-1] + 1}
	out.tidy(s)
	return out, nil
}

// next finds the first live passages that have not been embedded, of one view.
func (sp *space) next(s *Snapshot, most int) (v *view, locals []int) {
	for i := range s.views {
		v = &s.views[i]
		for local := v.firstFrom(sp.frontier); local < v.Passages() && len(locals) < most; local++ {
			if !v.isDead(local) {
				locals = append(locals, local)
			}
		}
		if len(locals) > 0 {
			return v, locals
		}
	}
	return nil, nil
}

// tidy joins blocks in memory, as long as one is not much shorter than the one
// before it, without the passages that are dead: there are few blocks, and each
// passage is copied a few times.
func (sp *space) tidy(s *Snapshot) {
	for n := len(sp.blocks); n >= 2; n-- {
		a, b := sp.blocks[n-2], sp.blocks[n-1]
		if a.file != nil || len(a.pids) > 2*len(b.pids) || a.vec.Dimensions != b.vec.Dimensions {
			return
		}
		joined := &vectorBlock{vec: lsa.NewVectors(a.vec.Dimensions, 0)}
		joined.take(s, a)
		joined.take(s, b)
		sp.blocks = append(sp.blocks[:n-2], joined)
	}
}

// take appends the live passages of another block.
func (b *vectorBlock) take(s *Snapshot, other *vectorBlock) {
	for i, pid := range other.pids {
		if _, _, ok := s.livePassage(pid); ok {
			b.pids = append(b.pids, pid)
			b.vec.Append(other.vec, i)
		}
	}
}

// livePassage finds a passage by its pid, unless it is dead.
func (s *Snapshot) livePassage(pid uint64) (i, local int, ok bool) {
	i, local, ok = locate(s.views, pid)
	return i, local, ok && !s.views[i].isDead(local)
}

// cosine is the similarity of the passage to the query; 0 if it has no vector.
func (sp *space) cosine(q lsa.Query, pid uint64) float64 {
	n := sort.Search(len(sp.blocks), func(i int) bool {
		b := sp.blocks[i]
		return len(b.pids) > 0 && b.pids[len(b.pids)-1] >= pid
	})
	if n == len(sp.blocks) {
		return 0
	}
	b := sp.blocks[n]
	i, ok := slices.BinarySearch(b.pids, pid)
	if !ok {
		return 0
	}
	return b.vec.Score(q, i)
}

// near is a passage near to a query.
type near struct {
	pid    uint64
	cosine float64
}

// shareOf is how many passages a goroutine compares at least.
const shareOf = 16_384

// nearest returns the passages with the greatest cosines above 0 that admit
// takes, the nearest first; of equal ones those of lower pid. Goroutines share the
// passages if there are many; admit is called by one at a time.
func (sp *space) nearest(ctx context.Context, q lsa.Query, most, threads int, admit func(pid uint64) bool) ([]near, error) {
	runs := sp.runs()
	threads = max(1, min(threads, len(runs)*localBatch/shareOf))
	tops := make([]nearHeap, threads)
	var next atomic.Int64
	var mu sync.Mutex // of admit
	err := parallelGuarded(threads, sp, func(n int) {
		top := &tops[n]
		top.most = most
		for i := int(next.Add(1)) - 1; i < len(runs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			r := runs[i]
			r.vec.Scores(q, r.from, r.to, func(i int, cosine float64) {
				if cosine <= top.floor() {
					return
				}
				mu.Lock()
				admitted := admit(r.pids[i])
				mu.Unlock()
				if admitted {
					top.push(near{r.pids[i], cosine})
				}
			})
		}
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return joined(tops, most), nil
}

// joined is the nearest of all heaps, the nearest first.
func joined(tops []nearHeap, most int) []near {
	var all []near
	for i := range tops {
		all = append(all, tops[i].h...)
	}
	slices.SortFunc(all, func(a, b near) int {
		if a == b {
			return 0
		}
		if a.before(b) {
			return 1
		}
		return -1
	})
	return all[:min(most, len(all))]
}

// vectorRun is consecutive passages of a block.
type vectorRun struct {
	*vectorBlock
	from, to int
}

func (sp *space) runs() (out []vectorRun) {
	for _, b := range sp.blocks {
		for from := 0; from < len(b.pids); from += localBatch {
			out = append(out, vectorRun{b, from, min(from+localBatch, len(b.pids))})
		}
	}
	return out
}

// errUnreadable says that a mapped file of vectors could not be read.
var errUnreadable = errors.New("the file of vectors cannot be read")

// parallelGuarded calls f(0) to f(n-1) side by side and waits for them. What fails in one
// to be read, of the vectors or of the segments, fails here.
func parallelGuarded(n int, sp *space, f func(n int)) error {
	if n == 1 {
		f(0) // under the guards of the caller
		return nil
	}
	faults := make([]any, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() { faults[i] = recover() }()
			f(i)
		})
	}
	wg.Wait()
	for _, fault := range faults {
		if fault == nil {
			continue
		}
		if sp.holds(fault) {
			return errUnreadable
		}
		panic(fault)
	}
	return nil
}

// nearHeap keeps the nearest, the least of them at the root.
type nearHeap struct {
	most int
	h    []near
}

// floor is what a cosine must be above.
func (t *nearHeap) floor() float64 {
	if t.most <= 0 {
		return math.Inf(1)
	}
	if len(t.h) < t.most {
		return 0
	}
	return t.h[0].cosine
}

func (t *nearHeap) push(n near) {
	if len(t.h) == t.most {
		t.h[0] = n
		t.down()
		return
	}
	t.h = append(t.h, n)
	for i := len(t.h) - 1; i > 0 && t.h[i].before(t.h[(i-1)/2]); i = (i - 1) / 2 {
		t.h[i], t.h[(i-1)/2] = t.h[(i-1)/2], t.h[i]
	}
}

func (t *nearHeap) down() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.h) {
			return
		}
		if child+1 < len(t.h) && t.h[child+1].before(t.h[child]) {
			child++
		}
		if !t.h[child].before(t.h[i]) {
			return
		}
		t.h[i], t.h[child] = t.h[child], t.h[i]
		i = child
	}
}

// before says that n is the less near of two.
func (n near) before(m near) bool {
	if n.cosine != m.cosine {
		return n.cosine < m.cosine
	}
	return n.pid > m.pid
}

// guarded calls f, which reads vectors, and reports whether a mapped file of the
// space could not be read.
func (sp *space) guarded(f func()) (failed bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if failed = sp.holds(p); !failed {
				panic(p)
			}
		}
	}()
	f()
	return false
}

// holds reports whether a fault's address lies in a mapped file of the space.
func (sp *space) holds(fault any) bool {
	at, ok := fault.(interface{ Addr() uintptr })
	if !ok {
		return false
	}
	for _, b := range sp.blocks {
		if b.file != nil && contains(b.file.Data, at.Addr()) {
			return true
		}
	}
	return false
}
