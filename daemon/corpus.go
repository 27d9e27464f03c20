package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quern/config"
	"quern/index"
	"quern/index/extract"
	"quern/ipc"
)

// Corpus is an index in memory of documents that are no files, such as those of a
// retrieval collection. It answers as a daemon with its config would.
type Corpus struct {
	engine *index.Engine
	cfg    config.Config
}

// CorpusDocument is one document of a Corpus.
type CorpusDocument struct {
	// ID is its path.
	ID, Title, Text string
	// Type is the format that its name would tell: "txt" if it is empty.
	Type string
}

// corpusBatch is how many documents are indexed at a time.
const corpusBatch = 4096

// OpenCorpus indexes documents as cfg says.
func OpenCorpus(ctx context.Context, cfg config.Config, docs []CorpusDocument) (*Corpus, error) {
	o := engineOptions(cfg)
	o.MemoryBudget = 0
	engine, err := index.Open(o)
	if err != nil {
		return nil, fmt.Errorf("open an index in memory: %w", err)
	}
	c := &Corpus{engine, cfg}
	for len(docs) > 0 {
		n := min(corpusBatch, len(docs))
		changes := make([]index.Change, n)
		for i := range changes {
			changes[i] = docs[i].change()
		}
		if _, err := engine.Apply(ctx, changes); err != nil {
			engine.Close()
			return nil, fmt.Errorf("index the corpus: %w", err)
		}
		docs = docs[n:]
	}
	return c, nil
}

func (d *CorpusDocument) change() index.Change {
	kind := d.Type
	if kind == "" {
		kind = "txt"
	}
	return index.Change{Put: &index.Document{
		Path: d.ID, Folder: "corpus", Rel: d.ID, Size: int64(len(d.Text)),
		Content: &extract.Document{
			Type: kind, Title: d.Title, Text: []byte(d.Text), Sections: []extract.Section{{End: len(d.Text)}},
		},
	}}
}

// Close lets go of the index.
func (c *Corpus) Close() error { return c.engine.Close() }

// Search answers as the protocol's search does. There are no filters.
func (c *Corpus) Search(ctx context.Context, p ipc.SearchParams) (ipc.SearchResult, error) {
	options, err := searchOptions(c.cfg.Rank, p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	if options.Model == index.Hybrid {
		if err := c.awaitVectors(ctx); err != nil {
			return ipc.SearchResult{}, err
		}
	}
	snapshot := c.engine.Snapshot()
	found, err := snapshot.Search(ctx, p.Query, options)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	out := ipc.SearchResult{
		Query: p.Query, Model: string(options.Model), Generation: found.Generation,
		Passages: found.Passages, Total: found.Total, TotalAtLeast: found.TotalAtLeast, Hits: []ipc.Hit{},
	}
	for i := range found.Hits {
		out.Hits = append(out.Hits, wireHit(&found.Hits[i], true))
	}
	return out, nil
}

// awaitVectors waits for the vectors of all documents: what is measured has them.
func (c *Corpus) awaitVectors(ctx context.Context) error {
	c.engine.WantEmbedding()
	for {
		st := c.engine.Embedding()
		if st.Err != nil {
			return fmt.Errorf("there are no vectors for hybrid ranking: %w", st.Err)
		}
		if st.Name != "" && st.Lacking == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Explain answers as the protocol's explain does.
func (c *Corpus) Explain(_ context.Context, p ipc.ExplainParams) (ipc.Explanation, error) {
	options, err := searchOptions(c.cfg.Rank, ipc.SearchParams{Model: p.Model, TF: p.TF})
	if err != nil {
		return ipc.Explanation{}, err
	}
	why, err := c.engine.Snapshot().Explain(p.Query, options, p.Path, p.Passage)
	if err != nil {
		return ipc.Explanation{}, corpusError(err)
	}
	return *wireExplanation(why, nil), nil
}

// Passages answers as the protocol's passages does.
func (c *Corpus) Passages(_ context.Context, p ipc.PassagesParams) (ipc.PassagesResult, error) {
	info, passages, err := c.engine.Snapshot().Passages(p.Path)
	if err != nil {
		return ipc.PassagesResult{}, corpusError(err)
	}
	out := ipc.PassagesResult{Path: info.Path, Folder: info.Folder, Rel: info.Rel, Type: info.Type, Title: info.Title}
	for _, p := range passages {
		out.Passages = append(out.Passages, ipc.Passage{
			Passage: p.N, Lines: p.Lines, Bytes: p.Bytes, Heading: headings(p.Heading), Terms: p.Length, Text: p.Text,
		})
	}
	return out, nil
}

func corpusError(err error) error {
	if errors.Is(err, index.ErrNotFound) {
		return ipc.Errorf(ipc.CodeNotFound, "%v", err)
	}
	return err
}
