package index

import (
	"context"
	"fmt"
	"math"

	"quern/index/rank"
)

// Search answers a query: the K best passages after Offset, by score
// descending, then path, then passage number. The words of the query are
// those that the analyzer finds in its text; a term that no passage contains
// counts for nothing, and a query without any other finds nothing.
//
// Errors: options that make no sense; the cause of ctx, which is looked at
// during all long work.
func (s *Snapshot) Search(ctx context.Context, text string, o SearchOptions) (res *Result, err error) {
	err = s.read(func(s *Snapshot) error {
		res, err = s.search(ctx, text, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return res, nil
}

func (s *Snapshot) search(ctx context.Context, text string, o SearchOptions) (*Result, error) {
	if o.Model == Hybrid {
		return s.searchHybrid(ctx, text, o)
	}
	q, err := s.newQuery(ctx, text, o)
	if err != nil {
		return nil, err
	}
	if q.best {
		return s.best(ctx, q, o)
	}
	r, found, err := s.rank(ctx, q, o)
	if err != nil {
		return nil, err
	}
	hits := r.hits(found)
	r.scratch.release()
	res := &Result{Generation: s.generation, Passages: s.passages, Hits: hits}
	res.Total, res.TotalAtLeast = r.count()
	return res, nil
}

// rank finds the passages wanted, best first. The caller releases the run's
// scratch.
func (s *Snapshot) rank(ctx context.Context, q *query, o SearchOptions) (*run, []found, error) {
	r := newRun(ctx, s, q, o)
	if err := r.gather(); err != nil {
		return nil, nil, err
	}
	found, err := r.choose()
	return r, found, err
}

// run is one search under way. It goes through the postings of each segment, or
// those that may matter (prune.go), which bounds the passages' scores; of those
// passages that may be among the best it computes the scores exactly.
type run struct {
	*scratch
	ctx    context.Context
	s      *Snapshot
	q      *query
	o      SearchOptions
	limit  int         // Offset + K, and no more than there can be hits
	wanted [][]present // by view

	floor      *rank.Floor
	candidates []candidate
	total      int // hits seen

	pruning    bool
	partial    bool // there may be hits that were not seen
	outOfOrder bool // some sums were not added up in the order of the terms
	visited    int  // postings decoded
}

// candidate is a passage whose score may be among the best.
type candidate struct {
	upper       float64 // no less than its score; for BM25 without run.outOfOrder, its score
	view, local uint32
}

func newRun(ctx context.Context, s *Snapshot, q *query, o SearchOptions) *run {
	limit := 0
	if o.K > 0 {
		limit = min(o.K, s.passages) + min(max(o.Offset, 0), s.passages)
	}
	r := &run{scratch: takeScratch(s), ctx: ctx, s: s, q: q, o: o, limit: limit}
	r.pruning = r.prunes()
	r.floor = rank.NewFloor(limit, !o.CollapseDocument)
	r.wanted = make([][]present, len(s.views))
	return r
}

// gather finds the candidates and counts the hits.
func (r *run) gather() error {
	if r.o.Keep != nil || r.o.CollapseDocument {
		r.resetStates(r.s.slots)
	}
	if r.q.model == BM25 {
		r.resetLengths()
	}
	sparse, sum, most := make([]bool, len(r.s.views)), 0, 0
	for i := range r.s.views {
		r.wanted[i] = r.q.in(i)
		blocks := r.s.views[i].blocks()
		if sparse[i] = r.anyFrequent(i); sparse[i] {
			sum += blocks
		} else {
			most = max(most, blocks)
		}
	}
	r.reserve(sum + most)
	var some []*pruned
	for i := range r.s.views {
		if !sparse[i] {
			if err := r.visitAll(i); err != nil {
				return err
			}
			continue
		}
		p, err := r.split(i)
		if err != nil {
			return err
		}
		some = append(some, p)
	}
	return r.prune(some)
}

// visitAll offers all passages of a view.
func (r *run) visitAll(i int) error {
	v := &r.s.views[i]
	taken := r.taken
	x := r.take(v.Passages())
	for n, w := range r.wanted[i] {
		if n%16 == 0 && r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		r.accumulate(&x, v, w)
	}
	r.sweep(&x, uint32(i), v)
	r.taken = taken
	return context.Cause(r.ctx)
}

// count gives the number of hits; atLeast says that there may be more.
func (r *run) count() (n int, atLeast bool) {
	if !r.partial {
		return r.total, false
	}
	n = r.total
	if r.o.Keep == nil && !r.o.CollapseDocument {
		for i := range r.q.terms { // whatever has a term is a hit
			n = max(n, r.q.terms[i].df)
		}
		return n, len(r.q.terms) > 1
	}
	return n, true
}

// accumulate adds a term's part to the sum of every passage that has it: for
// BM25 the contribution itself, for the cosine what is to be divided by the
// passage's norm.
func (r *run) accumulate(x *window, v *view, w present) {
	t := &r.q.terms[w.term]
	list := &r.list
	v.read(int(w.rank), list)
	factor := r.q.factor(t)
	for list.Next() {
		r.addPostings(x, v, t, factor, list.Docs, list.TFs)
	}
	r.visited += list.Decoded
	v.must(list.Err())
}

func (r *run) addPostings(x *window, v *view, t *queryTerm, factor float64, ids, tfs []uint32) {
	switch {
	case r.q.model == BM25:
		for i, p := range ids {
			length := r.lengthNorm(r.q, v.PassageLength(int(p)))
			x.sums[p] += rank.BM25(float64(t.tf), t.idf, float64(tfs[i]), length)
		}
	case r.q.raw:
		for i, p := range ids {
			x.sums[p] += factor * rank.RawTF(tfs[i])
		}
	default:
		for i, p := range ids {
			x.sums[p] += factor * rank.LogTF(tfs[i])
		}
	}
	for _, p := range ids {
		x.dirty[p>>6] |= 1 << (p & 63)
	}
}

// roundingSlack is more than all roundings can add up to, in bounds and in
// reference norms that were corrected many times.
const roundingSlack = 1e-6

// bounds returns what the passage's score lies between. The norms kept are
// those of logarithmic weights. A raw tf is never less than its logarithmic
// weight, so neither are raw norms, and they have no other bound.
func (r *run) bounds(v *view, local int, sum float64) (lower, upper float64) {
	if r.q.model == BM25 {
		if r.outOfOrder {
			return sum * (1 - roundingSlack), sum * (1 + roundingSlack)
		}
		return sum, sum
	}
	norm := math.Sqrt(v.norms.at(local))
	slack := r.s.drift * float64(v.Root(local))
	if norm <= slack {
		return 0, math.Inf(1)
	}
	if !r.q.raw {
		lower = sum / (norm + slack) * (1 - roundingSlack)
	}
	return lower, sum / (norm - slack) * (1 + roundingSlack)
}

// offer takes a passage that may be found.
func (r *run) offer(i uint32, v *view, local int, sum float64) {
	lower, upper := r.bounds(v, local, sum)
	if upper < r.floor.Value() {
		return
	}
	owner := int32(len(r.candidates)) // each its own, if hits are not collapsed
	if r.o.CollapseDocument {
		owner = int32(v.PassageDoc(local))
	}
	r.candidates = append(r.candidates, candidate{upper, i, uint32(local)})
	r.floor.Raise(owner, lower)
}

// admit reports whether the document may be found; it counts the documents
// that may.
func (r *run) admit(v *view, doc uint32) bool {
	state := &r.states[doc]
	if *state == unseen {
		*state = admitted
		if r.o.Keep != nil && !r.o.Keep(&r.record(v, doc).info) {
			*state = refused
		} else if r.o.CollapseDocument {
			r.total++
		}
	}
	return *state == admitted
}
