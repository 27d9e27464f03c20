package watcher

import (
	"errors"
	"time"
)

var errNoCookieDir = errors.New("watcher: no cookie directory is configured")

// holdRemoves is how long removes wait for the other half of a rename while a
// scan goes on.
const holdRemoves = 250 * time.Millisecond

// reconciler is what run owns.
type reconciler struct {
	src       source
	watched   map[*watch]ident
	byID      map[ident]*watch
	polled    map[*node]struct{} // directories that could not be watched
	poll      poller
	delayed   map[*node]delay // directories that could not be listed for want of means
	guard     guard
	excluded  map[ident]bool
	links     hardLinks
	stack     []*node // directories to scan, the next last
	alarms    map[string]time.Time
	nextAlarm time.Time
	releaseAt time.Time // of held removes, while scanning
	cookieDir *ident    // its identity, while watched
	wakes     int       // of idle, for tests

	nextTick, nextRetry time.Time
	lastTick, wall      time.Time // by the clock that stands still in sleep, and by the wall's
	audit               audit
}

func (c *reconciler) init() {
	c.watched, c.byID = map[*watch]ident{}, map[ident]*watch{}
	c.links.init()
	c.polled, c.alarms = map[*node]struct{}{}, map[string]time.Time{}
	c.delayed = map[*node]delay{}
}

// lostState tells that events were lost and when the rebuild may be. Guarded by Watcher.mu.
type lostState struct {
	pending    bool
	epoch      uint64 // of the token held while pending
	rebuilding bool
	start, end time.Time // of the last rebuild
	pause      time.Duration
}

// markLost asks for a rebuild. w.mu must be held.
func (w *Watcher) markLost() {
	w.fresh.lost = time.Now()
	if w.lost.pending {
		return
	}
	w.lost.pending, w.lost.epoch = true, w.ledger.epoch
	w.ledger.add(w.lost.epoch)
}

// rebuildAt returns when the rebuild may start: not while the last one goes on,
// and then after a pause that grows while they follow each other and is never
// shorter than the scan took, so that a storm cannot keep the watcher scanning.
func (w *Watcher) rebuildAt() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &w.lost
	if !l.pending || l.rebuilding {
		return time.Time{}, false
	}
	if l.end.IsZero() {
		return l.end, true
	}
	return l.end.Add(max(l.pause, l.end.Sub(l.start))), true
}

// run reconciles until Close.
func (w *Watcher) run() {
	defer close(w.done)
	defer func() {
		_ = w.rec.src.Close()
		w.closeGuard()
		w.mu.Lock()
		w.dropCookie()
		w.mu.Unlock()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !w.closed() {
		w.serve()
		now := time.Now()
		if at, ok := w.rebuildAt(); ok && !at.After(now) {
			w.rebuild()
		}
		w.cookies(now)
		w.doubted()
		w.tick(now)
		w.ring(now)
		w.ringDelayed(now)
		w.pollStep(now)
		if hints := w.settled(now); len(hints) > 0 {
			w.pass(hints)
			continue
		}
		if w.step() {
			if !w.rec.releaseAt.IsZero() && now.After(w.rec.releaseAt) {
				w.release()
			}
			continue
		}
		w.scanned()
		w.idle(timer)
	}
}

func (w *Watcher) closed() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}

// serve runs what callers wait for.
func (w *Watcher) serve() {
	for {
		select {
		case f := <-w.cmds:
			f()
		default:
			return
		}
	}
}

func (w *Watcher) settled(now time.Time) []*hint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settler.take(now, w.ledger.barrier())
}

// scanned is called when nothing is left to scan.
func (w *Watcher) scanned() {
	w.release()
	w.mu.Lock()
	if w.lost.rebuilding {
		w.lost.rebuilding, w.lost.end = false, time.Now()
		w.fresh.rebuilt = w.lost.end
	}
	w.mu.Unlock()
}

// release hands the held removes out.
func (w *Watcher) release() {
	w.rec.releaseAt = time.Time{}
	w.mu.Lock()
	held := len(w.queue.heldRemoves)
	w.queue.release(true)
	w.mu.Unlock()
	if held > 0 {
		notify(w.avail)
	}
}

// idle waits for something to do.
func (w *Watcher) idle(timer *time.Timer) {
	next := w.rec.nextTick
	sooner := func(t time.Time, ok bool) {
		if ok && t.Before(next) {
			next = t
		}
	}
	sooner(w.rebuildAt())
	sooner(w.rec.nextAlarm, len(w.rec.alarms) > 0)
	sooner(w.rec.poll.next, len(w.rec.polled) > 0)
	for _, d := range w.rec.delayed {
		sooner(d.at, true)
	}
	for _, r := range w.roots {
		sooner(r.nextPoll, r.Poll > 0)
	}
	w.mu.Lock()
	sooner(w.settler.next())
	if w.cookie != nil {
		sooner(w.cookie.deadline.Add(1), true)
	}
	w.mu.Unlock()
	w.rec.wakes++
	timer.Reset(max(0, time.Until(next)))
	select {
	case f := <-w.cmds:
		f()
	case <-w.wake:
	case <-w.closing:
	case <-timer.C:
	}
}

