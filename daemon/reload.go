package daemon

import (
	"context"
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

// reloadLocked is reload for a caller that holds d.reloading.
func (d *Daemon) reloadLocked() error {
	old := d.config()
	cfg, err := loadConfig(old.Path)
	if err != nil {
		return d.refuse(old, err)
	}
	d.setConfig(cfg, nil)
	if reflect.DeepEqual(cfg, old) {
		return nil
	}
	d.log.Info("config read", "path", cfg.Path, "folders", len(cfg.Folders))
	if old.SameIndex(cfg) && old.Daemon == cfg.Daemon {
		err = d.applyFolders()
	} else {
		err = d.rebuild(cfg)
	}
	if err != nil {
		return d.refuse(old, err)
	}
	return nil
}

// refuse keeps the old config in force and records why. It returns the reason.
func (d *Daemon) refuse(old config.Config, why error) error {
	d.log.Error("the config was changed and cannot be used; the old one stays in force", "err", why)
	d.setConfig(old, why)
	return why
}

func (d *Daemon) setConfig(cfg config.Config, problem error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cfg, d.configErr = cfg, problem
}

// rebuild starts a core for cfg beside the one that answers, which goes on
// until the new one has caught up. On an error nothing has changed: a core that
// is being built already goes on. The caller holds d.reloading.
func (d *Daemon) rebuild(cfg config.Config) error {
	next, err := d.startCore(cfg)
	if err != nil {
		return err
	}
	d.mu.Lock()
	abandoned := d.next
	d.next = next
	d.mu.Unlock()
	if abandoned != nil {
		abandoned.close()
	}
	// The folders may differ too: the old core follows what it can.
	if old := d.core.Load(); old.setFolders(d.makeFolders(cfg, old.list())) != nil {
		d.log.Warn("the old index does not follow the folders meanwhile")
	}
	go d.switchWhenReady(next) // ends when next has caught up or is closed
	return nil
}

// switchWhenReady lets next answer once it has seen every file.
func (d *Daemon) switchWhenReady(next *core) {
	if err := next.watch.Sync(context.Background()); err != nil {
		return // closed meanwhile
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	d.mu.Lock()
	current := d.next == next
	if current {
		d.next = nil
	}
	d.mu.Unlock()
	if !current {
		return
	}
	old := d.core.Load()
	next.base = old.generation() + 1
	d.core.Store(next)
	old.close()
	d.log.Info("the new index answers")
}

// watchConfig reads the config whenever its file changes. It returns when ctx
// is done.
func (d *Daemon) watchConfig(ctx context.Context) {
	path := d.config().Path
	if path == "" {
		return
	}
	w, err := watcher.New(watcher.Options{
		Settle: d.config().Daemon.Settle, CookieDir: filepath.Join(d.dataDir, "cookies"), Log: d.log,
	})
	if err != nil {
		d.log.Error("the config file is not watched; use quern reload", "err", err)
		return
	}
	defer w.Close()
	root := watcher.Root{Path: filepath.Dir(path), Filter: onlyFile(filepath.Base(path)), FollowSymlinks: true}
	if err := w.SetRoots([]watcher.Root{root}); err != nil {
		d.log.Error("the config file is not watched; use quern reload", "err", err)
		return
	}
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			return
		}
		w.Done(batch)
		atRest(ctx, path, d.config().Daemon.Settle)
		// The outcome is in the log and in the status.
		_, _ = d.reload(ctx, ipc.Empty{})
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

// onlyFile is a filter that lets one file of a root through.
type onlyFile string

func (f onlyFile) Dir(rel string) bool  { return rel == "." || rel == "" }
func (f onlyFile) File(rel string) bool { return rel == string(f) }
