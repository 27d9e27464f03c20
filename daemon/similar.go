package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quern/index"
	"quern/ipc"
	"quern/ipc/server"
)

// similarTerms is how many terms of a passage the query for passages like it has.
const similarTerms = 25

// pattern is what others are to be similar to.
type pattern struct {
	texts   []string // of its passages
	path    string   // "": a text of the client's
	passage int      // -1: the whole document
}

// similar answers with the passages like a passage, a document or a text: those
// that a search for its most telling words finds, itself left out.
func (d *Daemon) similar(ctx context.Context, p ipc.SimilarParams) (ipc.SearchResult, error) {
	ctx, end := server.Supersede(ctx, p.Session)
	defer end()
	like := searchLike(p)
	options, err := d.searchOptions(like)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	c, stale, err := d.fresh(ctx, like)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	if options.Keep, err = chosen(ctx, c, like); err != nil {
		return ipc.SearchResult{}, err
	}
	endTurn, err := server.Turn(ctx)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	defer endTurn()
	start, pending, snapshot := time.Now(), c.state().Pending, c.engine.Snapshot()
	of, err := d.patternOf(ctx, c, snapshot, p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	query := strings.Join(snapshot.Telling(of.texts, of.path != "", similarTerms), " ")
	found, err := searchWithout(ctx, snapshot, query, options, of)
	if err != nil {
		return ipc.SearchResult{}, fmt.Errorf("search: %w", err)
	}
	out := ipc.SearchResult{
		Query: query, Model: string(options.Model), Generation: c.base + found.Generation,
		Passages: found.Passages, Total: found.Total, TotalAtLeast: found.TotalAtLeast,
		Pending: pending, Stale: stale || found.Lost, Degraded: found.Degraded, Hits: []ipc.Hit{},
	}
	for _, h := range within(found.Hits, p.Budget) {
		out.Hits = append(out.Hits, wireHit(&h, true))
	}
	out.TookUS = time.Since(start).Microseconds()
	return out, nil
}

// searchLike is the search that has the params of p.
func searchLike(p ipc.SimilarParams) ipc.SearchParams {
	return ipc.SearchParams{
		K: p.K, Offset: p.Offset, Model: p.Model, TF: p.TF, Collapse: p.Collapse,
		Folders: p.Folders, Types: p.Types, Since: p.Since, Before: p.Before,
		Sync: p.Sync, SyncTimeoutMS: p.SyncTimeoutMS, Budget: p.Budget, Literal: true,
	}
}

// searchWithout searches for everything but the pattern: its document, where that
// counts as one, or else the passage, which one hit more makes up for.
func searchWithout(ctx context.Context, s *index.Snapshot, query string, o index.SearchOptions, of pattern) (*index.Result, error) {
	choose := o.Keep
	if of.path != "" && (of.passage < 0 || o.CollapseDocument) {
		o.Keep = func(doc *index.DocumentInfo) bool { return doc.Path != of.path && (choose == nil || choose(doc)) }
		return s.Search(ctx, query, o)
	}
	if of.path == "" {
		return s.Search(ctx, query, o)
	}
	k, offset := o.K, o.Offset
	o.K, o.Offset = k+offset+1, 0
	found, err := s.Search(ctx, query, o)
	if err != nil {
		return nil, err
	}
	found.Hits = slices.DeleteFunc(found.Hits, func(h index.Hit) bool {
		return h.Document.Path == of.path && h.N == of.passage
	})
	found.Hits = found.Hits[min(offset, len(found.Hits)):]
	found.Hits = found.Hits[:min(k, len(found.Hits))]
	// It has all terms of the query, so it was counted if it is chosen.
	if doc, ok := s.Document(of.path); ok && query != "" && (choose == nil || choose(doc)) {
		found.Total--
	}
	return found, nil
}

// patternOf finds what others are to be similar to.
func (d *Daemon) patternOf(ctx context.Context, c *core, s *index.Snapshot, p ipc.SimilarParams) (pattern, error) {
	if p.Path == "" {
		if p.Text == "" || p.Line != 0 || p.Passage != nil {
			return pattern{}, ipc.Errorf(ipc.CodeInvalidParams, "path: left out (give a path, with a line or a passage if you like, or a text alone)")
		}
		return pattern{texts: []string{p.Text}}, nil
	}
	if p.Text != "" || p.Line != 0 && p.Passage != nil {
		return pattern{}, ipc.Errorf(ipc.CodeInvalidParams, "path: give a path with a line, with a passage or with neither, or a text alone")
	}
	path, err := absolute(p.Path)
	if err != nil {
		return pattern{}, err
	}
	if err := c.mayTell(ctx, path); err != nil {
		return pattern{}, err
	}
	_, all, err := s.Passages(path)
	if err != nil {
		return pattern{}, d.notFound(ctx, c, path, err)
	}
	return chosenPattern(path, all, p)
}

// chosenPattern is the passage that the params name, or the whole document.
func chosenPattern(path string, all []index.Passage, p ipc.SimilarParams) (pattern, error) {
	out := pattern{path: path}
	n := -1
	switch {
	case p.Passage != nil:
		if n = *p.Passage; n < 0 || n >= len(all) {
			return out, ipc.Errorf(ipc.CodeNotFound, "%s has no passage %d: it has %d, from 0", path, n, len(all))
		}
	case p.Line < 0:
		return out, ipc.Errorf(ipc.CodeInvalidParams, "line: %d is negative", p.Line)
	case p.Line > 0:
		n = passageAt(all, p.Line)
	}
	if out.passage = n; n >= 0 {
		all = all[n : n+1]
	}
	for i := range all {
		out.texts = append(out.texts, all[i].Text)
	}
	return out, nil
}

// passageAt is the number of the first passage that has the line; when none has,
// of the last before it, or the first of all. It is -1 without passages.
func passageAt(all []index.Passage, line int) int {
	at := -1
	for i := range all {
		if all[i].Lines[0] <= line || at < 0 {
			at = i
		}
		if all[i].Lines[0] <= line && line <= all[i].Lines[1] {
			return i
		}
	}
	return at
}
