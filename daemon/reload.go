package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"quern/config"
	"quern/ipc"
	"quern/watcher"
)

// reload reads the config anew. A bad one is reported and the old one stays in
// force.
func (d *Daemon) reload(context.Context, ipc.Empty) (ipc.Empty, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if err := d.reloadLocked(); err != nil {
		return ipc.Empty{}, ipc.Errorf(ipc.CodeInvalidParams, "the config is not in force: %v", err)
	}
	return ipc.Empty{}, nil
}

// reloadLocked is reload for a caller that holds d.reloading. The status tells
// its error until a later call succeeds.
func (d *Daemon) reloadLocked() error {
	old := d.config()
	if old.Path == "" {
		return nil // there is no file
	}
	cfg, err := config.Load(old.Path)
	if errors.Is(err, fs.ErrNotExist) && reflect.DeepEqual(old, defaults(old.Path)) {
		cfg, err = old, nil // it was not there before
	}
	if err == nil {
		err = d.adopt(old, cfg)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.configErr = err; err == nil {
		d.cfg = cfg
	}
	return err
}

// adopt makes the cores follow cfg, which takes the place of old. On an error
// they go on as before. The caller holds d.reloading.
func (d *Daemon) adopt(old, cfg config.Config) error {
	key := indexKey(cfg)
	if reflect.DeepEqual(cfg, old) && key == d.newest().key {
		return nil
	}
	if started(cfg.Daemon) != started(old.Daemon) {
		d.log.Warn("some changes of [daemon] take effect when the daemon is started again")
	}
	if err := d.followEmbedding(cfg); err != nil {
		return err
	}
	switch {
	case key == d.newest().key:
	case key == d.core.Load().key: // back to what answers: nothing else need be built
		d.setNext(nil).close()
		d.removeOldIndexes()
	default:
		return d.rebuild(cfg)
	}
	d.manners.setMode(cfg.Daemon.OnBattery)
	if err := d.applyFolders(cfg); err != nil {
		return err
	}
	d.rebuildTenants(cfg)
	d.log.Info("config read", "path", cfg.Path, "folders", len(cfg.Folders))
	return nil
}

// started are the keys that are read at the start alone: all but on_battery.
func started(c config.Daemon) config.Daemon {
	c.OnBattery = ""
	return c
}

// newest is the core that is being built, or else the one that answers.
func (d *Daemon) newest() *core {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next != nil {
		return d.next
	}
	return d.core.Load()
}

// rebuild starts a core for cfg beside the one that answers, which goes on
// until the new one has caught up. On an error nothing has changed: a core that
// is being built already goes on. The caller holds d.reloading.
func (d *Daemon) rebuild(cfg config.Config) error {
	if d.closed {
		return closing(watcher.ErrClosed)
	}
	next, err := d.startCore(cfg, d.owner)
	if err != nil {
		return err
	}
	if abandoned := d.setNext(next); abandoned != nil {
		abandoned.close()
		d.removeOldIndexes()
	}
	d.manners.setMode(cfg.Daemon.OnBattery)
	// The folders may differ too: the old core follows what it can.
	old := d.core.Load()
	if err := old.setFolders(d.makeFolders(cfg, old.list(), nil)); err != nil {
		d.log.Warn("the old index does not follow the folders meanwhile", "err", err)
	}
	d.rebuildTenants(cfg)
	d.switching.Go(func() { d.switchWhenReady(next) }) // ends when next has caught up or is closed
	return nil
}

// switchWhenReady lets next answer once it has seen every file.
func (d *Daemon) switchWhenReady(next *core) {
	if err := next.barrier(context.Background()); err != nil {
		return // closed meanwhile
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if !d.isNext(next) {
		return
	}
	old := d.core.Load()
	old.halt() // its generation is the last one before next's
	next.base = old.generation() + 1
	d.core.Store(next)
	d.news.tell()
	d.setNext(nil)
	old.close()
	d.removeOldIndexes()
	d.log.Info("the new index answers")
}

func (d *Daemon) isNext(c *core) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next == c
}

// configCheck is how often the config's directory is looked at, should it come
// without an event.
const configCheck = 5 * time.Second

// watchConfig reads the config whenever its file changes, or the list of stop
// words that it names. It returns when ctx
// is done.
func (d *Daemon) watchConfig(ctx context.Context) {
	path := d.config().Path
	if path == "" {
		return
	}
	w, err := watcher.New(watcher.Options{Settle: d.config().Daemon.Settle, RootCheck: configCheck, Log: d.log})
	if err != nil {
		d.log.Error("the config file is not watched; use quern reload", "err", err)
		return
	}
	defer w.Close()
	var watched []watcher.Root
	for {
		if roots := rootsOfFiles(path, d.config().Analysis.Stopwords); !reflect.DeepEqual(roots, watched) {
			if err := w.SetRoots(roots); err != nil {
				d.log.Error("the config file is not watched; use quern reload", "err", err)
				return
			}
			watched = roots
		}
		batch, err := w.Next(ctx)
		if err != nil {
			return
		}
		w.Done(batch)
		atRest(ctx, path, d.config().Daemon.Settle)
		if _, err := d.reload(ctx, ipc.Empty{}); err != nil {
			d.log.Error("the config file has changed and cannot be used", "err", err)
		}
	}
}

// mostRests bounds how often atRest waits for a file that never rests.
const mostRests = 20

// atRest waits until nothing has been written to the file for quiet: what saves a
// file by emptying it first leaves, for an instant, a config without folders.
func atRest(ctx context.Context, path string, quiet time.Duration) {
	for range mostRests {
		info, err := os.Stat(path)
		if err != nil {
			return
		}
		age := time.Since(info.ModTime())
		if age < 0 || age >= quiet {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(quiet - age):
		}
	}
}

// rootsOfFiles are the directories of the files and, where a file is a link, of
// what it links to. A path that is not absolute names no file.
func rootsOfFiles(paths ...string) []watcher.Root {
	var roots []watcher.Root
	names := map[string]*onlyFiles{} // by directory
	add := func(path string) {
		dir := filepath.Dir(path)
		if names[dir] == nil {
			names[dir] = &onlyFiles{map[string]bool{}}
			roots = append(roots, watcher.Root{Path: dir, Filter: names[dir], FollowSymlinks: true})
		}
		names[dir].names[filepath.Base(path)] = true
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		add(path)
		if target, err := filepath.EvalSymlinks(path); err == nil {
			add(target)
		}
	}
	return roots
}

// onlyFiles is a filter that lets some files of a root through, by their names.
type onlyFiles struct{ names map[string]bool }

func (f *onlyFiles) Dir(rel string) bool  { return rel == "." || rel == "" }
func (f *onlyFiles) File(rel string) bool { return f.names[rel] }
