package watcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// cookieSuffix marks the files that Sync writes.
const cookieSuffix = ".cookie"

// cookieN numbers the cookies of all the watchers of this process, which may share
// a directory: the event of another's cookie says nothing of what was seen here.
var cookieN atomic.Uint64

// cookie is a file whose creation the watcher waits to be told of: by then it has
// been told of all that happened before.
type cookie struct {
	path     string
	deadline time.Time
	tries    int
	done     []chan struct{}
}

// arrival is a cookie whose event came. It holds a token of the epoch it sealed.
type arrival struct {
	epoch uint64
	path  string
}

// Sync returns nil once every change that was complete before the call is in a
// batch that is Done: changes that were seen before the cookie's event are waited
// for, without settling, later ones are not. It waits for scans under way, and for
// a new one where events cannot be relied on (polled roots and directories, lost
// events, a cookie that does not come back). It returns ctx's error or ErrClosed.
func (w *Watcher) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.stat.add(cSyncs, 1)
	done := make(chan struct{})
	w.mu.Lock()
	w.waiting = append(w.waiting, done)
	w.mu.Unlock()
	w.kick()
	select {
	case <-done:
		return nil
	case <-w.closing:
		return ErrClosed
	case <-ctx.Done():
		w.abandon(done)
		return ctx.Err()
	}
}

// abandon forgets a Sync that waits no longer.
func (w *Watcher) abandon(done chan struct{}) {
	is := func(c chan struct{}) bool { return c == done }
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, is)
	if w.cookie != nil {
		w.cookie.done = slices.DeleteFunc(w.cookie.done, is)
	}
	w.ledger.waiters = slices.DeleteFunc(w.ledger.waiters, func(x waiter) bool { return is(x.done) })
}

// isCookie reports whether an event is about the cookie directory.
func (w *Watcher) isCookie(path string) bool {
	return w.o.CookieDir != "" && under(path, w.o.CookieDir)
}

// cookieEvent ends the epoch when the cookie in flight has come back. When events
// were lost it says nothing: the rebuild issues it anew. w.mu must be held.
func (w *Watcher) cookieEvent(path string, f flags) {
	if path == w.o.CookieDir && f&structural != 0 {
		w.cookieStale = true
		w.kick()
		return
	}
	c := w.cookie
	if c == nil || c.path != path || w.lost.pending {
		return
	}
	w.cookie = nil
	w.sealFor(c.done, path)
	w.kick()
}

// sealFor makes syncs wait for all that is known now. w.mu must be held.
func (w *Watcher) sealFor(done []chan struct{}, path string) {
	epoch := w.ledger.seal()
	for _, d := range done {
		w.ledger.wait(epoch, d)
	}
	w.arrived = append(w.arrived, arrival{epoch, path})
}

// cookies does the reconciler's part of Sync.
func (w *Watcher) cookies(now time.Time) {
	w.mu.Lock()
	if w.cookieStale { // its directory was moved or removed
		w.cookieStale = false
		w.dropCookie()
		w.unwatchCookies()
	}
	arrived := w.arrived
	w.arrived = nil
	c := w.cookie
	late := c != nil && now.After(c.deadline)
	if late {
		w.cookie = nil
	}
	var done []chan struct{}
	if w.cookie == nil && !late && !w.lost.pending {
		done, w.waiting = w.waiting, nil
	}
	w.mu.Unlock()
	for _, a := range arrived {
		w.arrive(a)
	}
	switch {
	case late:
		w.cookieLate(c)
	case len(done) > 0:
		w.issue(&cookie{done: done})
	}
}

// arrive has everything looked at that events do not tell of.
func (w *Watcher) arrive(a arrival) {
	if a.path != "" {
		_ = os.Remove(a.path) // left-over cookies are removed by New
	}
	w.checkRoots(a.epoch)
	for _, r := range w.roots {
		if r.suspended || r.top == nil {
			continue
		}
		if a.path == "" || r.Poll > 0 {
			w.scanRoot(r, a.epoch)
		}
		w.checkLinks(r, a.epoch)
	}
	w.scanPolled(a.epoch)
	w.mu.Lock()
	w.ledger.done(a.epoch)
	w.mu.Unlock()
}

func (w *Watcher) scanPolled(epoch uint64) {
	for n := range w.rec.polled {
		w.enqueue(n, job{epoch: epoch, lane: urgent})
	}
}

// issue writes a cookie, or falls back to a scan of everything.
func (w *Watcher) issue(c *cookie) {
	c.tries++
	c.path = filepath.Join(w.o.CookieDir, fmt.Sprintf("%d-%d%s", os.Getpid(), cookieN.Add(1), cookieSuffix))
	c.deadline = time.Now().Add(w.o.CookieTimeout)
	err := w.watchCookies()
	if err == nil {
		w.mu.Lock()
		w.cookie = c // before the file, whose event may come at once
		w.mu.Unlock()
		err = os.WriteFile(c.path, nil, 0o600)
	}
	if err == nil {
		w.stat.add(cCookies, 1)
		return
	}
	w.log.Debug("watcher: no cookie, scanning instead", "error", err)
	w.syncByScan(c)
}

func (w *Watcher) syncByScan(c *cookie) {
	w.stat.add(cSyncScans, 1)
	w.mu.Lock()
	w.cookie = nil
	w.sealFor(c.done, "")
	w.mu.Unlock()
	w.kick()
}

// watchCookies sees to it that the cookie directory exists and is watched.
func (w *Watcher) watchCookies() error {
	dir := w.o.CookieDir
	if dir == "" {
		return errNoCookieDir
	}
	f, err := lstat(dir, true)
	if err != nil {
		w.unwatchCookies()
		if err = os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("watcher: making the cookie directory: %w", err)
		}
		if f, err = lstat(dir, true); err != nil {
			return err
		}
	}
	if w.rec.cookieDir != nil && *w.rec.cookieDir == f.id {
		return nil
	}
	w.unwatchCookies()
	w.rec.excluded[f.id] = true
	if err := w.rec.src.Add(dir); err != nil {
		return fmt.Errorf("watcher: watching the cookie directory: %w", err)
	}
	w.rec.cookieDir = &f.id
	return nil
}

func (w *Watcher) unwatchCookies() {
	if w.rec.cookieDir != nil {
		_ = w.rec.src.Remove(w.o.CookieDir)
		w.rec.cookieDir = nil
	}
}

// cookieLate tries a cookie once more, and then scans and doubts all watches.
func (w *Watcher) cookieLate(c *cookie) {
	w.stat.add(cCookieTimeouts, 1)
	_ = os.Remove(c.path)
	if c.tries < 2 {
		w.unwatchCookies()
		w.issue(c)
		return
	}
	w.log.Warn("watcher: a cookie did not come back, scanning again", "path", c.path)
	w.mu.Lock()
	w.waiting = append(c.done, w.waiting...)
	w.markLost()
	w.mu.Unlock()
}

// dropCookie takes the cookie in flight back; its syncs want another one. w.mu must
// be held.
func (w *Watcher) dropCookie() {
	if c := w.cookie; c != nil {
		_ = os.Remove(c.path)
		w.waiting = append(c.done, w.waiting...)
		w.cookie = nil
	}
}

// cleanCookies removes what an earlier process left behind.
func (w *Watcher) cleanCookies() {
	if w.o.CookieDir == "" {
		return
	}
	entries, _ := os.ReadDir(w.o.CookieDir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), cookieSuffix) {
			_ = os.Remove(filepath.Join(w.o.CookieDir, e.Name()))
		}
	}
}
