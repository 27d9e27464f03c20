package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern/config"
	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/watcher"
	"quern/watcher/ignore"
)

// core is one index and what keeps it true: a watcher, and a pipeline from the
// one to the other. A config that asks for another kind of index gets another
// core; the old one answers until the new one has caught up.
type core struct {
	engine *index.Engine
	watch  *watcher.Watcher
	files  *fileTable
	// base is added to the engine's generation, so that generations grow
	// across cores; it is set before the core answers.
	base uint64

	mu      sync.Mutex // guards folders
	folders []*folder  // in the order of the config, temporary ones last

	// caughtUp is set once every file that stood in the folders at the start
	// is searchable.
	caughtUp atomic.Bool
	// stuck is why changes cannot be applied at present, nil while they can.
	stuck atomic.Pointer[error]

	cookies string // the watcher's directory for them, no other watcher's
	stop    func()
	work    sync.WaitGroup // the goroutines, which end with stop
}

// folder is a watched folder and the rules for what of it is indexed.
type folder struct {
	config.Folder
	temporary bool
	filter    *ignore.Filter
}

// remotePoll is how often a folder is polled by itself.
const remotePoll = 30 * time.Second

// pollEvery is the interval at which the folder is polled, 0 for never: by
// default where others than this machine change its files.
func (f *folder) pollEvery() time.Duration {
	if f.Poll.Mode == config.PollAuto {
		if _, remote, err := watcher.Remote(f.Path); err == nil && remote {
			return remotePoll
		}
	}
	return f.Poll.Interval
}

// startCore starts a core for cfg. The caller holds d.reloading.
func (d *Daemon) startCore(cfg config.Config) (*core, error) {
	engine, err := index.Open(index.Options{
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
		Log:          d.log,
	})
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	// Two watchers would take each other's cookies for their own.
	d.cores++
	cookies := filepath.Join(d.dataDir, "cookies", strconv.Itoa(d.cores))
	watch, err := watcher.New(watcher.Options{
		Settle:    cfg.Daemon.Settle,
		CookieDir: cookies,
		Exclude:   []string{d.dataDir},
		Log:       d.log,
	})
	if err != nil {
		engine.Close()
		return nil, fmt.Errorf("start watching: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &core{engine: engine, watch: watch, files: newFileTable(), cookies: cookies, stop: stop}
	if err := c.setFolders(d.makeFolders(cfg, nil)); err != nil {
		stop()
		watch.Close()
		engine.Close()
		return nil, err
	}
	p := newPipeline(c, d.log)
	c.work.Go(func() { p.run(ctx) })
	c.work.Go(func() { p.retry(ctx) })
	c.work.Go(func() {
		if watch.Sync(ctx) == nil {
			c.caughtUp.Store(true)
		}
	})
	return c, nil
}

// halt ends the pipeline: the generation grows no more. Barriers wait on until
// close wakes them.
func (c *core) halt() {
	c.stop()
	c.work.Wait()
}

// close ends the pipeline, the watcher and the engine. Snapshots taken before
// stay valid.
func (c *core) close() {
	c.halt()
	c.watch.Close()
	c.engine.Close()
	_ = os.Remove(c.cookies) // there only if it was used, and empty
}

func (c *core) generation() uint64 { return c.base + c.engine.Snapshot().Generation() }

// setFolders makes the core watch exactly these folders. A folder that goes by
// a new name is read again, since its documents carry the name.
func (c *core) setFolders(folders []*folder) error {
	c.mu.Lock()
	before := c.folders
	c.folders = folders
	c.mu.Unlock()

	roots := make([]watcher.Root, len(folders))
	for i, f := range folders {
		roots[i] = watcher.Root{
			Path: f.Path, Filter: f.filter, FollowSymlinks: f.FollowSymlinks,
			MaxFileSize: f.MaxFileSize, Poll: f.pollEvery(),
		}
	}
	if err := c.watch.SetRoots(roots); err != nil {
		return fmt.Errorf("watch the folders: %w", err)
	}
	for _, f := range folders {
		if renamed(before, f) {
			c.watch.Rescan(f.Path)
		}
	}
	return nil
}

func renamed(before []*folder, f *folder) bool {
	for _, b := range before {
		if b.Path == f.Path {
			return b.Name != f.Name
		}
	}
	return false
}

// folderAt is the folder whose root is exactly path, or nil.
func (c *core) folderAt(path string) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.folders {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// folderOf is the innermost folder that holds path, or nil.
func (c *core) folderOf(path string) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	var inner *folder
	for _, f := range c.folders {
		if _, ok := relativeTo(f.Path, path); ok && (inner == nil || len(f.Path) > len(inner.Path)) {
			inner = f
		}
	}
	return inner
}

func (c *core) list() []*folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folders
}
