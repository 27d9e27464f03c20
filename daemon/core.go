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
	"quern/daemon/access"
	"quern/index"
	"quern/index/embed"
	"quern/index/extract/sandbox"
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
	// changes remembers what was applied, and news, the daemon's, is told.
	changes changeLog
	news    *news
	// sandbox and quarantine are the daemon's, shared by its cores.
	sandbox    *sandbox.Sandbox
	quarantine *quarantine
	// user is whom the core is for: it knows what that one may read. nil: the owner.
	user *access.User
	// inherits says that the index has documents of an earlier core's: until it has
	// caught up, perhaps of files that the user may no longer read.
	inherits bool
	// embedder is the core's own, for a user's; nil: none, or the daemon's.
	embedder   *embed.Client
	extractors map[string][]string // the config's, by type
	// base is added to the engine's generation, so that generations grow
	// across cores; it is set before the core answers.
	base uint64

	devices map[string]uint64 // see devices; as of the start

	key string // of the index configuration
	dir string // the engine's directory

	mu      sync.Mutex     // guards all fields below
	folders []*folder      // in the order of the config, temporary ones last
	forced  map[string]int // paths at or below which every file is read, whatever its stat

	// caughtUp is closed once what stood in the folders at the start is
	// searchable, and nothing else.
	caughtUp chan struct{}
	// sweeps asks for what is gone of folders that were away at the start to be
	// removed, and for the channel sent to be closed then; swept is closed once
	// no folder is away any more.
	sweeps chan chan struct{}
	swept  chan struct{}
	ended  chan struct{} // closed by close
	// regrouped tells that the folders are others, or have another when_absent.
	regrouped chan struct{}
	damaged   chan struct{} // tells that the engine has lost documents
	// stuck is why changes cannot be applied at present, nil while they can.
	stuck atomic.Pointer[error]

	manners *manners
	born    time.Time
	hurry   atomic.Int32 // barriers that clients wait for
	work    workCounts

	cookies string          // the watcher's directory for them, no other watcher's
	running context.Context // done with stop
	stop    func()
	loops   sync.WaitGroup // the goroutines, which end with stop
}

// folder is a watched folder and the rules for what of it is indexed.
type folder struct {
	config.Folder
	temporary bool
	filter    *ignore.Filter
	sees      *sees // nil: everything that filter lets through

	rulesOnce sync.Once
	rulesHash uint32 // see memberRules
}

// rules is what the watcher goes by.
func (f *folder) rules() watcher.Filter {
	if f.sees != nil {
		return f.sees
	}
	return f.filter
}

// pollEvery is the folder's watcher.Root.Poll: by default the watcher polls what
// has no events.
func (f *folder) pollEvery() time.Duration {
	if f.sees != nil && f.FollowSymlinks && f.Poll.Mode != config.PollInterval {
		return linkedPoll
	}
	if f.Poll.Mode == config.PollNever {
		return -1
	}
	return f.Poll.Interval
}

// startCore starts a core for cfg, which is for t. The caller holds d.reloading.
func (d *Daemon) startCore(cfg config.Config, t *tenant) (*core, error) {
	c := &core{
		user: t.user, files: newFileTable(), news: t.news, sandbox: d.sandbox, quarantine: d.quarantine, extractors: extractorsOf(cfg),
		key: indexKey(cfg), forced: map[string]int{}, manners: d.manners, born: time.Now(),
		damaged: make(chan struct{}, 1), regrouped: make(chan struct{}, 1),
		caughtUp: make(chan struct{}), ended: make(chan struct{}), sweeps: make(chan chan struct{}), swept: make(chan struct{}),
	}
	c.dir = filepath.Join(t.dir, c.key)
	var err error
	if c.engine, err = index.Open(d.indexOptions(cfg, c)); err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	c.changes.start = c.engine.Snapshot().Generation()
	c.inherits = c.engine.Snapshot().Stats().Documents > 0
	if err := d.giveEmbedder(c, cfg); err != nil {
		d.log.Warn("vectors are learned, as the embedding service cannot be used", "err", err)
	}
	c.wantEmbedding(cfg)
	// Two watchers would take each other's cookies for their own.
	d.cores++
	c.cookies = filepath.Join(d.dataDir, "cookies", strconv.Itoa(d.cores))
	c.watch, err = watcher.New(watcher.Options{
		Settle:    cfg.Daemon.Settle,
		CookieDir: c.cookies,
		Exclude:   []string{d.dataDir},
		Log:       d.log,
		OnCheck:   func() { d.checkRules(c) },
	})
	if err != nil {
		c.engine.Close()
		return nil, fmt.Errorf("start watching: %w", err)
	}
	folders := d.makeFolders(cfg, nil, t.user)
	c.devices = devices(c.engine.Snapshot().Documents(), folders)
	if err := c.setFolders(folders); err != nil {
		c.watch.Close()
		c.engine.Close()
		return nil, err
	}
	c.start(newPipeline(c, d.log))
	if d.rehash != nil {
		c.loops.Go(func() { d.rehash.run(c.running, c) }) // ends with c.halt
	}
	return c, nil
}

