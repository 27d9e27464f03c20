package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quern/index/lsa"
	lang "quern/index/query"
	"quern/index/rank"
)

// Hybrid ranks by a lexical model and by the similarity of vectors together:
//
//	score = l / max l + weight · max(0, c) / max c
//
// where l is the passage's score by the lexical model, c the cosine of its vector and
// the query's, and the maxima are over all passages that may be found. What is
// ranked are the first passages by either: hybridDepth of them, or more if more
// are wanted. Without vectors (none are learned yet, or a service fails) it is the
// lexical model, with scores divided by the greatest.
const Hybrid Model = "hybrid"

// DefaultHybridWeight is the weight of the cosine measured best.
const DefaultHybridWeight = 0.15

// hybridDepth is how many passages by each of the two scores are ranked at
// least.
const hybridDepth = 200

// firstVectors is how long a search waits for the first vectors.
const firstVectors = 2 * time.Second

// HybridExplanation accounts for a score of Hybrid.
type HybridExplanation struct {
	Lexical, LexicalBest float64 // by the lexical model: the passage's, and the greatest
	Cosine, CosineBest   float64
	Weight               float64
}

// score is the sum.
func (h *HybridExplanation) score() float64 {
	sum := 0.0
	if h.LexicalBest > 0 {
		sum = h.Lexical / h.LexicalBest
	}
	if h.CosineBest > 0 {
		sum += float64(h.Weight * max(0, h.Cosine) / h.CosineBest)
	}
	return sum
}

// hybrid is one hybrid search under way.
type hybrid struct {
	*run
	sp    *space // nil: no vectors
	query lsa.Query
	why   string  // there are none
	found []found // to be ranked; their keys hold the lexical scores
	best  HybridExplanation
}

func (s *Snapshot) searchHybrid(ctx context.Context, q *query, o SearchOptions) (*Result, error) {
	h, err := s.newHybrid(ctx, q, o)
	if err != nil {
		return nil, err
	}
	res := &Result{Generation: s.generation, Passages: s.passages, Degraded: h.why}
	res.Hits = h.hits(h.ranked(o))
	if res.Total, res.TotalAtLeast = h.count(); len(h.found) > res.Total {
		res.Total, res.TotalAtLeast = len(h.found), true
	}
	h.scratch.release()
	return res, nil
}

// newHybrid finds the passages to be ranked, by their lexical scores first and then
// by their vectors.
func (s *Snapshot) newHybrid(ctx context.Context, q *query, o SearchOptions) (*hybrid, error) {
	r, found, err := s.rank(ctx, q, o.lexical())
	if err != nil {
		return nil, err
	}
	h := &hybrid{run: r, found: found, best: HybridExplanation{Weight: cmp.Or(o.Weight, DefaultHybridWeight)}}
	if q.best {
		h.lookClosely()
	}
	if len(h.found) > 0 {
		h.best.LexicalBest = h.found[0].key.Score
	}
	if q.constant {
		return h, nil
	}
	return h, h.vectors()
}

// lookClosely adds what the model best adds to its first passages.
func (h *hybrid) lookClosely() {
	c := h.s.newCloser(h.q)
	for i := range h.found[:min(bestDepth, len(h.found))] {
		c.raise(&h.found[i])
	}
	slices.SortFunc(h.found, func(a, b found) int { return rank.Compare(a.key, b.key) })
}

// lexical is the options of the lexical part: it finds single passages, as many as
// are ranked.
func (o SearchOptions) lexical() SearchOptions {
	o.Model = cmp.Or(o.Lexical, Best)
	o.K, o.Offset, o.CollapseDocument = max(hybridDepth, max(o.K, 0)+max(o.Offset, 0)), 0, false
	return o
}

// vectors finds the vectors to search with, the query's among them, and the
// passages near to it.
func (h *hybrid) vectors() error {
	ctx, cancel := context.WithTimeout(h.ctx, firstVectors)
	defer cancel()
	latent := h.s.engine.latent
	sp := latent.ask(ctx)
	if sp == nil {
		h.why = "vectors are being made"
		if err := latent.failure.Load(); err != nil {
			h.why = "there are no vectors: " + (*err).Error()
		}
		return context.Cause(h.ctx)
	}
	vector, err := latent.vectorOf(ctx, sp, h.q.text, h.q.bag())
	if err != nil {
		h.why = "the query has no vector: " + err.Error()
		return context.Cause(h.ctx)
	}
	h.query = lsa.NewQuery(vector)
	var failed error
	h.sp = sp
	if sp.guarded(func() { failed = h.near(sp) }) || errors.Is(failed, errUnreadable) {
		latent.forget(sp)
		h.sp, h.why = nil, "the file of vectors cannot be read: it is made anew"
		return nil
	}
	return failed
}

