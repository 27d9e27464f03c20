package daemon

import (
	"context"
	"fmt"

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
	}
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
	options, err := d.searchOptions(ipc.SearchParams{Model: p.Model, TF: p.TF})
	if err != nil {
		return ipc.Explanation{}, err
	}
	c := d.core.Load()
	snapshot := c.engine.Snapshot()
	doc, ok := snapshot.Document(path)
	if !ok {
		return ipc.Explanation{}, d.notFound(ctx, c, path, index.ErrNotFound)
	}
	if p.Passage < 0 || p.Passage >= doc.Passages {
		return ipc.Explanation{}, ipc.Errorf(ipc.CodeNotFound, "%s has no passage %d: it has %d, from 0", path, p.Passage, doc.Passages)
	}
	why, err := snapshot.Explain(p.Query, options, path, p.Passage)
	if err != nil {
		return ipc.Explanation{}, fmt.Errorf("explain: %w", err)
	}
	return *wireExplanation(why), nil
}

func wireExplanation(e *index.Explanation) *ipc.Explanation {
	out := &ipc.Explanation{
		Model: string(e.Model), TF: string(e.TF), Score: e.Score, Passages: e.Passages,
		QueryNorm: e.QueryNorm, PassageNorm: e.PassageNorm,
		Length: e.Length, AverageLength: e.AverageLength, K1: e.K1, B: e.B,
		Terms: make([]ipc.TermExplain, len(e.Terms)), Dropped: e.Dropped,
	}
	for i, t := range e.Terms {
		out.Terms[i] = ipc.TermExplain(t)
	}
	return out
}
