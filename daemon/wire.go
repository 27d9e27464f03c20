package daemon

import (
	"context"
	"fmt"
	"time"

	"quern/index"
	"quern/ipc"
)

// wireHit is a hit as the protocol has it.
func wireHit(h *index.Hit, text bool) ipc.Hit {
	out := ipc.Hit{
		Score: h.Score, Path: ipc.EncodePath(h.Document.Path), Folder: h.Document.Folder, Rel: ipc.EncodePath(h.Document.Rel),
		Passage: h.N, Lines: h.Lines, Bytes: h.Bytes, Heading: headings(h.Heading),
		Type: h.Document.Type, Modified: timestamp(h.Document.Modified),
		Origin: originOf(h.Document), Page: h.Page, Title: h.Document.Title, Author: h.Document.Author, Date: dateOf(h.Document),
	}
	if text {
		out.Text, out.Highlights = h.Text, h.Highlights
		if h.Snippet[1] > 0 {
			out.Snippet = &h.Snippet
		}
	}
	out.Duplicates = wireDuplicates(h.Duplicates)
	return out
}

// originOf says where a document's lines and bytes are counted: "extracted" for its
// text where that is not the file's own.
func originOf(doc *index.DocumentInfo) string {
	if doc.Extracted {
		return "extracted"
	}
	return ""
}

// dateOf is the document's own date, "" for none.
func dateOf(doc *index.DocumentInfo) string {
	if doc.Date.IsZero() {
		return ""
	}
	return timestamp(doc.Date)
}

// explain accounts for one passage's score.
func (d *Daemon) explain(ctx context.Context, p ipc.ExplainParams) (ipc.Explanation, error) {
	path, err := absolute(p.Path)
	if err != nil {
		return ipc.Explanation{}, err
	}
	asked, err := parseQuery(p.Query, p.Literal)
	if err != nil {
		return ipc.Explanation{}, err
	}
	options, err := d.searchOptions(ipc.SearchParams{Model: p.Model, TF: p.TF})
	if err != nil {
		return ipc.Explanation{}, err
	}
	c := d.coreOf(ctx)
	if err := c.mayTell(ctx, path); err != nil {
		return ipc.Explanation{}, err
	}
	tests, err := fieldFilters(c, asked, time.Now())
	if err != nil {
		return ipc.Explanation{}, err
	}
	snapshot := c.engine.Snapshot()
	doc, ok := snapshot.Document(path)
	if !ok {
		return ipc.Explanation{}, d.notFound(ctx, c, path, index.ErrNotFound)
	}
	if p.Passage < 0 || p.Passage >= doc.Passages {
		return ipc.Explanation{}, ipc.Errorf(ipc.CodeNotFound, "%s has no passage %d: it has %d, from 0", path, p.Passage, doc.Passages)
	}
	why, err := snapshot.ExplainQuery(asked, options, path, p.Passage)
	if err != nil {
		return ipc.Explanation{}, fmt.Errorf("explain: %w", err)
	}
	return *wireExplanation(why, tests.explain(doc)), nil
}

func wireExplanation(e *index.Explanation, documents []ipc.DemandExplain) *ipc.Explanation {
	out := &ipc.Explanation{
		Model: string(e.Model), TF: string(e.TF), Score: e.Score, Passages: e.Passages,
		QueryNorm: e.QueryNorm, PassageNorm: e.PassageNorm,
		Length: e.Length, AverageLength: e.AverageLength, K1: e.K1, B: e.B,
		Terms: make([]ipc.TermExplain, len(e.Terms)), Dropped: e.Dropped, Lexical: string(e.Lexical),
	}
	for i, t := range e.Terms {
		out.Terms[i] = wireTerm(&t)
	}
	for _, d := range e.Demands {
		out.Demands = append(out.Demands, ipc.DemandExplain(d))
	}
	out.Demands = append(out.Demands, documents...)
	if h := e.Hybrid; h != nil {
		out.Hybrid = (*ipc.HybridExplain)(h)
	}
	if e.Model == index.Best || e.Lexical == index.Best {
		out.Closely = &e.Closely
	}
	for _, b := range e.Bonuses {
		out.Bonuses = append(out.Bonuses, ipc.BonusExplain(b))
	}
	return out
}

func wireTerm(t *index.TermExplanation) ipc.TermExplain {
	out := ipc.TermExplain{
		Term: t.Term, QueryTF: t.QueryTF, TF: t.TF, DF: t.DF, IDF: t.IDF, QueryWeight: t.QueryWeight,
		PassageWeight: t.PassageWeight, Contribution: t.Contribution, From: t.From,
	}
	if t.Boost != 1 {
		out.Boost = t.Boost
	}
	return out
}