// near adds the nearest passages that the lexical score has not found.
func (h *hybrid) near(sp *space) error {
	keep := make(map[uint32]bool)
	// Of code there may be some too many: its documents are not looked at before.
	nearest, err := sp.nearest(h.ctx, h.query, 2*h.limit, h.s.engine.opts.Threads, func(pid uint64) bool { return h.mayFind(pid, keep) })
	if err != nil {
		return err
	}
	have := make(map[uint64]bool, len(h.found))
	for _, f := range h.found {
		have[f.view.PassageID(f.local)] = true
	}
	taken := 0
	for _, n := range nearest {
		if taken == h.limit {
			break
		}
		i, local, _ := h.s.livePassage(n.pid)
		v := &h.s.views[i]
		if !h.speaks(&h.record(v, uint32(v.PassageDoc(local))).info) {
			continue
		}
		taken++
		h.best.CosineBest = max(h.best.CosineBest, n.cosine)
		if !have[n.pid] {
			h.found = append(h.found, h.lookUp(n.pid))
		}
	}
	return nil
}

// mayFind reports whether the passage is live and its document admitted; keep
// remembers what was said of documents.
func (h *hybrid) mayFind(pid uint64, keep map[uint32]bool) bool {
	i, local, ok := h.s.livePassage(pid)
	if !ok || !h.meetsDemands(i, local) {
		return false
	}
	if h.o.Keep == nil {
		return true
	}
	v := &h.s.views[i]
	slot := uint32(v.PassageDoc(local))
	kept, known := keep[slot]
	if !known {
		kept = h.o.Keep(&h.record(v, slot).info)
		keep[slot] = kept
	}
	return kept
}

// speaks reports whether vectors say anything of a document: those that were learned are
// of no use for code, whose words are names (docs/ranking.md has the figures).
func (h *hybrid) speaks(doc *DocumentInfo) bool { return h.sp.model() == nil || !isCode(doc.Type) }

// meetsDemands reports whether a passage of view i is what the query demands.
func (h *hybrid) meetsDemands(i, local int) bool {
	if h.allowed == nil {
		return true
	}
	if h.allowed[i][local/64]>>(local%64)&1 == 0 {
		return false
	}
	return !h.unchecked || h.passes(i, &h.s.views[i], local)
}

// lookUp is a live passage with its lexical score.
func (h *hybrid) lookUp(pid uint64) found {
	i, local, _ := h.s.livePassage(pid)
	v := &h.s.views[i]
	doc := h.record(v, uint32(v.PassageDoc(local)))
	key := rank.Key{Score: h.exact(v, local, h.wanted[i]), Path: doc.info.Path, Passage: doc.number(pid)}
	return found{key: key, view: v, local: local, doc: doc}
}

// explain accounts for the hybrid score of a passage.
func (h *hybrid) explain(lexical float64, doc *DocumentInfo, pid uint64) HybridExplanation {
	x := h.best
	x.Lexical = lexical
	if h.sp != nil && h.speaks(doc) {
		x.Cosine = h.sp.cosine(h.query, pid)
	}
	return x
}

// ranked scores what was found and returns the hits wanted, best first.
func (h *hybrid) ranked(o SearchOptions) []found {
	for i := range h.found {
		f := &h.found[i]
		x := h.explain(f.key.Score, &f.doc.info, f.view.PassageID(f.local))
		f.key.Score = x.score()
	}
	all := slices.DeleteFunc(h.found, func(f found) bool { return f.key.Score <= 0 })
	slices.SortFunc(all, func(a, b found) int { return rank.Compare(a.key, b.key) })
	if o.CollapseDocument {
		seen := make(map[string]bool)
		all = slices.DeleteFunc(all, func(f found) bool {
			again := seen[f.key.Path]
			seen[f.key.Path] = true
			return again
		})
	}
	h.found = all
	from := min(max(o.Offset, 0), len(all))
	return all[from:min(from+max(o.K, 0), len(all))]
}

// explainHybrid accounts for a hybrid score: the lexical account, and what is
// made of it.
func (s *Snapshot) explainHybrid(asked *lang.Query, o SearchOptions, path string, n int) (*Explanation, error) {
	q, err := s.newQuery(context.Background(), asked, o)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", asked, err)
	}
	h, err := s.newHybrid(context.Background(), q, o)
	if err != nil {
		return nil, fmt.Errorf("explain %q: %w", asked, err)
	}
	defer h.scratch.release()
	x, err := s.explain(asked, o.lexical(), path, n)
	if err != nil {
		return nil, err
	}
	d, _ := s.lookPath(path)
	part := h.explain(x.Score, &d.info, d.places[n].pid)
	x.Lexical = x.Model
	x.Hybrid, x.Model, x.Score = &part, Hybrid, part.score()
	return x, nil
}