// alarm has a directory scanned again after a time.
func (w *Watcher) alarm(path string, d time.Duration) {
	at := time.Now().Add(d)
	if old, ok := w.rec.alarms[path]; ok && old.Before(at) {
		return
	}
	if len(w.rec.alarms) == 0 || at.Before(w.rec.nextAlarm) {
		w.rec.nextAlarm = at
	}
	w.rec.alarms[path] = at
}

// ring scans the directories whose time has come.
func (w *Watcher) ring(now time.Time) {
	if len(w.rec.alarms) == 0 || w.rec.nextAlarm.After(now) {
		return
	}
	var next time.Time
	for path, at := range w.rec.alarms {
		if at.After(now) {
			if next.IsZero() || at.Before(next) {
				next = at
			}
			continue
		}
		delete(w.rec.alarms, path)
		if r := rootOf(w.roots, path); r != nil && !r.suspended && r.top != nil {
			if n := r.find(path); n != nil {
				w.enqueue(n, job{epoch: w.epoch(), lane: bulk, soft: true})
			}
		}
	}
	w.rec.nextAlarm = next
}

// tick does what is done at intervals.
func (w *Watcher) tick(now time.Time) {
	for _, r := range w.roots {
		if r.Poll > 0 && !r.nextPoll.After(now) {
			r.nextPoll = now.Add(r.Poll)
			if !r.suspended && r.top != nil && r.queued.Load() == 0 {
				w.scanRoot(r, w.epoch())
			}
		}
	}
	if now.Before(w.rec.nextTick) {
		return
	}
	w.rec.nextTick = now.Add(w.o.RootCheck)
	w.checkRoots(newEpoch)
	w.guardRoots(false)
	if w.o.OnCheck != nil {
		w.o.OnCheck()
	}
	w.clockJump(now)
	if !now.Before(w.rec.nextRetry) {
		w.rec.nextRetry = now.Add(w.o.Retry)
		w.retry()
	}
	w.auditStep(now)
}

// retry looks at what events do not tell of.
func (w *Watcher) retry() {
	w.excludeIDs()
	for _, r := range w.roots {
		if !r.suspended && r.top != nil {
			w.checkLinks(r, w.epoch())
		}
	}
	if _, none := w.rec.src.(noSource); none {
		w.mu.Lock()
		w.markLost()
		w.mu.Unlock()
	}
}

// clockJump scans everything when the machine seems to have slept.
func (w *Watcher) clockJump(now time.Time) {
	wall, last := w.rec.wall, w.rec.lastTick
	w.rec.wall, w.rec.lastTick = now.Round(0), now
	if last.IsZero() {
		return
	}
	jump := now.Round(0).Sub(wall) - now.Sub(last)
	if max(jump, -jump) < 5*time.Second {
		return
	}
	w.stat.add(cClockJumps, 1)
	for _, r := range w.roots {
		if !r.suspended && r.top != nil {
			w.scanRoot(r, w.epoch())
		}
	}
}

// open makes a source and starts its reader.
func (w *Watcher) open() {
	src, err := w.o.newSource()
	if err != nil {
		w.log.Warn("watcher: the system gives no events, polling", "error", err)
		src = noSource{err}
	}
	w.rec.src = src
	w.readers.Add(1)
	go w.read(src) // ended by src.Close
}

// rebuild begins anew after lost events: another source, every directory watched
// and scanned again, the cookie in flight written again.
func (w *Watcher) rebuild() {
	w.stat.add(cRebuilds, 1)
	_ = w.rec.src.Close()
	w.rec.watched, w.rec.byID = map[*watch]ident{}, map[ident]*watch{}
	w.rec.cookieDir = nil
	w.watches.Store(0)
	w.open()
	now := time.Now()
	w.mu.Lock()
	l := &w.lost
	epoch := l.epoch
	if now.Sub(l.end) > 64*w.o.RebuildPause {
		l.pause = w.o.RebuildPause
	} else {
		l.pause = min(2*l.pause, 64*w.o.RebuildPause)
	}
	l.pending, l.rebuilding, l.start = false, true, now
	w.dropCookie()
	w.mu.Unlock()
	for _, r := range w.roots {
		if r.top == nil {
			continue
		}
		r.top.walk(func(n *node) { n.watch = nil; w.unpoll(n) })
		if !r.suspended {
			w.scanRoot(r, epoch)
		}
	}
	w.checkRoots(epoch)
	w.mu.Lock()
	w.ledger.done(epoch)
	w.mu.Unlock()
}
