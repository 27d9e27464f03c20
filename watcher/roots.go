package watcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// SetRoots declares which trees to watch. New roots are scanned, changed ones
// scanned again (an unchanged file is not reported again); files that are no
// longer covered are reported as removed, and files whose innermost root is another
// now as written, with the new root. A root that does not exist is suspended until
// it appears. It is an error when a path is not absolute or named twice, and then
// nothing is changed.
func (w *Watcher) SetRoots(roots []Root) error {
	want := map[string]Root{}
	for _, r := range roots {
		if !filepath.IsAbs(r.Path) {
			return fmt.Errorf("watcher: root %q: not an absolute path", r.Path)
		}
		r.Path = filepath.Clean(r.Path)
		if _, dup := want[r.Path]; dup {
			return fmt.Errorf("watcher: root %s is named twice", r.Path)
		}
		want[r.Path] = r
	}
	return w.do(func() { w.applyRoots(want) })
}

// do runs f in the reconciler and waits for it.
func (w *Watcher) do(f func()) error { return w.doWithin(context.Background(), f) }

// doWithin is do for a caller that waits no longer than ctx, whose error it then
// returns: f is still run.
func (w *Watcher) doWithin(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case w.cmds <- func() { f(); close(done) }:
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *Watcher) applyRoots(want map[string]Root) {
	w.excludeIDs()
	old, now := w.roots, map[string]*rootState{}
	var added, changed, retired []*rootState
	for path, root := range want {
		r := old[path]
		switch {
		case r == nil:
			r = newRoot(root)
			added = append(added, r)
		case !sameRoot(r.Root, root):
			changed = append(changed, r)
		}
		now[path] = r
	}
	for path, r := range old {
		if now[path] == nil {
			retired = append(retired, r)
		}
	}
	w.mu.Lock()
	w.roots = now
	w.mu.Unlock()
	for _, r := range retired {
		w.retire(r)
	}
	for _, r := range added {
		w.carveOut(r)
	}
	for _, r := range changed {
		w.changeRoot(r, want[r.Path])
	}
	w.guardRoots(true)
	for _, r := range added {
		w.checkRoot(r, 0, newEpoch)
	}
}

func newRoot(root Root) *rootState {
	r := &rootState{owner: map[ident]*node{}, shadow: map[ident][]string{}, links: map[string]bool{}, device: root.Device}
	r.set(root)
	return r
}

func (r *rootState) set(root Root) {
	r.Root = root
	r.reload, _ = root.Filter.(Reloader)
	r.lister, _ = root.Filter.(Lister)
	r.nextPoll = time.Now().Add(root.Poll)
}

// sameRoot compares roots; filters that cannot be compared differ. What is known
// of the device at the start says nothing later.
func sameRoot(a, b Root) (same bool) {
	b.Device = a.Device
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	return a == b
}

// retire removes a root. What an outer root covers of it is found by a scan.
func (w *Watcher) retire(r *rootState) {
	if r.top != nil {
		w.dropDir(r.top, job{epoch: w.epoch(), lane: bulk})
	}
	if rootOf(w.roots, r.Path) != nil {
		w.check(&hint{path: r.Path, flags: structural, epoch: w.epoch()})
	}
}

// carveOut removes a new root's tree from the outer root that had it.
func (w *Watcher) carveOut(r *rootState) {
	dir := parentOf(r.Path)
	outer := rootOf(w.roots, dir)
	if dir == "" || outer == nil || outer.top == nil {
		return
	}
	if n := outer.find(dir); n != nil {
		w.drop(n, base(r.Path), job{epoch: w.epoch(), lane: bulk})
	}
}

// changeRoot gives a root other options and scans it for what they change.
func (w *Watcher) changeRoot(r *rootState, to Root) {
	rewatch := r.Poll != to.Poll || r.FollowSymlinks != to.FollowSymlinks
	w.mu.Lock()
	r.set(to)
	w.mu.Unlock()
	if r.top == nil || r.suspended {
		return
	}
	if rewatch {
		w.unwatchTree(r.top)
		clear(r.owner)
		clear(r.shadow)
		clear(r.links)
		if r.FollowSymlinks {
			r.top.walk(func(n *node) { r.owner[n.id] = n })
		}
	}
	w.scanRoot(r, w.epoch())
}

// scanRoot scans a root's whole tree.
func (w *Watcher) scanRoot(r *rootState, epoch uint64) {
	r.scanning.Store(true)
	w.enqueue(r.top, job{epoch: epoch, lane: bulk, deep: true})
}

