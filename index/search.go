package index

import (
	"context"
	"fmt"

	lang "quern/index/query"
	"quern/index/rank"
)

// Search answers the words of a text, in which nothing is an operator.
func (s *Snapshot) Search(ctx context.Context, text string, o SearchOptions) (*Result, error) {
	return s.Find(ctx, lang.Literal(text), o)
}

// Find answers a query: the K best passages after Offset, by score
// descending, then path, then passage number. The words of the query are
// those that the analyzer finds in its text; a term that no passage contains
// counts for nothing. Of the fields, heading, title and author are looked at;
// the caller puts the others into Keep.
//
// Errors: options that make no sense; the cause of ctx, which is looked at
// during all long work.
func (s *Snapshot) Find(ctx context.Context, q *lang.Query, o SearchOptions) (res *Result, err error) {
	tries := 0
	err = s.read(func(s *Snapshot) error {
		tries++
		if o.FoldDuplicates {
			res, err = s.findFolded(ctx, q, o)
		} else {
			res, err = s.find(ctx, q, o)
		}
		return err
	})
	if err == nil {
		res.Lost = tries > 1
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return res, nil
}

func (s *Snapshot) search(ctx context.Context, q *query, o SearchOptions) (*Result, error) {
	if o.Model == Hybrid {
		return s.searchHybrid(ctx, q, o)
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
	if err := r.restrict(); err != nil {
		return nil, nil, err
	}
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

	restriction
	floor   *rank.Floor
	pruning bool
	// What the visitors found, when all are done.
	candidates []candidate
	total      int  // hits seen
	partial    bool // there may be hits that were not seen
	decoded    int  // postings
}

// candidate is a passage whose score may be among the best.
type candidate struct {
	upper       float64 // no less than its score; for BM25, its score
	view, local uint32
}

func newRun(ctx context.Context, s *Snapshot, q *query, o SearchOptions) *run {
	limit := 0
	if o.K > 0 {
		limit = min(o.K, s.passages) + min(max(o.Offset, 0), s.passages)
	}
	o.Keep = q.keeping(o.Keep)
	r := &run{scratch: takeScratch(s), ctx: ctx, s: s, q: q, o: o, limit: limit}
	r.pruning = r.prunes()
	r.floor = rank.NewFloor(limit, !o.CollapseDocument)
	r.wanted = make([][]present, len(s.views))
	if o.Keep != nil || o.CollapseDocument {
		r.admission.reset(s.slots)
	}
	return r
}

// gather finds the candidates and counts the hits.
func (r *run) gather() error {
	w := r.visitor(0)
	sparse, all := 0, 0 // blocks
	for i := range r.s.views {
		r.wanted[i] = r.q.in(i)
		if blocks := r.s.views[i].blocks(); r.anyFrequent(i) {
			sparse += blocks
		} else {
			all = max(all, blocks)
		}
	}
	r.reserve(all, sparse)
	var some []*pruned
	for i := range r.s.views {
		if r.anyFrequent(i) {
			some = append(some, r.split(i))
		} else if err := w.visitAll(i); err != nil {
			return err
		}
	}
	if err := r.prune(some); err != nil {
		return err
	}
	for _, w := range r.visitors[:r.visiting] {
		r.candidates = append(r.candidates, w.candidates...)
		r.total += w.total
		r.partial = r.partial || w.partial
		r.decoded += w.decoded
	}
	if r.o.CollapseDocument {
		r.total = r.admission.total
	}
	return nil
}

// count gives the number of hits; atLeast says that there may be more.
func (r *run) count() (n int, atLeast bool) {
	if !r.partial {
		return r.total, false
	}
	n = r.total
	if r.o.Keep == nil && !r.o.CollapseDocument && r.allowed == nil {
		for i := range r.q.terms { // whatever has a term is a hit
			n = max(n, r.q.terms[i].df)
		}
		return n, len(r.q.terms) > 1
	}
	return n, true
}

// roundingSlack is more than all roundings can add up to, in bounds and in
// reference norms that were corrected many times.
const roundingSlack = 1e-6
