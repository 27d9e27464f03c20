package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/xxh3"

	"quern/config"
	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/segment/vfs"
)

// indexDir holds a directory for each index configuration in use: one, or two
// while another is being built.
func (d *Daemon) indexDir() string { return filepath.Join(d.dataDir, "index") }

// lockPatience is how long a starting daemon waits for one that is ending.
const lockPatience = 5 * time.Second

// lockData takes the data directory for this daemon. It fails with
// vfs.ErrLocked (wrapped) when another one keeps it.
func (d *Daemon) lockData(ctx context.Context) (io.Closer, error) {
	dir, err := vfs.NewOS(d.dataDir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		lock, err := dir.Lock("lock")
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, vfs.ErrLocked) || ctx.Err() != nil {
			return nil, fmt.Errorf("take the data directory (another daemon needs a data_dir of its own): %w", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// indexOptions are the engine's options for cfg. Damage is told to c.
func (d *Daemon) indexOptions(cfg config.Config, c *core) index.Options {
	o := engineOptions(cfg)
	o.Log, o.Run, o.Dir = d.log, c.run, c.dir
	o.OnDamage = func(error) {
		select {
		case c.damaged <- struct{}{}:
		default: // it is known already
		}
	}
	return o
}

// engineOptions are what cfg says of an index, wherever it lies.
func engineOptions(cfg config.Config) index.Options {
	return index.Options{
		Chunk: chunk.Options{
			Strategy: cfg.Chunk.Strategy,
			MinWords: cfg.Chunk.MinWords, MaxWords: cfg.Chunk.MaxWords, Overlap: cfg.Chunk.Overlap,
		},
		Analysis: analysis.Options{
			Tokenizer: cfg.Analysis.Tokenizer, Stopwords: cfg.Analysis.Stopwords, Stemmer: cfg.Analysis.Stemmer,
			MinLength: cfg.Analysis.MinLength, FoldDiacritics: cfg.Analysis.FoldDiacritics,
		},
		HeadingTerms: cfg.Chunk.HeadingTerms,
		Threads:      cfg.Daemon.Threads,
		MemoryBudget: cfg.Daemon.MemoryBudget,
		PurgeAfter:   cfg.Daemon.PurgeAfter,
	}
}

// termsVersion grows when the same config makes other terms of the same text: an
// index of before is then built anew.
const termsVersion = 2

// indexKey tells index configurations apart: what they chunk and analyse by, the
// words of a stop-word list, and the commands that read files.
func indexKey(cfg config.Config) string {
	list, _ := os.ReadFile(cfg.Analysis.Stopwords) // the engine reports a list that cannot be read
	return fmt.Sprintf("%016x", xxh3.HashString(fmt.Sprintf("%d %+v %+v %q %q", termsVersion, cfg.Chunk, cfg.Analysis, list, cfg.Extractors)))
}

// removeOldIndexes removes the indexes that no core uses. The caller holds
// d.reloading.
func (d *Daemon) removeOldIndexes() {
	used := map[string]bool{d.core.Load().key: true}
	d.mu.Lock()
	if d.next != nil {
		used[d.next.key] = true
	}
	d.mu.Unlock()
	entries, err := os.ReadDir(d.indexDir())
	if err != nil {
		return // there is none yet
	}
	for _, e := range entries {
		if used[e.Name()] {
			continue
		}
		if err := removeIndex(filepath.Join(d.indexDir(), e.Name())); err != nil {
			d.log.Warn("an index of an earlier configuration cannot be removed", "err", err)
		}
	}
}

// goneSuffix marks an index that is being removed.
const goneSuffix = ".gone"

// removeIndex removes an index in one step, so that a crash leaves no part of it
// to be taken for a damaged one.
func removeIndex(dir string) error {
	gone := dir
	if filepath.Ext(dir) != goneSuffix {
		gone += goneSuffix
		if err := os.RemoveAll(gone); err != nil { // left by a crash
			return err
		}
		if err := os.Rename(dir, gone); err != nil {
			return err
		}
	}
	return os.RemoveAll(gone)
}
