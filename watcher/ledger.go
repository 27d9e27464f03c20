package watcher

// ledger counts the work under way by epoch. A piece of work (a hint, a directory
// to scan, a change to deliver, a change being applied) holds one token; what comes
// out of it takes tokens of the same epoch before it gives its own back. A barrier
// seals the current epoch; it is passed when no token of that epoch or an earlier
// one is left, however much is going on in later epochs: a writer that never
// pauses cannot hold it up. Guarded by Watcher.mu.
type ledger struct {
	epoch   uint64
	total   int
	live    map[uint64]int // no zero counts
	waiters []waiter
}

type waiter struct {
	epoch uint64
	done  chan struct{}
}

func (l *ledger) init() { l.epoch, l.live = 1, map[uint64]int{} }

// add takes a token.
func (l *ledger) add(epoch uint64) {
	l.total++
	l.live[epoch]++
}

// done gives a token back.
func (l *ledger) done(epoch uint64) {
	l.total--
	if l.live[epoch]--; l.live[epoch] > 0 {
		return
	}
	delete(l.live, epoch)
	l.release()
}

// move exchanges a token for one of an earlier epoch and returns the earlier of the two.
func (l *ledger) move(from, to uint64) uint64 {
	if to >= from {
		return from
	}
	l.add(to)
	l.done(from)
	return to
}

// seal ends the current epoch and returns it, with a token taken in it.
func (l *ledger) seal() uint64 {
	e := l.epoch
	l.add(e)
	l.epoch++
	return e
}

// wait closes done once no token of epoch or an earlier one is left.
func (l *ledger) wait(epoch uint64, done chan struct{}) {
	l.waiters = append(l.waiters, waiter{epoch, done})
	l.release()
}

// barrier returns the latest epoch waited for, or 0.
func (l *ledger) barrier() uint64 {
	var b uint64
	for _, w := range l.waiters {
		b = max(b, w.epoch)
	}
	return b
}

func (l *ledger) release() {
	if len(l.waiters) == 0 {
		return
	}
	oldest := ^uint64(0)
	for e := range l.live {
		oldest = min(oldest, e)
	}
	kept := l.waiters[:0]
	for _, w := range l.waiters {
		if w.epoch < oldest {
			close(w.done)
		} else {
			kept = append(kept, w)
		}
	}
	clear(l.waiters[len(kept):])
	l.waiters = kept
}
