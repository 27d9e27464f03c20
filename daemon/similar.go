package daemon

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

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

// is reports whether the hit is the pattern itself.
func (p pattern) is(h *ipc.Hit) bool {
	return p.path != "" && h.Path == p.path && (p.passage < 0 || h.Passage == p.passage)
}

// similar answers with the passages like a passage, a document or a text: those
// that a search for its most telling words finds, itself left out.
func (d *Daemon) similar(ctx context.Context, p ipc.SimilarParams) (ipc.SearchResult, error) {
	ctx, end := server.Supersede(ctx, p.Session)
	defer end()
	like := searchLike(p)
	if _, err := d.searchOptions(like); err != nil {
		return ipc.SearchResult{}, err
	}
	c, stale, err := d.fresh(ctx, like)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	snapshot := c.engine.Snapshot()
	of, err := d.patternOf(c, snapshot, p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	if p.Collapse == "document" {
		of.passage = -1 // its document's best passage would be itself
	}
	like.Query = strings.Join(snapshot.Telling(of.texts, of.path != "", similarTerms), " ")
	like.Sync, like.Session = false, ""
	out, err := d.searchWithout(ctx, like, of, snapshot)
	out.Stale = stale
	return out, err
}

// searchLike is the search that has the params of p.
func searchLike(p ipc.SimilarParams) ipc.SearchParams {
	return ipc.SearchParams{
		K: p.K, Offset: p.Offset, Model: p.Model, TF: p.TF, Collapse: p.Collapse,
		Folders: p.Folders, Types: p.Types, Since: p.Since, Before: p.Before,
		Sync: p.Sync, SyncTimeoutMS: p.SyncTimeoutMS, Budget: p.Budget, Literal: true,
	}
}

// searchWithout searches and leaves the pattern out. It asks for as many hits
// more as the pattern may have.
func (d *Daemon) searchWithout(ctx context.Context, p ipc.SearchParams, of pattern, s *index.Snapshot) (ipc.SearchResult, error) {
	wide, extra := p, 0
	if of.path != "" {
		extra = d.passagesOf(s, of, p.Collapse)
	}
	wide.K, wide.Offset, wide.Budget = wantedHits(p)+p.Offset+extra, 0, 0
	if wide.K > maxHits {
		wide.K = maxHits
	}
	out, err := d.search(ctx, wide)
	if err != nil {
		return out, err
	}
	before := len(out.Hits)
	out.Hits = slices.DeleteFunc(out.Hits, func(h ipc.Hit) bool { return of.is(&h) })
	out.Total -= before - len(out.Hits)
	out.Hits = out.Hits[min(p.Offset, len(out.Hits)):]
	out.Hits = out.Hits[:min(wantedHits(p), len(out.Hits))]
	out.Hits = withinBudget(out.Hits, p.Budget)
	return out, nil
}

// passagesOf is how many hits of a search may be the pattern.
func (d *Daemon) passagesOf(s *index.Snapshot, of pattern, collapse string) int {
	path, err := ipc.DecodePath(of.path)
	if doc, ok := s.Document(path); err == nil && ok && of.passage < 0 && collapse != "document" {
		return doc.Passages
	}
	return 1
}

// wantedHits is the k of a search.
func wantedHits(p ipc.SearchParams) int {
	switch {
	case p.K > 0:
		return p.K
	case p.Budget > 0:
		return maxHits
	}
	return defaultHits
}

// withinBudget is within for hits of the protocol.
func withinBudget(hits []ipc.Hit, budget int) []ipc.Hit {
	if budget == 0 {
		return hits
	}
	out, chars := []ipc.Hit{}, 0
	for _, h := range hits {
		n := utf8.RuneCountInString(h.Text)
		if tokens := (chars + n + charsPerToken - 1) / charsPerToken; tokens <= budget {
			out, chars = append(out, h), chars+n
		}
	}
	return out
}

// patternOf finds what others are to be similar to.
func (d *Daemon) patternOf(c *core, s *index.Snapshot, p ipc.SimilarParams) (pattern, error) {
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
	_, all, err := s.Passages(path)
	if err != nil {
		return pattern{}, d.notFound(c, path, err)
	}
	return chosenPattern(path, all, p)
}

// chosenPattern is the passage that the params name, or the whole document.
func chosenPattern(path string, all []index.Passage, p ipc.SimilarParams) (pattern, error) {
	out := pattern{path: ipc.EncodePath(path)}
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
