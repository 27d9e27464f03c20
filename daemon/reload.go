package daemon

import (
	"context"
	"path/filepath"
	"reflect"

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
		d.log.Error("the config was changed and cannot be used; the old one stays in force", "err", err)
		d.mu.Lock()
		d.configErr = err
		d.mu.Unlock()
		return err
	}
	d.mu.Lock()
	d.cfg, d.configErr = cfg, nil
	d.mu.Unlock()
	if reflect.DeepEqual(cfg, old) {
		return nil
	}
	d.log.Info("config read", "path", cfg.Path, "folders", len(cfg.Folders))
	if old.SameIndex(cfg) && old.Daemon == cfg.Daemon {
		return d.applyFolders()
	}
	return d.rebuild(cfg)
}

// rebuild starts a core for cfg beside the one that answers, which goes on
// until the new one has caught up. The caller holds d.reloading.
func (d *Daemon) rebuild(cfg config.Config) error {
	d.mu.Lock()
	abandoned := d.next
	d.next = nil
	d.mu.Unlock()
	if abandoned != nil {
		abandoned.close()
	}
	next, err := d.startCore(cfg)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.next = next
	d.mu.Unlock()
	// The folders may differ too: the old core follows what it can.
	if old := d.core.Load(); old.setFolders(d.makeFolders(cfg, old.list())) != nil {
		d.log.Warn("the old index does not follow the folders meanwhile")
	}
	d.switching.Go(func() { d.switchWhenReady(next) }) // ends when next has caught up or is closed
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
	if err := w.SetRoots(configRoots(path)); err != nil {
		d.log.Error("the config file is not watched; use quern reload", "err", err)
		return
	}
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			return
		}
		w.Done(batch)
		// The outcome is in the log and in the status.
		_, _ = d.reload(ctx, ipc.Empty{})
	}
}

// configRoots are the directory of the config file and, if the file is a link,
// the directory of what it links to.
func configRoots(path string) []watcher.Root {
	names := onlyFiles{filepath.Base(path), filepath.Base(path)}
	roots := []watcher.Root{{Path: filepath.Dir(path)}}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		names.target = filepath.Base(target)
		if dir := filepath.Dir(target); dir != filepath.Dir(path) {
			roots = append(roots, watcher.Root{Path: dir})
		}
	}
	for i := range roots {
		roots[i].Filter, roots[i].FollowSymlinks = names, true
	}
	return roots
}

// onlyFiles is a filter that lets two files of a root through.
type onlyFiles struct{ link, target string }

func (f onlyFiles) Dir(rel string) bool  { return rel == "." || rel == "" }
func (f onlyFiles) File(rel string) bool { return rel == f.link || rel == f.target }
