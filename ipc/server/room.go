package server

import (
	"sync"
	"time"

	"quern/ipc"
	"quern/ipc/internal/sock"
)

const (
	// answerEstimate is what a request reserves of the room for answers until
	// its answer is there.
	answerEstimate = 64 << 10
	// fairShare is what a connection may hold of finished answers however full
	// the room is: clients that read and ask for little are always answered.
	fairShare = 64 << 10
)

// room bounds the answers that all connections together hold until their
// clients take them. Requests wait for room before they run, first come, first
// served. A connection that is running nothing need not wait, so that a client
// that reads is served whatever others leave unread; beyond twice the limit,
// therefore, answers are replaced by ipc.CodeBusy.
type room struct {
	limit int64

	mu      sync.Mutex // guards all fields below
	used    int64
	waiting []*waiter
}

// waiter is a request that waits for room.
type waiter struct {
	n     int64
	ready chan struct{} // closed when n bytes are reserved
	done  bool
}

// enter reserves n bytes, at once if it must or if there is room and nobody
// waits.
func (r *room) enter(n int64, must bool) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &waiter{n: n, ready: make(chan struct{})}
	if must || len(r.waiting) == 0 && r.used+n <= r.limit {
		r.grant(w)
	} else {
		r.waiting = append(r.waiting, w)
	}
	return w
}

// force reserves for w whatever is used.
func (r *room) force(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.grant(w)
}

// grant lets w go on. r.mu is held.
func (r *room) grant(w *waiter) {
	if !w.done {
		w.done = true
		r.used += w.n
		close(w.ready)
	}
}

// change adds n bytes, or gives back -n, and lets those in that fit.
func (r *room) change(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += n
	for len(r.waiting) > 0 {
		w := r.waiting[0]
		if !w.done && r.used+w.n > r.limit {
			return
		}
		r.grant(w)
		r.waiting[0] = nil
		r.waiting = r.waiting[1:]
	}
}

func (r *room) isOver(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used+n > 2*r.limit
}

// hold is what one message takes of the room: the estimate for answers that
// are not there yet, and the size of those that are.
type hold struct {
	c  *conn
	mu sync.Mutex // guards both fields below
	// owed is the part of n that is an estimate.
	n, owed int64
}

// reserve waits for room for the answers of a message with so many requests.
// The reader does not read meanwhile, and so looks now and then whether the
// client is still there.
func (c *conn) reserve(requests int) *hold {
	n := int64(requests) * answerEstimate
	h := &hold{c: c, n: n, owed: n}
	c.mu.Lock()
	w := c.s.answers.enter(n, c.running == 0)
	c.waiter = w
	c.mu.Unlock()
	defer c.setWaiter(nil)
	select {
	case <-w.ready:
		return h
	default:
	}
	tick := time.NewTicker(hangupPoll)
	defer tick.Stop()
	for {
		select {
		case <-w.ready:
			return h
		case <-tick.C:
			if sock.HungUp(c.nc) {
				c.cancel(errGone) // ends what runs, and then this
			}
		}
	}
}

func (c *conn) setWaiter(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiter = w
}

// keep counts an answer in place of its estimate. One that does not fit is
// replaced.
func (h *hold) keep(o outcome) outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	estimate := min(answerEstimate, h.owed)
	h.owed -= estimate
	n := int64(len(o.result))
	if h.c.unread.Add(n) > fairShare && h.c.s.answers.isOver(n-estimate) {
		h.c.unread.Add(-n)
		n = 0
		o = outcome{err: ipc.Errorf(ipc.CodeBusy, "too busy: too many answers wait for their clients to read them; try again")}
	}
	h.n += n - estimate
	h.c.s.answers.change(n - estimate)
	return o
}

// release gives everything back; the answers are written, or nobody wants them.
func (h *hold) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.c.unread.Add(h.owed - h.n)
	h.c.s.answers.change(-h.n)
	h.n, h.owed = 0, 0
}
