package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"quern/config"
	"quern/index"
	"quern/ipc"
	"quern/ipc/server"
)

const (
	// defaultHits is k when the client names none.
	defaultHits = 10
	// defaultSearchSync is how long a search with sync waits for the files.
	defaultSearchSync = 2 * time.Second
	// charsPerToken is the usual rule of thumb for the context window of a
	// language model.
	charsPerToken = 4
)

// search answers a query.
func (d *Daemon) search(ctx context.Context, p ipc.SearchParams) (ipc.SearchResult, error) {
	asked, err := parseQuery(p.Query, p.Literal)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	options, err := d.searchOptions(p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	c, stale, err := d.fresh(ctx, p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	tests, err := filters(c, p, asked, time.Now())
	if err != nil {
		return ipc.SearchResult{}, err
	}
	if options.Keep, err = c.withoutAbsent(ctx, tests.keep()); err != nil {
		return ipc.SearchResult{}, err
	}
	end, err := server.Turn(ctx)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	defer end()
	start := time.Now()
	pending := c.state().Pending
	snapshot := c.engine.Snapshot()
	found, err := snapshot.Find(ctx, asked, options)
	if err != nil {
		return ipc.SearchResult{}, fmt.Errorf("search: %w", err)
	}
	out := ipc.SearchResult{
		Query: p.Query, Model: string(options.Model), Generation: c.base + found.Generation,
		Passages: found.Passages, Total: found.Total, TotalAtLeast: found.TotalAtLeast,
		Pending: pending, Stale: stale || found.Lost, Degraded: found.Degraded,
		Hits: make([]ipc.Hit, 0, len(found.Hits)),
	}
	for _, h := range within(found.Hits, p.Budget) {
		hit := wireHit(&h, p.Text == nil || *p.Text)
		if p.Explain {
			why, err := snapshot.ExplainQuery(asked, options, h.Document.Path, h.N)
			if err != nil {
				return ipc.SearchResult{}, fmt.Errorf("explain: %w", err)
			}
			hit.Explain = wireExplanation(why, tests.explain(h.Document))
		}
		out.Hits = append(out.Hits, hit)
	}
	if found.Total == 0 {
		if out.Suggestions, err = snapshot.Suggest(ctx, asked, options); err != nil {
			return ipc.SearchResult{}, err
		}
	}
	out.TookUS = time.Since(start).Microseconds()
	return out, nil
}

// searchOptions checks the params and fills in the config's defaults.
func (d *Daemon) searchOptions(p ipc.SearchParams) (index.SearchOptions, error) {
	return searchOptions(d.config().Rank, p)
}

func searchOptions(rank config.Rank, p ipc.SearchParams) (index.SearchOptions, error) {
	o := index.SearchOptions{K: p.K, Offset: p.Offset, K1: rank.K1, B: rank.B, Text: p.Text == nil || *p.Text || p.Budget > 0}
	if o.K == 0 {
		o.K = defaultHits
		if p.Budget > 0 {
			o.K = maxHits
		}
	}
	for _, param := range []struct {
		name  string
		value int
	}{{"k", p.K}, {"offset", p.Offset}, {"budget", p.Budget}, {"sync_timeout_ms", p.SyncTimeoutMS}} {
		if param.value < 0 {
			return o, ipc.Errorf(ipc.CodeInvalidParams, "%s: %d is negative", param.name, param.value)
		}
	}
	if o.K > maxHits {
		return o, ipc.Errorf(ipc.CodeInvalidParams, "k: %d is over the limit of %d (use offset for further hits)", p.K, maxHits)
	}
	var err error
	if o.Model, o.TF, err = modelOf(rank, p.Model, p.TF); err != nil {
		return o, err
	}
	o.Lexical, o.Weight = index.Model(rank.Lexical), rank.Weight
	if o.Model == index.Hybrid && o.Weight == 0 {
		o.Model = o.Lexical
	}
	switch p.Collapse {
	case "", "none":
	case "document":
		o.CollapseDocument = true
	default:
		return o, ipc.Errorf(ipc.CodeInvalidParams, "collapse: %q is neither none nor document", p.Collapse)
	}
	switch p.Duplicates {
	case "", "show":
	case "fold":
		o.FoldDuplicates = true
	default:
		return o, ipc.Errorf(ipc.CodeInvalidParams, "duplicates: %q is neither fold nor show", p.Duplicates)
	}
	return o, nil
}

// modelOf is the ranking the client named, or the config's.
func modelOf(rank config.Rank, model, tf string) (index.Model, index.TF, error) {
	if model == "" && tf != "" { // which is for one model only
		model = string(index.TFIDF)
	}
	m, t := index.Model(cmp.Or(model, rank.Model)), index.TF(cmp.Or(tf, rank.TF))
	if m != index.TFIDF && m != index.BM25 && m != index.Best && m != index.Hybrid {
		return m, t, ipc.Errorf(ipc.CodeInvalidParams, "model: %q is neither tfidf, bm25, best nor hybrid", m)
	}
	if t != index.LogTF && t != index.RawTF {
		return m, t, ipc.Errorf(ipc.CodeInvalidParams, "tf: %q is neither log nor raw", t)
	}
	return m, t, nil
}

// fresh is the core to ask. With sync it has seen every earlier change; stale
// says that it has not within the time allowed.
func (d *Daemon) fresh(ctx context.Context, p ipc.SearchParams) (c *core, stale bool, err error) {
	if !p.Sync {
		return d.coreOf(ctx), false, nil
	}
	limited, cancel := context.WithTimeout(ctx, milliseconds(p.SyncTimeoutMS, defaultSearchSync))
	defer cancel()
	c, err = d.barrier(limited)
	if errors.Is(err, errPaused) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return c, true, nil
	}
	return c, false, closing(err)
}

// within takes the hits, best first, whose text fits into what is left of
// budget tokens: one that does not is passed over, and a later one may fit. A
// budget of 0 takes them all.
func within(hits []index.Hit, budget int) []index.Hit {
	if budget == 0 {
		return hits
	}
	var out []index.Hit
	chars := 0
	for _, h := range hits {
		n := utf8.RuneCountInString(h.Text)
		if tokens := (chars + n + charsPerToken - 1) / charsPerToken; tokens <= budget {
			out, chars = append(out, h), chars+n
		}
	}
	return out
}
