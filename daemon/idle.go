package daemon

import (
	"context"
	"sync"
	"time"
)

// idleTimer knows since when no request is being answered.
type idleTimer struct {
	limit time.Duration

	mu     sync.Mutex // guards all fields below
	active int
	since  time.Time
}

func newIdleTimer(limit time.Duration) *idleTimer {
	return &idleTimer{limit: limit, since: time.Now()}
}

// begin marks the start of a request; the function it returns marks its end.
func (t *idleTimer) begin() func() {
	t.mu.Lock()
	t.active++
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.active--
		t.since = time.Now()
		t.mu.Unlock()
	}
}

// remaining is how long the daemon must stay idle before it may end.
func (t *idleTimer) remaining() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active > 0 {
		return t.limit
	}
	return t.limit - time.Since(t.since)
}

// watch calls end when the limit has passed without a request and may holds. It
// returns then, when ctx is done, or at once without a limit.
func (t *idleTimer) watch(ctx context.Context, may func() bool, end func()) {
	if t.limit <= 0 {
		return
	}
	timer := time.NewTimer(t.limit)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		left := t.remaining()
		if left <= 0 && may() {
			end()
			return
		}
		timer.Reset(max(left, t.limit/10))
	}
}
