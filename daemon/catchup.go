package daemon

import (
	"context"
	"fmt"
	"time"

	"quern/index"
	"quern/watcher"
)

// sweepPause is how often folders that could not be read at the start are looked
// at again.
const sweepPause = time.Second

// beginCatchUp prepares for the files that were changed, moved or removed while
// no daemon ran.
func (p *pipeline) beginCatchUp() {
	p.seen = map[string]bool{}
	p.former = map[fileID]string{}
	p.members.reset()
	for doc := range p.core.engine.Snapshot().Documents() {
		f, ok := parseFingerprint(doc.Fingerprint)
		if file := f.ownerOf(doc.Path); file != doc.Path {
			p.members.add(file, doc.Path)
		} else if ok && f.id.ino != 0 {
			p.former[f.id] = doc.Path
		}
	}
}

// catchUp removes the documents whose files are gone since an earlier daemon
// indexed them: those that the watcher has not reported once it has seen their
// whole folder. A folder that cannot be read keeps its documents until it can. It
// returns when that is done for all folders, or when ctx is done.
func (p *pipeline) catchUp(ctx context.Context) {
	var swept string // the folders as of the last sweep
	var asked chan struct{}
	for whole := false; !whole; {
		if roots := rootStates(p.core.watch.State()); roots != swept {
			var err error
			if whole, err = p.sweep(ctx); err != nil {
				return
			}
			swept = roots
		}
		if !p.core.isCaughtUp() {
			close(p.core.caughtUp)
		}
		if asked != nil {
			close(asked)
		}
		if whole {
			break
		}
		select {
		case <-ctx.Done():
			return
		case asked = <-p.core.sweeps:
		case <-time.After(sweepPause):
			asked = nil
		}
	}
	p.applying.Lock()
	defer p.applying.Unlock()
	p.seen, p.former = nil, nil
	close(p.core.swept)
}

// sweep removes what is gone of the folders that can be read, and of those that
// are no longer watched. whole says that no folder is left for later.
func (p *pipeline) sweep(ctx context.Context) (whole bool, err error) {
	before := readable(p.core.watch.State())
	if err := p.core.watch.Sync(ctx); err != nil {
		return false, err
	}
	state := p.core.watch.State()
	seenWhole := readable(state)
	for root := range seenWhole {
		if !before[root] {
			delete(seenWhole, root)
		}
	}
	if !p.removeAbsent(ctx, seenWhole) {
		return false, ctx.Err()
	}
	return len(seenWhole) == len(state.Roots), nil
}

// rootStates tells apart what sweeps depend on: which roots there are, and which
// of them can be read.
func rootStates(s watcher.State) string {
	var b []byte
	for _, r := range s.Roots {
		b = fmt.Appendf(b, "%q %t\n", r.Path, r.State != "suspended")
	}
	return string(b)
}

// readable are the paths of the roots whose files the watcher can see.
func readable(s watcher.State) map[string]bool {
	roots := map[string]bool{}
	for _, r := range s.Roots {
		if r.State != "suspended" {
			roots[r.Path] = true
		}
	}
	return roots
}

// removeAbsent removes the documents of the roots given, and those in no folder,
// whose files have not been seen. A file that comes back meanwhile is in a later
// batch.
func (p *pipeline) removeAbsent(ctx context.Context, roots map[string]bool) bool {
	p.applying.Lock()
	defer p.applying.Unlock()
	var absent []index.Change
	for doc := range p.core.engine.Snapshot().Documents() {
		file := fileOf(doc)
		if p.seen[file] {
			continue
		}
		if f := p.core.folderOf(file); f == nil || roots[f.Path] {
			absent = append(absent, index.Change{Remove: doc.Path})
		}
	}
	return len(absent) == 0 || p.commit(ctx, func() []index.Change { return absent })
}

// see notes that the files have been reported. The caller holds p.applying.
func (p *pipeline) see(changes []watcher.Change) {
	if p.seen == nil {
		return
	}
	for _, c := range changes {
		p.seen[c.Path] = true
	}
}
