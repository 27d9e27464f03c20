package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"quern/config"
	"quern/daemon/access"
	"quern/ipc"
	"quern/watcher"
	"quern/watcher/ignore"
)

// makeFolders joins the configured folders and the temporary ones; a temporary
// folder that the config names too is the config's, and one whose name is taken
// gets a number. A folder that stands unchanged among before is taken from
// there, rules and all. The caller holds d.reloading.
//
// For a user they are those configured folders that the user may search and enter.
func (d *Daemon) makeFolders(cfg config.Config, before []*folder, user *access.User) []*folder {
	if user != nil {
		return foldersOf(cfg, before, *user)
	}
	var out []*folder
	paths, names := map[string]bool{}, map[string]bool{}
	add := func(f config.Folder, temporary bool) {
		if paths[f.Path] {
			return
		}
		f.Name = freeName(f.Name, names)
		paths[f.Path], names[f.Name] = true, true
		for _, b := range before {
			if b.temporary == temporary && reflect.DeepEqual(b.Folder, f) {
				out = append(out, b)
				return
			}
		}
		out = append(out, &folder{Folder: f, temporary: temporary, filter: newFilter(f, nil)})
	}
	for _, f := range cfg.Folders {
		add(f, false)
	}
	for _, f := range d.temporary {
		add(f, true)
	}
	return out
}

func newFilter(f config.Folder, user *access.User) *ignore.Filter {
	o := ignore.Options{Root: f.Path, Include: f.Include, Exclude: f.Exclude, Hidden: f.Hidden, Gitignore: f.Gitignore}
	if user != nil {
		o.May, o.Open = func(path string) bool { return knows(user, path) }, user.Open
	}
	filter, err := ignore.New(o)
	if err != nil {
		// The config has checked every glob, with its line.
		panic(fmt.Sprintf("folder %s: %v", f.Path, err))
	}
	return filter
}

// folders are those of the core that answers.
func (d *Daemon) folders() []*folder { return d.core.Load().list() }

// foldersAdd watches one more folder: for this daemon's life, or by writing it
// into the config.
func (d *Daemon) foldersAdd(_ context.Context, p ipc.FolderParams) (ipc.FoldersResult, error) {
	path, err := directory(p.Path)
	if err != nil {
		return ipc.FoldersResult{}, err
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if p.Temporary {
		err = d.addTemporary(path, p.Name)
	} else {
		err = d.addConfigured(path, p.Name)
	}
	if err != nil {
		return ipc.FoldersResult{}, err
	}
	return ipc.FoldersResult{Folders: folderStatus(d.core.Load())}, nil
}

// directory decodes a path of the protocol, which must be that of a directory.
func directory(wire string) (string, error) {
	path, err := absolute(wire)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", ipc.Errorf(ipc.CodeNotFound, "%s: %v", path, reasonOf(err))
	}
	if !info.IsDir() {
		return "", ipc.Errorf(ipc.CodeInvalidParams, "%s is not a directory", path)
	}
	return path, nil
}

// addTemporary watches path unless a folder holds it already.
func (d *Daemon) addTemporary(path, name string) error {
	if f := d.core.Load().folderOf(path); f != nil {
		rel, _ := relativeTo(f.Path, path)
		if rel == "." || f.filter.Dir(rel) {
			return nil
		}
	}
	f := config.DefaultFolder(path)
	f.Name = cmp.Or(name, f.Name)
	d.temporary = append(d.temporary, f)
	return d.applyFolders(d.config())
}

// freeName is name, or name with a number where it is taken.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

func (d *Daemon) addConfigured(path, name string) error {
	cfg := d.config()
	for _, f := range cfg.Folders {
		if f.Path == path {
			return ipc.Errorf(ipc.CodeInvalidParams, "%s is a folder already, named %s", path, f.Name)
		}
	}
	if cfg.Path == "" {
		return ipc.Errorf(ipc.CodeInvalidParams, "this daemon runs without a config file to write the folder into")
	}
	f := config.DefaultFolder(path)
	f.Name = cmp.Or(name, f.Name)
	if err := config.AddFolder(cfg.Path, f); err != nil {
		return ipc.Errorf(ipc.CodeInvalidParams, "%v", err)
	}
	return d.reloadLocked()
}

// foldersRemove stops watching a folder, given by its path or its name.
func (d *Daemon) foldersRemove(_ context.Context, p ipc.FolderParams) (ipc.FoldersResult, error) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	path, err := ipc.DecodePath(p.Path)
	if err != nil {
		return ipc.FoldersResult{}, ipc.Errorf(ipc.CodeInvalidParams, "path: %v", err)
	}
	var found *folder
	for _, f := range d.folders() {
		if f.Path == filepath.Clean(path) || f.Name == path {
			found = f
			break
		}
	}
	if found == nil {
		return ipc.FoldersResult{}, ipc.Errorf(ipc.CodeNotFound, "no folder has the path or name %q", path)
	}
	if found.temporary {
		d.forgetTemporary(found.Path)
		err = d.applyFolders(d.config())
	} else if err = config.RemoveFolder(d.config().Path, found.Path); err == nil {
		d.forgetTemporary(found.Path) // or it would come back as a temporary one
		err = d.reloadLocked()
	}
	if err != nil {
		return ipc.FoldersResult{}, fmt.Errorf("remove the folder %s: %w", found.Path, err)
	}
	return ipc.FoldersResult{Folders: folderStatus(d.core.Load())}, nil
}

