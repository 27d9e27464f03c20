package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"quern/daemon"
	"quern/index/eval"
	"quern/ipc"
)

// asker answers the methods that measuring needs: a daemon, or a corpus.
type asker interface {
	Search(context.Context, ipc.SearchParams) (ipc.SearchResult, error)
	Explain(context.Context, ipc.ExplainParams) (ipc.Explanation, error)
	Passages(context.Context, ipc.PassagesParams) (ipc.PassagesResult, error)
}

// Search, Explain and Passages make a connection an asker.
func (c *conn) Search(ctx context.Context, p ipc.SearchParams) (r ipc.SearchResult, err error) {
	err = c.Call(ctx, ipc.MethodSearch, p, &r)
	return r, err
}

func (c *conn) Explain(ctx context.Context, p ipc.ExplainParams) (r ipc.Explanation, err error) {
	err = c.Call(ctx, ipc.MethodExplain, p, &r)
	return r, err
}

func (c *conn) Passages(ctx context.Context, p ipc.PassagesParams) (r ipc.PassagesResult, err error) {
	err = c.Call(ctx, ipc.MethodPassages, p, &r)
	return r, err
}

// source is what is measured.
type source struct {
	asker
	daemon *conn    // nil for a corpus
	roots  []string // directories that evidence may be relative to
	model  string   // the default one
	docs   []eval.CorpusDocument
	end    []func()
}

// close ends what was begun, the last first.
func (s *source) close() {
	for i := len(s.end) - 1; i >= 0; i-- {
		s.end[i]()
	}
}

func (a *app) openSource(ctx context.Context, f *evalFlags) (*source, error) {
	switch {
	case f.corpus != "":
		return a.openCorpus(ctx, f)
	case len(f.folders) > 0:
		return a.openFolders(ctx, f)
	}
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &source{asker: c, daemon: c, end: []func(){func() { c.Close() }}}
	if err := a.fresh(ctx, c); err != nil {
		s.close()
		return nil, err
	}
	return s, s.learn(ctx, f)
}

// learn asks the daemon where its folders are and how it ranks.
func (s *source) learn(ctx context.Context, f *evalFlags) error {
	st, err := status(ctx, s.daemon, "")
	if err != nil {
		s.close()
		return err
	}
	s.model = st.Model
	for _, folder := range st.Folders {
		s.roots = append(s.roots, fromWire(folder.Path))
	}
	if dir, err := filepath.Abs(filepath.Dir(f.golden)); err == nil {
		s.roots = append(s.roots, dir)
	}
	return nil
}

// openCorpus indexes the documents of a collection.
func (a *app) openCorpus(ctx context.Context, f *evalFlags) (*source, error) {
	cfg, _, err := a.evalConfig(f, "document")
	if err != nil {
		return nil, err
	}
	docs, err := eval.LoadCorpus(f.corpus)
	if err != nil {
		return nil, failuref("", "cannot read the corpus: %w", err)
	}
	in := make([]daemon.CorpusDocument, len(docs))
	for i := range docs {
		in[i] = daemon.CorpusDocument{ID: docs[i].ID, Title: docs[i].Title, Text: docs[i].Body(), Type: f.corpusType}
		if f.self { // the title is the question
			in[i].Title, in[i].Text = "", docs[i].Text
		}
	}
	c, err := daemon.OpenCorpus(ctx, cfg, in)
	if err != nil {
		return nil, err
	}
	return &source{asker: c, model: cfg.Rank.Model, docs: docs, end: []func(){func() { _ = c.Close() }}}, nil
}

// Search implements eval.Searcher, together with Passages and Terms.
func (s *source) Search(ctx context.Context, q eval.Query) ([]eval.Hit, error) {
	r, err := s.asker.Search(ctx, evalParams(q))
	if err != nil {
		return nil, err
	}
	hits := make([]eval.Hit, len(r.Hits))
	for i := range r.Hits {
		h := &r.Hits[i]
		hits[i] = eval.Hit{
			Path: fromWire(h.Path), Rel: fromWire(h.Rel), Passage: h.Passage,
			Lines: h.Lines, Bytes: h.Bytes, Text: h.Text, Score: h.Score,
		}
	}
	return hits, nil
}

// Passages looks for the document as it is named, and below each root.
func (s *source) Passages(ctx context.Context, path string) ([]eval.Hit, error) {
	candidates := []string{path}
	if s.daemon != nil {
		candidates = nil
		if native := filepath.FromSlash(path); filepath.IsAbs(native) {
			candidates = append(candidates, native)
		} else {
			for _, root := range s.roots {
				candidates = append(candidates, filepath.Join(root, native))
			}
		}
	}
	for _, candidate := range candidates {
		r, err := s.asker.Passages(ctx, ipc.PassagesParams{Path: ipc.EncodePath(candidate)})
		if err == nil {
			return passageHits(&r), nil
		}
		if !errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
			return nil, err
		}
	}
	return nil, s.reason(ctx, candidates)
}

func passageHits(r *ipc.PassagesResult) []eval.Hit {
	hits := make([]eval.Hit, len(r.Passages))
	for i, p := range r.Passages {
		hits[i] = eval.Hit{
			Path: fromWire(r.Path), Rel: fromWire(r.Rel), Passage: p.Passage, Lines: p.Lines, Bytes: p.Bytes, Text: p.Text,
		}
	}
	return hits
}

// reason says why none of the paths is a document of the index.
func (s *source) reason(ctx context.Context, paths []string) error {
	if s.daemon == nil {
		return fmt.Errorf("%w: the corpus has no such document", eval.ErrNotIndexed)
	}
	for _, path := range paths {
		st, err := status(ctx, s.daemon, ipc.EncodePath(path))
		if err != nil {
			return err
		}
		if f := st.File; f != nil && f.State != ipc.FileUnknown {
			return fmt.Errorf("%w: %s: %s", eval.ErrNotIndexed, f.State, f.Reason)
		}
	}
	return fmt.Errorf("%w: no watched folder has such a file", eval.ErrNotIndexed)
}

// Terms asks for an account of the text as a query: it has the counts.
func (s *source) Terms(ctx context.Context, text string, h eval.Hit) ([]eval.Term, error) {
	p := ipc.ExplainParams{Query: text, Path: ipc.EncodePath(h.Path), Passage: h.Passage, Model: "tfidf", Literal: true}
	x, err := s.asker.Explain(ctx, p)
	if err != nil {
		return nil, err
	}
	terms := make([]eval.Term, len(x.Terms))
	for i, t := range x.Terms {
		terms[i] = eval.Term{Name: t.Term, TF: t.TF, DF: t.DF}
	}
	return terms, nil
}
