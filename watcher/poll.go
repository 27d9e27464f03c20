package watcher

import (
	"fmt"
	"time"
)

const (
	// pollShare bounds what polling takes: one part of so many of the time of one
	// processor, whatever the number of directories.
	pollShare = 50
	// pollSlice is how long polling keeps the reconciler from its other work.
	pollSlice = 2 * time.Millisecond
	// polledNamed bounds the directories that a RootState names.
	polledNamed = 20
)

// poller looks at the directories that have no events, round after round.
type poller struct {
	todo  []*node
	round time.Time // when this round began
	next  time.Time // when it may go on
}

// pollStep goes on with the round for a moment, while nothing else is to do, and
// then rests so long that polling keeps to its share.
func (w *Watcher) pollStep(now time.Time) {
	p := &w.rec.poll
	if len(w.rec.polled) == 0 || now.Before(p.next) || len(w.rec.stack) > 0 {
		return
	}
	if len(p.todo) == 0 {
		w.beginRound(now)
	}
	j := job{epoch: w.epoch(), lane: bulk}
	for end := now.Add(pollSlice); len(p.todo) > 0 && time.Now().Before(end); {
		n := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		if n.polled != "" && !n.dropped && !n.root.suspended {
			w.scanDir(n, j)
		}
	}
	p.goOn(now, time.Since(now), w.o.Retry)
}

// goOn sets when polling goes on that began at now and took so long: when it keeps
// to its share, and after a round not before retry since its beginning.
func (p *poller) goOn(now time.Time, took, retry time.Duration) {
	p.next = now.Add(pollShare * took)
	if len(p.todo) > 0 {
		return
	}
	p.todo = nil
	if rest := p.round.Add(retry); rest.After(p.next) {
		p.next = rest
	}
}

func (w *Watcher) beginRound(now time.Time) {
	p := &w.rec.poll
	p.round = now
	for n := range w.rec.polled {
		if n.root.Poll >= 0 {
			p.todo = append(p.todo, n)
		}
	}
}

// poll makes a directory one that is looked at again and again.
func (w *Watcher) poll(n *node, reason string) {
	if n.polled == "" {
		n.root.polled.Add(1)
		w.stat.add(cUnwatchable, 1)
	}
	if n.polled == reason {
		return
	}
	n.polled = reason
	w.rec.polled[n] = struct{}{}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := n.root
	r.pollReason = reason
	if r.polledAt == nil {
		r.polledAt = map[string]bool{}
	}
	if len(r.polledAt) < polledNamed {
		r.polledAt[n.path] = true
	}
}

func (w *Watcher) unpoll(n *node) {
	if n.polled == "" {
		return
	}
	n.polled = ""
	delete(w.rec.polled, n)
	n.root.polled.Add(-1)
	w.mu.Lock()
	delete(n.root.polledAt, n.path)
	w.mu.Unlock()
}

// remoteKind is the kind of the directory's file system where others than this
// machine change it without an event, "" otherwise. Only where the file system
// may be another one than the parent's is the system asked.
func (w *Watcher) remoteKind(n *node) string {
	switch {
	case n.root.Poll < 0:
		return ""
	case n.parent != nil && n.parent.id.dev == n.id.dev:
		return n.parent.remote
	}
	kind, remote, err := w.o.remote(n.path)
	if err != nil || !remote {
		return ""
	}
	return kind
}

// remoteReason says why a directory of such a file system is polled.
func remoteReason(kind string) string {
	return fmt.Sprintf("its file system (%s) does not tell what others change", kind)
}
