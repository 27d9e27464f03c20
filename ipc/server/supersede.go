package server

import (
	"context"

	"quern/ipc"
)

// maxSessions bounds the names of sessions that a connection remembers.
const maxSessions = 128

var errSuperseded = ipc.Errorf(ipc.CodeCancelled, "cancelled: a newer request of the same session took its place")

// turn is the newest request of a session.
type turn struct {
	number uint64
	cancel context.CancelCauseFunc // nil once it is answered
}

// Supersede makes the request of ctx the only one of its session, by name, on
// its connection: an older one that still runs is cancelled, and so is this one
// if a newer has come. The cause is an *ipc.Error of ipc.CodeCancelled. The
// caller calls end when it is done. Without a name nothing happens.
func Supersede(ctx context.Context, session string) (_ context.Context, end func()) {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok || session == "" {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(ctx)
	k.c.takeTurn(session, turn{k.number, cancel})
	return own, func() {
		cancel(nil)
		k.c.endTurn(session, k.number)
	}
}

// takeTurn cancels whichever request of the session is older.
func (c *conn) takeTurn(session string, t turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, ok := c.latest[session]
	switch {
	case ok && before.number > t.number:
		t.cancel(errSuperseded)
		return
	case ok && before.cancel != nil:
		before.cancel(errSuperseded)
	}
	if !ok && len(c.latest) >= maxSessions {
		c.forgetSessions()
	}
	c.latest[session] = t
}

// forgetSessions forgets those in which nothing runs. At most as many remain as
// requests run. c.mu is held.
func (c *conn) forgetSessions() {
	for name, t := range c.latest {
		if t.cancel == nil {
			delete(c.latest, name)
		}
	}
}

// endTurn remembers that the request came, so that an older one that starts
// late gives way.
func (c *conn) endTurn(session string, number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.latest[session]; ok && t.number == number {
		c.latest[session] = turn{number: number}
	}
}
