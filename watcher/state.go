package watcher

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"
)

// State tells how things stand.
type State struct {
	Roots    []RootState // in path order
	Pending  int         // hints, directories to scan and changes that are not Done
	Changes  int         // changes alone that are not Done
	Scanning bool        // a scan of a whole root is under way
	// Counters count what happened since New; see the constants' names below:
	// events, overflows, errors (other signs of lost events), exhausted
	// (listings put off for want of open files or memory), rebuilds,
	// rescans (asked for), listings (bursts in a directory), scanned
	// (directories), touches (changed while the consumer read), racy
	// (reported again because of coarse clocks), syncs, cookies,
	// cookie_timeouts, sync_scans (no cookie could be used), unwatchable and
	// unreadable (directories), suspended, resumed and replaced (roots),
	// audit_found (changes no event told of), clock_jumps, stale (names that
	// stood for something else), aliases, harmless (errors without effect).
	Counters map[string]int64
	// The clocks of freshness. Zero: never.
	LastEvent   time.Time // from the operating system
	LastLost    time.Time // events were lost
	LastRebuild time.Time // and everything was scanned
	LastAudit   time.Time // a sweep for changes without events ended
	// Watches is the number of directories that are watched, WatchLimit what the
	// system allows all programs of the user together, 0 if that is not known.
	Watches, WatchLimit int
}

// RootState tells how a root stands.
type RootState struct {
	Path   string
	State  string // watching, scanning, polled (all of it, or some directories) or suspended
	Reason string // suspended or polled
	Dirs   int    // directories known
	Files  int    // files known, skipped ones included
	Polled int    // directories that cannot be watched
	// PolledAt are the paths of some of those, at most 20.
	PolledAt []string
}

// freshness holds the clocks. Guarded by Watcher.mu.
type freshness struct{ event, lost, rebuilt, audited time.Time }

// State returns the state of the watcher.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := State{Pending: w.ledger.total, Changes: w.queue.waiting(), Counters: w.stat.all(),
		Watches: int(w.watches.Load()), WatchLimit: watchLimit(),
		LastEvent: w.fresh.event, LastLost: w.fresh.lost, LastRebuild: w.fresh.rebuilt, LastAudit: w.fresh.audited}
	for _, path := range slices.Sorted(maps.Keys(w.roots)) {
		r := w.roots[path].state()
		s.Roots = append(s.Roots, r)
		s.Scanning = s.Scanning || r.State == "scanning"
	}
	return s
}

func (r *rootState) state() RootState {
	s := RootState{Path: r.Path, State: "watching", Reason: r.reason,
		Dirs: int(r.dirs.Load()), Files: int(r.files.Load()), Polled: int(r.polled.Load())}
	switch {
	case r.suspended:
		s.State = "suspended"
	case r.scanning.Load():
		s.State = "scanning"
	case r.Poll > 0 || s.Polled > 0:
		s.State = "polled"
	}
	if !r.suspended && s.Polled > 0 {
		s.PolledAt = slices.Sorted(maps.Keys(r.polledAt))
		s.Reason = r.polledReason(s)
	}
	return s
}

// polledReason says how much of a tree is polled, and why.
func (r *rootState) polledReason(s RootState) string {
	text := r.pollReason
	if len(s.PolledAt) > 0 && s.Polled < s.Dirs {
		text = "such as " + s.PolledAt[0] + ": " + text
	}
	return fmt.Sprintf("%d of %d directories are polled: %s", s.Polled, s.Dirs, text)
}

// counter names a number in State.Counters.
type counter int

const (
	cEvents counter = iota
	cOverflows
	cErrors
	cExhausted
	cHarmless
	cRebuilds
	cRescans
	cListings
	cScanned
	cTouches
	cRacy
	cSyncs
	cCookies
	cCookieTimeouts
	cSyncScans
	cUnwatchable
	cUnreadable
	cSuspended
	cResumed
	cReplaced
	cAuditFound
	cClockJumps
	cStale
	cAliases
	nCounters
)

var counterNames = [nCounters]string{"events", "overflows", "errors", "exhausted", "harmless", "rebuilds", "rescans",
	"listings", "scanned", "touches", "racy", "syncs", "cookies", "cookie_timeouts", "sync_scans",
	"unwatchable", "unreadable", "suspended", "resumed", "replaced", "audit_found", "clock_jumps", "stale", "aliases"}

type counters [nCounters]atomic.Int64

func (c *counters) add(k counter, n int64) { c[k].Add(n) }

func (c *counters) all() map[string]int64 {
	m := make(map[string]int64, nCounters)
	for k := range c {
		m[counterNames[k]] = c[k].Load()
	}
	return m
}
