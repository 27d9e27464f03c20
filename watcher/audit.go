package watcher

import (
	"os"
	"time"
)

// audit is a sweep over all directories at a bounded rate, which finds what no
// event told of.
type audit struct {
	todo   []*node
	start  time.Time // of the sweep, zero between sweeps
	next   time.Time // when the next sweep may start
	budget float64   // entries that may be looked at
}

// auditStep goes on with the sweep while nothing else is to do.
func (w *Watcher) auditStep(now time.Time) {
	a := &w.rec.audit
	if w.o.AuditRate < 0 || len(w.rec.stack) > 0 {
		return
	}
	if a.next.IsZero() {
		a.next = now.Add(w.o.AuditPause)
	}
	if a.start.IsZero() {
		if now.Before(a.next) {
			return
		}
		w.beginSweep(now)
	}
	perTick := float64(w.o.AuditRate) * w.o.RootCheck.Seconds()
	a.budget = min(a.budget+perTick, perTick)
	for a.budget > 0 && len(a.todo) > 0 {
		n := a.todo[len(a.todo)-1]
		a.todo = a.todo[:len(a.todo)-1]
		if n.dropped || n.root.suspended {
			continue
		}
		a.budget -= float64(1 + len(n.files) + len(n.dirs))
		w.auditDir(n)
	}
	if len(a.todo) == 0 {
		a.todo, a.start, a.next = nil, time.Time{}, now.Add(w.o.AuditPause)
		w.mu.Lock()
		w.fresh.audited = now
		w.mu.Unlock()
	}
}

func (w *Watcher) beginSweep(now time.Time) {
	a := &w.rec.audit
	a.start = now
	w.auditWatches()
	for _, r := range w.roots {
		if r.top != nil {
			r.top.walk(func(n *node) { a.todo = append(a.todo, n) })
		}
	}
}

// auditDir compares a directory with the table. Its watch and its place are
// looked at first: a mount over it, say, goes without an event.
func (w *Watcher) auditDir(n *node) {
	j := job{epoch: w.epoch(), lane: bulk, audit: true}
	if bad := w.broken(n); bad != nil {
		if !w.hinted(bad.path) {
			w.stat.add(cAuditFound, 1)
		}
		w.suspect(bad, j.epoch)
		return
	}
	entries, err := os.ReadDir(n.path)
	if err != nil {
		w.enqueue(n, j)
		return
	}
	w.children(n, entries, j)
}

// auditWatches looks for watches that the source has dropped without an event, as
// when a file system is unmounted.
func (w *Watcher) auditWatches() {
	has := map[string]bool{}
	for _, path := range w.rec.src.WatchList() {
		has[path] = true
	}
	for o := range w.rec.watched {
		if path := o.names[0].path; !has[path] && !w.hinted(path) {
			w.stat.add(cAuditFound, 1)
			w.hint(path, structural, newEpoch)
		}
	}
}
