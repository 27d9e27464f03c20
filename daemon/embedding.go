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

// embedderOf is the service that cfg names, which keeps in dir what it has made; nil if
// vectors are learned.
func embedderOf(cfg config.Config, dir string) (*embed.Client, error) {
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
		Dir: dir,
	})
}

// followEmbedding has all cores make vectors as cfg says, and begin to if it ranks by
// them. The caller holds d.reloading.
func (d *Daemon) followEmbedding(cfg config.Config) error {
	if d.embedding != cfg.Embedding {
		client, err := embedderOf(cfg, filepath.Join(d.dataDir, "embeddings"))
		if err != nil {
			return err
		}
		old := d.embedder
		d.embedder, d.embedding = client, cfg.Embedding
		for _, c := range d.ownCores() {
			c.setEmbedder(client)
		}
		for _, c := range d.tenants.cores() {
			if err := d.giveEmbedder(c, cfg); err != nil {
				return err
			}
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

// giveEmbedder has a new core's vectors made as cfg says: the owner's by the daemon's
// client, a user's by one of its own, for what others have had made must not be quicker
// to be had. The caller holds d.reloading.
func (d *Daemon) giveEmbedder(c *core, cfg config.Config) error {
	if c.user == nil {
		c.setEmbedder(d.embedder)
		return nil
	}
	client, err := embedderOf(cfg, filepath.Join(filepath.Dir(c.dir), "embeddings"))
	if err != nil {
		return err
	}
	old := c.embedder
	c.embedder = client
	c.setEmbedder(client)
	if old != nil {
		return old.Close()
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
