package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"quern/ipc"
	"quern/ipc/internal/sock"
)

// Send sends a notification to one client. It waits while the client does not
// read, however long, and fails once the connection is gone.
type Send func(method string, params any) error

// Subscribe runs f in a goroutine once the request of ctx is answered, and
// returns a number that names the subscription on its connection. The context
// that f gets ends with Unsubscribe or with the connection.
//
// The error is an *ipc.Error: the connection has as many subscriptions as it
// may, or is HTTP, which has no notifications.
func Subscribe(ctx context.Context, f func(ctx context.Context, send Send)) (uint64, error) {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok || k.c.http {
		return 0, ipc.Errorf(ipc.CodeInvalidRequest, "HTTP has no notifications: subscribe with JSON-RPC on the socket, one object a line")
	}
	own, cancel := context.WithCancel(k.c.ctx)
	n, err := k.c.addSubscription(cancel)
	if err != nil {
		cancel()
		return 0, err
	}
	k.after = append(k.after, func() {
		k.c.streams.Go(func() { // ends with own
			defer k.c.dropSubscription(n)
			f(own, k.c.notify)
		})
	})
	return n, nil
}

// Unsubscribe ends a subscription of the connection of ctx's request, and
// reports whether there was one.
func Unsubscribe(ctx context.Context, n uint64) bool {
	k, ok := ctx.Value(callKey{}).(*call)
	return ok && k.c.dropSubscription(n)
}

func (c *conn) addSubscription(cancel context.CancelFunc) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.subscriptions) >= c.s.o.MaxSubscriptions {
		return 0, ipc.Errorf(ipc.CodeBusy, "too busy: the connection has %d subscriptions, which is the limit", len(c.subscriptions))
	}
	c.made++
	c.subscriptions[c.made] = cancel
	return c.made, nil
}

func (c *conn) dropSubscription(n uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel, ok := c.subscriptions[n]
	if ok {
		cancel()
		delete(c.subscriptions, n)
	}
	return ok
}

// hasSubscriptions reports whether a client that sends no more still listens.
func (c *conn) hasSubscriptions() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.subscriptions) > 0 && !c.draining
}

// listenOn waits, when the client has finished sending, until its subscriptions
// have ended or it is gone.
func (c *conn) listenOn() {
	c.await()
	for range cap(c.slots) {
		<-c.slots
	}
	if !c.hasSubscriptions() {
		return
	}
	tick := time.NewTicker(hangupPoll)
	defer tick.Stop()
	for c.hasSubscriptions() && !sock.HungUp(c.nc) {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
	}
}

// notification is one on the wire.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// notify implements Send.
func (c *conn) notify(method string, params any) error {
	payload, err := json.Marshal(notification{"2.0", method, params})
	if err != nil {
		return fmt.Errorf("encode the notification %s: %w", method, err)
	}
	return c.writeNotice(c.out.frame(payload))
}

// writeNotice is writeRaw for what nobody has asked for just now: a client may
// leave it unread for as long as it waits for no answer.
func (c *conn) writeNotice(buf []byte) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	for len(buf) > 0 {
		n, err := c.writeSome(buf[:min(len(buf), writeChunk)])
		buf = buf[n:]
		if errors.Is(err, os.ErrDeadlineExceeded) && c.ctx.Err() == nil && c.isIdle() {
			continue
		}
		if err != nil {
			c.lost(err)
			return err
		}
	}
	return nil
}

func (c *conn) isIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running == 0 && !c.draining
}