// checkRoot looks whether a root is there and is the directory it was. A root that
// vanished or was unmounted is suspended: what is known of it stays.
func (w *Watcher) checkRoot(r *rootState, f flags, epoch uint64) {
	if epoch == newEpoch {
		epoch = w.epoch()
	}
	found, err := lstat(r.Path, true)
	if problem := w.rootProblem(r, found, err); problem != "" {
		w.suspend(r, problem)
		return
	}
	switch {
	case r.top == nil:
		r.top = w.newNode(r, nil, r.Path, found)
		w.own(r.top)
		r.dirs.Add(1)
	case r.suspended:
		w.stat.add(cResumed, 1)
		w.renewTop(r, found)
	case r.top.id != found.id:
		w.stat.add(cReplaced, 1)
		w.renewTop(r, found)
	case f == 0:
		return
	}
	if f&(structural|force) == structural { // renamed or removed, and back
		w.unwatchTree(r.top)
	}
	r.device = found.id.dev
	w.setSuspended(r, false, "")
	w.scanRoot(r, epoch)
	r.top.force = r.top.force || f&force != 0
}

// renewTop makes the root's directory another one.
func (w *Watcher) renewTop(r *rootState, f found) {
	w.unwatchTree(r.top)
	w.disown(r.top, job{epoch: w.epoch()})
	r.top.id = f.id
	r.top.remote = w.remoteKind(r.top)
	w.own(r.top)
}

func (w *Watcher) own(top *node) {
	if top.root.FollowSymlinks {
		top.root.owner[top.id] = top
	}
}

// rootProblem says why a root cannot be watched now, "" if it can.
func (w *Watcher) rootProblem(r *rootState, f found, err error) string {
	switch {
	case err != nil:
		return reasonOf(err)
	case !f.mode.IsDir():
		return "is not a directory"
	case slices.ContainsFunc(w.o.Exclude, func(x string) bool { return under(r.Path, x) }), w.rec.excluded[f.id]:
		return "is a directory of the program's own"
	}
	moved := r.device != 0 && r.device != f.id.dev
	if !moved && !r.suspended && r.top != nil {
		return "" // the usual case, at the cost of one lstat
	}
	d, err := os.Open(r.Path)
	if err != nil {
		return reasonOf(err)
	}
	defer d.Close()
	_, err = d.Readdirnames(1)
	empty := errors.Is(err, io.EOF)
	switch {
	case err != nil && !empty:
		return reasonOf(err)
	case moved && empty && (r.top == nil || r.files.Load() > 0):
		return "its file system is not mounted"
	}
	return ""
}

// reasonOf says why a root cannot be used, without naming its path again.
func reasonOf(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// suspend keeps what is known of a root that is not there, without watches.
func (w *Watcher) suspend(r *rootState, reason string) {
	if !r.suspended {
		w.stat.add(cSuspended, 1)
		w.log.Warn("watcher: root is suspended", "root", r.Path, "reason", reason)
		if r.top != nil {
			w.unwatchTree(r.top)
		}
	}
	w.setSuspended(r, true, reason)
}

func (w *Watcher) setSuspended(r *rootState, s bool, reason string) {
	w.mu.Lock()
	turned := r.suspended != s
	r.suspended, r.reason = s, reason
	w.mu.Unlock()
	if turned {
		notify(w.turned)
	}
}

// CheckRoots looks at once whether the roots are there, as is done at every
// RootCheck, so that State tells it. It returns ctx's error or ErrClosed.
func (w *Watcher) CheckRoots(ctx context.Context) error {
	return w.doWithin(ctx, func() { w.checkRoots(newEpoch) })
}

// Turned receives when a root was suspended or resumed since it last did. It is
// for one receiver.
func (w *Watcher) Turned() <-chan struct{} { return w.turned }

// checkRoots looks after all roots.
func (w *Watcher) checkRoots(epoch uint64) {
	for _, path := range slices.Sorted(maps.Keys(w.roots)) {
		w.checkRoot(w.roots[path], 0, epoch)
	}
}

// excludeIDs learns the identities of the excluded directories, which may be
// reached under other names than the given ones.
func (w *Watcher) excludeIDs() {
	w.rec.excluded = map[ident]bool{}
	for _, p := range w.o.Exclude {
		if f, err := lstat(p, true); err == nil && f.id.ino != 0 {
			w.rec.excluded[f.id] = true
		}
	}
}

func (w *Watcher) epoch() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.epoch
}
