package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quern/config"
	"quern/index"
	"quern/index/embed"
	"quern/index/lsa"
	"quern/ipc"
)

// embedderOf is the service that cfg names; nil if vectors are learned.
func (d *Daemon) embedderOf(cfg config.Config) (*embed.Client, error) {
	e := cfg.Embedding
	if e.Kind != config.EmbeddingHTTP {
		return nil, nil
	}
	var key []byte
	if e.KeyFile != "" {
		var err error
		if key, err = os.ReadFile(e.KeyFile); err != nil {
			return nil, fmt.Errorf("read the key of the embedding service (embedding.key_file): %w", err)
		}
	}
	return embed.New(embed.Options{
		URL: e.URL, Model: e.Model, Key: string(bytes.TrimSpace(key)),
		QueryPrefix: e.QueryPrefix, PassagePrefix: e.PassagePrefix, Batch: e.Batch, Timeout: e.Timeout,
		Dir: filepath.Join(d.dataDir, "embeddings"),
	})
}

// followEmbedding has all cores make vectors as cfg says, and begin to if it ranks by
// them. The caller holds d.reloading.
func (d *Daemon) followEmbedding(cfg config.Config) error {
	if d.embedding != cfg.Embedding {
		client, err := d.embedderOf(cfg)
		if err != nil {
			return err
		}
		old := d.embedder
		d.embedder, d.embedding = client, cfg.Embedding
		for _, c := range d.allCores() {
			c.setEmbedder(client)
		}
		if old != nil {
			if err := old.Close(); err != nil {
				d.log.Warn("the cache of embeddings could not be closed", "err", err)
			}
		}
	}
	for _, c := range d.allCores() {
		c.wantEmbedding(cfg)
	}
	return nil
}

// wantEmbedding has the core make vectors if cfg ranks by them.
func (c *core) wantEmbedding(cfg config.Config) {
	if index.Model(cfg.Rank.Model) == index.Hybrid {
		c.engine.WantEmbedding()
	}
}

// setEmbedder has the core's vectors made by a service; nil: learned.
func (c *core) setEmbedder(client *embed.Client) {
	if client == nil {
		c.engine.SetEmbedder(nil)
		return
	}
	c.engine.SetEmbedder(client)
}

// embeddingStatus tells of the vectors, if anybody has asked for them.
func embeddingStatus(e *index.Engine) *ipc.EmbeddingStatus {
	s := e.Embedding()
	if !s.Wanted {
		return nil
	}
	out := &ipc.EmbeddingStatus{
		Name: s.Name, Dimensions: s.Dimensions, Embedded: s.Embedded, Lacking: s.Lacking, Learned: s.Learned,
	}
	if s.Err != nil && !errors.Is(s.Err, lsa.ErrTooSmall) {
		out.Error = s.Err.Error()
	}
	return out
}