// start starts the goroutines, which end with c.halt.
func (c *core) start(p *pipeline) {
	ctx, stop := context.WithCancel(context.Background())
	c.running, c.stop = ctx, stop
	p.beginCatchUp()
	c.loops.Go(func() { p.run(ctx) })
	c.loops.Go(func() { p.retry(ctx) })
	c.loops.Go(func() { p.catchUp(ctx) })
	c.loops.Go(func() { c.recover(ctx) })
	c.loops.Go(func() { c.followAbsence(ctx, p) })
}

// recover has all files looked at again whenever the engine has lost documents to
// damage: those that it still has are not read again. It returns when ctx is done.
func (c *core) recover(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.damaged:
			c.changes.lose()
			c.news.tell()
			for _, f := range c.list() {
				c.watch.Rescan(f.Path)
			}
		}
	}
}

// halt ends the pipeline: the generation grows no more. Barriers wait on until
// close wakes them.
func (c *core) halt() {
	c.stop()
	c.loops.Wait()
}

// close ends the pipeline, the watcher and the engine. Snapshots taken before
// stay valid.
func (c *core) close() {
	c.halt()
	close(c.ended)
	c.watch.Close()
	c.engine.Close()
	if c.embedder != nil {
		_ = c.embedder.Close() // a cache
	}
	_ = os.Remove(c.cookies) // there only if it was used, and empty
}

// sync waits until every change that was complete before the call is searchable,
// for a client: what is under way hurries up. It returns ctx's error,
// watcher.ErrClosed when the core ends, or errPaused.
func (c *core) sync(ctx context.Context) error {
	c.hurry.Add(1)
	defer c.hurry.Add(-1)
	if reason, _, _ := c.manners.paused(); reason == "" {
		return c.barrier(ctx)
	}
	brief, cancel := context.WithTimeout(ctx, pausedPatience)
	defer cancel()
	err := c.barrier(brief)
	if brief.Err() != nil && ctx.Err() == nil {
		return errPaused
	}
	return err
}

// gentle reports whether indexing is to keep out of the way of others.
func (c *core) gentle() bool {
	return !c.isCaughtUp() && c.hurry.Load() == 0 && time.Since(c.born) >= gentleAfter
}

// run does a part of the work of indexing.
func (c *core) run(work func()) { gently(c.gentle(), work) }

// barrier is sync for one who has time.
func (c *core) barrier(ctx context.Context) error {
	if err := c.watch.Sync(ctx); err != nil {
		return err
	}
	if err := c.await(ctx, c.caughtUp); err != nil {
		return err
	}
	done := make(chan struct{})
	select {
	case c.sweeps <- done:
		return c.await(ctx, done)
	case <-c.swept:
		return nil
	case <-c.ended:
		return watcher.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await waits until the channel is closed.
func (c *core) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-c.ended:
		return watcher.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *core) isCaughtUp() bool {
	select {
	case <-c.caughtUp:
		return true
	default:
		return false
	}
}

func (c *core) generation() uint64 { return c.base + c.engine.Snapshot().Generation() }

// setFolders makes the core watch exactly these folders. A folder that goes by
// a new name, or by new rules, is looked at again.
func (c *core) setFolders(folders []*folder) error {
	c.mu.Lock()
	before := c.folders
	c.folders = folders
	c.mu.Unlock()

	roots := make([]watcher.Root, len(folders))
	for i, f := range folders {
		roots[i] = watcherRoot(f, c.devices[f.Path])
	}
	if err := c.watch.SetRoots(roots); err != nil {
		return fmt.Errorf("watch the folders: %w", err)
	}
	for _, f := range folders {
		if reread(before, f) {
			c.watch.Rescan(f.Path)
		}
	}
	select {
	case c.regrouped <- struct{}{}:
	default: // it is known already
	}
	return nil
}

// reread reports whether the files of a folder have to be looked at again: their
// documents carry its name, and its rules choose among their members.
func reread(before []*folder, f *folder) bool {
	for _, b := range before {
		if b.Path == f.Path {
			return b.Name != f.Name || b.memberRules() != f.memberRules()
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

// reread has every file at or below path read again, whatever its stat, until the
// function it returns is called.
func (c *core) reread(path string) (end func()) {
	c.mu.Lock()
	c.forced[path]++
	c.mu.Unlock()
	c.watch.Rescan(path)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.forced[path]--; c.forced[path] == 0 {
			delete(c.forced, path)
		}
	}
}

// isForced reports whether the file is to be read whatever its stat.
func (c *core) isForced(path string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for forced := range c.forced {
		if _, ok := relativeTo(forced, path); ok {
			return true
		}
	}
	return false
}

func (c *core) list() []*folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folders
}