func (d *Daemon) forgetTemporary(path string) {
	d.temporary = slices.DeleteFunc(d.temporary, func(f config.Folder) bool { return f.Path == path })
}

// applyFolders makes every core watch cfg's folders and the temporary ones. The
// caller holds d.reloading.
func (d *Daemon) applyFolders(cfg config.Config) error {
	for _, c := range d.allCores() {
		if err := c.setFolders(d.makeFolders(cfg, c.list(), c.user)); err != nil {
			return err
		}
	}
	return nil
}

// refreshRules has the folders of a core scanned anew whose ignore rules come from
// files outside of them, which no watch shows, and have changed; and those of a user
// that can be entered now, or no longer.
func (d *Daemon) refreshRules(cores ...*core) error {
	if !slices.ContainsFunc(cores, d.isOutdated) {
		return nil
	}
	d.reloading.Lock()
	defer d.reloading.Unlock()
	for _, c := range cores {
		folders := slices.Clone(c.list())
		if c.user != nil {
			folders = d.makeFolders(d.config(), folders, c.user)
		}
		for i, f := range folders {
			if f.outdated() {
				folders[i] = f.renewed(c.user)
			}
		}
		if err := c.setFolders(folders); err != nil {
			return err
		}
	}
	return nil
}

// renewed is the folder with its rules read anew.
func (f *folder) renewed(user *access.User) *folder {
	n := &folder{Folder: f.Folder, temporary: f.temporary, filter: newFilter(f.Folder, user)}
	if f.sees != nil {
		n.sees = &sees{n.filter, f.Path, *user, f.sees.barred}
	}
	return n
}

// isOutdated reports whether refreshRules has something to do.
func (d *Daemon) isOutdated(c *core) bool {
	if slices.ContainsFunc(c.list(), (*folder).outdated) {
		return true
	}
	return c.user != nil && !slices.Equal(pathsOf(c.list()), openPaths(d.config(), *c.user))
}

func (f *folder) outdated() bool { return f.filter.OutsideChanged() }

// checkRules asks for refreshRules when it has something to do: a few stats, which
// the watcher has made with its own checks.
func (d *Daemon) checkRules(c *core) {
	if d.isOutdated(c) {
		select {
		case d.rulesChanged <- struct{}{}:
		default: // it is asked for already
		}
	}
}

// watchRules sees to it that also those who never sync get answers by the
// present rules. It returns when ctx is done.
func (d *Daemon) watchRules(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.rulesChanged:
		}
		if err := d.refreshRules(d.allCores()...); err != nil {
			d.log.Warn("the folders are not scanned for changed ignore rules", "err", err)
		}
	}
}

// allCores are the owner's and those of the other users.
func (d *Daemon) allCores() []*core { return append(d.ownCores(), d.tenants.cores()...) }

// ownCores are the core that answers the owner and the one being built, if any.
func (d *Daemon) ownCores() []*core {
	cores := []*core{d.core.Load()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next != nil {
		cores = append(cores, d.next)
	}
	return cores
}

func (d *Daemon) foldersList(ctx context.Context, _ ipc.Empty) (ipc.FoldersResult, error) {
	return ipc.FoldersResult{Folders: folderStatus(d.coreOf(ctx))}, nil
}

// folderStatus joins what the config, the watcher and the index know of each folder.
func folderStatus(c *core) []ipc.FolderStatus {
	stats := c.engine.Snapshot().Stats()
	roots := map[string]watcher.RootState{}
	for _, r := range c.state().Roots {
		roots[r.Path] = r
	}
	out := []ipc.FolderStatus{}
	for _, f := range c.list() {
		s := ipc.FolderStatus{
			Name: f.Name, Path: ipc.EncodePath(f.Path), Temporary: f.temporary,
			State: roots[f.Path].State, Reason: roots[f.Path].Reason,
			Documents: stats.Folders[f.Name].Documents, Passages: stats.Folders[f.Name].Passages,
		}
		s.Polled = roots[f.Path].Polled
		for _, dir := range roots[f.Path].PolledAt {
			s.PolledAt = append(s.PolledAt, ipc.EncodePath(dir))
		}
		if f.WhenAbsent != config.AbsentKeep {
			s.WhenAbsent = f.WhenAbsent
		}
		out = append(out, s)
	}
	return out
}
