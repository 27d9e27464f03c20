package watcher

import (
	"errors"
	"syscall"
	"time"
)

// firstDelay is how long a listing that failed for want of means waits; the wait
// doubles, up to Options.Retry.
const firstDelay = 50 * time.Millisecond

// delay is a listing to come. It holds a token, so that Sync waits for it.
type delay struct {
	at time.Time
	j  job
}

// exhausted reports whether an error says that open files or memory ran out: it
// is no property of the file, and passes.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// later has a directory listed when there may be means for it again.
func (w *Watcher) later(n *node, j job) {
	w.stat.add(cExhausted, 1)
	n.wait = min(max(firstDelay, 2*n.wait), w.o.Retry)
	w.mu.Lock()
	w.ledger.add(j.epoch)
	if old, ok := w.rec.delayed[n]; ok {
		j.epoch = w.ledger.move(j.epoch, old.j.epoch)
		w.ledger.done(old.j.epoch)
	}
	w.mu.Unlock()
	w.rec.delayed[n] = delay{time.Now().Add(n.wait), j}
}

// ringDelayed lists the directories whose time has come.
func (w *Watcher) ringDelayed(now time.Time) {
	for n, d := range w.rec.delayed {
		if d.at.After(now) {
			continue
		}
		delete(w.rec.delayed, n)
		if !n.dropped && !n.root.suspended {
			w.enqueue(n, d.j)
		}
		w.mu.Lock()
		w.ledger.done(d.j.epoch)
		w.mu.Unlock()
	}
}
