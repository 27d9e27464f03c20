package daemon

import (
	"context"

	"quern/config"
	"quern/index"
	"quern/ipc"
	"quern/watcher"
)

// absentees are the folders that are not there at present and whose passages are
// not to be found meanwhile. The watcher looks at the roots first: what was
// unmounted a moment ago is not told any more.
func (c *core) absentees(ctx context.Context) (map[*folder]bool, error) {
	discreet := false
	for _, f := range c.list() {
		discreet = discreet || f.WhenAbsent != config.AbsentKeep
	}
	if !discreet {
		return nil, nil
	}
	if err := c.watch.CheckRoots(ctx); err != nil {
		return nil, closing(err)
	}
	here := readable(c.watch.State())
	out := map[*folder]bool{}
	for _, f := range c.list() {
		if f.WhenAbsent != config.AbsentKeep && !here[f.Path] {
			out[f] = true
		}
	}
	return out, nil
}

// withoutAbsent narrows a test for documents, nil for all, to those of folders
// that may be told of.
func (c *core) withoutAbsent(ctx context.Context, keep func(*index.DocumentInfo) bool) (func(*index.DocumentInfo) bool, error) {
	absent, err := c.absentees(ctx)
	if err != nil || len(absent) == 0 {
		return keep, err
	}
	return func(doc *index.DocumentInfo) bool {
		return !absent[c.folderOf(doc.Path)] && (keep == nil || keep(doc))
	}, nil
}

// mayTell returns an error when the file's folder is absent and nothing may be
// said of it.
func (c *core) mayTell(ctx context.Context, path string) error {
	absent, err := c.absentees(ctx)
	if err != nil {
		return err
	}
	if f := c.folderOf(path); f != nil && absent[f] {
		return ipc.Errorf(ipc.CodeNotFound, "%s is in the folder %s, which is not there at present", path, f.Name)
	}
	return nil
}

// followAbsence drops the documents of folders that went away, where the config
// wants it so, and has them read again when they are back. It returns when ctx is
// done.
func (c *core) followAbsence(ctx context.Context, p *pipeline) {
	dropped := map[string]bool{} // by the folder's path
	for {
		here := readable(c.watch.State())
		for _, f := range c.list() {
			switch {
			case here[f.Path] && dropped[f.Path]:
				delete(dropped, f.Path)
				c.watch.Rescan(f.Path)
			case !here[f.Path] && !dropped[f.Path] && f.WhenAbsent == config.AbsentDrop:
				dropped[f.Path] = true
				if !p.dropFolder(ctx, f) {
					return
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.watch.Turned():
		case <-c.regrouped:
		}
	}
}

// dropFolder takes all documents of the folder out of the index.
func (p *pipeline) dropFolder(ctx context.Context, f *folder) bool {
	p.applying.Lock()
	defer p.applying.Unlock()
	var gone []index.Change
	for doc := range p.core.engine.Snapshot().Documents() {
		if p.core.folderOf(doc.Path) == f {
			gone = append(gone, index.Change{Remove: doc.Path})
		}
	}
	p.core.files.forget(func(path string) bool { return p.core.folderOf(path) == f })
	return len(gone) == 0 || p.commit(ctx, func() []index.Change { return gone })
}

// devices are the file systems that held the documents of each folder when they
// were indexed, by the folders' paths: the one of most of them.
func devices(documents func(func(*index.DocumentInfo) bool), folders []*folder) map[string]uint64 {
	counts := map[*folder]map[uint64]int{}
	find := &core{folders: folders}
	for doc := range documents {
		note, ok := parseFingerprint(doc.Fingerprint)
		f := find.folderOf(doc.Path)
		if !ok || f == nil || note.id.dev == 0 {
			continue
		}
		if counts[f] == nil {
			counts[f] = map[uint64]int{}
		}
		counts[f][note.id.dev]++
	}
	out := map[string]uint64{}
	for f, byDevice := range counts {
		most := 0
		for dev, n := range byDevice {
			if n > most {
				most, out[f.Path] = n, dev
			}
		}
	}
	return out
}

// watcherRoot is what the watcher is to know of a folder.
func watcherRoot(f *folder, device uint64) watcher.Root {
	return watcher.Root{
		Path: f.Path, Filter: f.rules(), FollowSymlinks: f.FollowSymlinks,
		MaxFileSize: f.MaxFileSize, Poll: f.pollEvery(), Device: device,
	}
}
