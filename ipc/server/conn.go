package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"quern/ipc"
	"quern/ipc/internal/sock"
)

// Why a connection's requests are cancelled.
var (
	errGone   = errors.New("the client is gone")
	errClosed = errors.New("the connection is closed")
)

// conn is one client. Its goroutine, serve, reads; every request has a
// goroutine that runs its handler and writes its answer. A request holds one
// of the slots from before it starts until its answer is written: that
// bounds what a client can make the server do and hold, and a client that
// does not take its answers stops being read.
type conn struct {
	s     *Server
	nc    net.Conn
	src   *source
	out   framer // set by serve before anything is written
	http  bool   // likewise: there is no framer then
	log   *slog.Logger
	slots chan struct{}
	turns chan struct{} // see Turn

	// ctx is the parent of the requests' contexts; cancel ends it with the
	// reason.
	ctx    context.Context
	cancel context.CancelCauseFunc

	calls   uint64         // requests started so far; the reader's
	unread  atomic.Int64   // bytes of finished answers not yet written
	streams sync.WaitGroup // goroutines of subscriptions; they end with ctx

	wmu sync.Mutex // held while a message is written

	mu       sync.Mutex // guards all fields below
	ids      map[string]context.CancelFunc
	running  int // requests whose answer is not yet written
	draining bool
	waiter   *waiter // the request that waits for room, or nil
	latest   map[string]turn
	// subscriptions are the live ones' ends, by number; made counts them all.
	subscriptions map[uint64]context.CancelFunc
	made          uint64
}

func newConn(s *Server, nc net.Conn, peer Peer, number uint64) *conn {
	ctx, cancel := context.WithCancelCause(context.WithValue(s.base, peerKey{}, peer))
	return &conn{
		s:      s,
		nc:     nc,
		src:    newSource(nc, s.o.MaxRequestBytes, &s.budget),
		log:    s.o.Log.With("conn", number, "pid", peer.PID),
		slots:  make(chan struct{}, s.o.MaxInFlight),
		turns:  make(chan struct{}, turnsEach),
		ctx:    ctx,
		cancel: cancel,
		ids:    map[string]context.CancelFunc{},

		latest:        map[string]turn{},
		subscriptions: map[uint64]context.CancelFunc{},
	}
}

// serve answers the client until it leaves or misbehaves, or until the
// server drains. When it returns no request of the connection is running.
func (c *conn) serve() {
	defer c.s.remove(c)
	c.log.Debug("connection opened")
	err := c.read()
	var fault *ipc.Error
	switch {
	case errors.As(err, &fault):
		c.log.Info("client breaks the protocol; closing its connection", "error", fault)
		c.refuse(fault)
	case errors.Is(err, io.EOF):
		// The client may only have finished sending and wait for answers.
		if sock.HungUp(c.nc) {
			c.cancel(errGone)
		}
		c.listenOn()
	case errors.Is(err, os.ErrDeadlineExceeded):
		// Drained.
	default:
		c.cancel(errGone)
	}
	c.await()
	if fault != nil {
		c.linger()
	}
	c.abort(errClosed)
	c.streams.Wait()
	c.log.Debug("connection closed", "reason", err)
}

// refuse tells the client why it is cut off, in its own framing.
func (c *conn) refuse(fault *ipc.Error) {
	if c.http {
		c.sendHTTP(outcome{err: fault}, httpFault(fault), "close")
		return
	}
	c.write(errorMessage(nil, fault))
}

// read dispatches messages until reading fails.
func (c *conn) read() error {
	out, err := c.src.detect()
	if err != nil {
		c.out = lines{c.src}
		return err
	}
	if c.out = out; out == nil {
		c.http = true
		return c.readHTTP()
	}
	for {
		data, err := c.out.next()
		if err != nil {
			return err
		}
		c.dispatch(data)
	}
}

// await returns once no request is running.
func (c *conn) await() {
	for range cap(c.slots) {
		c.acquire()
	}
}

// acquire waits for a free slot. As it keeps the reader from noticing that
// the client leaves, it looks for that itself, now and then.
func (c *conn) acquire() {
	select {
	case c.slots <- struct{}{}:
		return
	default:
	}
	tick := time.NewTicker(hangupPoll)
	defer tick.Stop()
	for {
		select {
		case c.slots <- struct{}{}:
			return
		case <-tick.C:
			if sock.HungUp(c.nc) {
				c.cancel(errGone)
			}
		}
	}
}

// begin registers a request, and refuses one that must not run.
func (c *conn) begin(id []byte, cancel context.CancelFunc) *ipc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining {
		return errShuttingDown
	}
	if named(id) {
		if _, ok := c.ids[string(id)]; ok {
			return ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: a request with id %s is being answered", id)
		}
		c.ids[string(id)] = cancel
	}
	c.running++
	return nil
}

// forget lets the client use the id again. It comes before the answer is
// written: once the client has read it, the id is free.
func (c *conn) forget(id []byte) {
	if !named(id) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ids, string(id))
}

// named reports whether a request can be told from others by its id.
func named(id []byte) bool { return id != nil && string(id) != "null" }

// end says that n requests have been answered, and frees their slots.
func (c *conn) end(n int) {
	c.mu.Lock()
	c.running -= n
	if c.running == 0 && c.waiter != nil {
		c.s.answers.force(c.waiter)
	}
	c.closeWhenIdle()
	c.mu.Unlock()
	for range n {
		<-c.slots
	}
}

// cancelRequest cancels a running request; one that is not running is
// answered already, or never came.
func (c *conn) cancelRequest(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.ids[string(id)]; ok {
		cancel()
	}
}

// drain makes the connection refuse new requests, and end when the running
// ones are answered.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	c.closeWhenIdle()
}

// closeWhenIdle ends a draining connection's reading soon. c.mu is held.
func (c *conn) closeWhenIdle() {
	if c.draining && c.running == 0 {
		// An error means that the connection is closed: as wanted.
		_ = c.nc.SetReadDeadline(time.Now().Add(drainGrace))
	}
}

// abort cancels the connection's requests and closes it at once.
func (c *conn) abort(reason error) {
	c.cancel(reason)
	_ = c.nc.Close() // nothing is left to lose
}

// writeChunk is how much a client must take within the write timeout.
const writeChunk = 64 << 10

// write sends a message, or nothing for nil. A client that takes none of it in
// time is cut off; only goroutines of its own connection wait for it.
func (c *conn) write(payload []byte) {
	if payload != nil {
		c.writeRaw(c.out.frame(payload))
	}
}

// writeRaw sends bytes that are framed already.
func (c *conn) writeRaw(buf []byte) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	for len(buf) > 0 {
		n, err := c.writeSome(buf[:min(len(buf), writeChunk)])
		if err != nil {
			c.lost(err)
			return
		}
		buf = buf[n:]
	}
}

func (c *conn) writeSome(b []byte) (int, error) {
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.s.o.WriteTimeout)); err != nil {
		return 0, err
	}
	return c.nc.Write(b)
}

// lost gives the connection up after a write failed.
func (c *conn) lost(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.log.Warn("client takes no answers; closing its connection", "timeout", c.s.o.WriteTimeout)
	}
	c.abort(errGone)
}

// linger discards for a while what a client still sends that is about to be
// cut off: it may be blocked sending, and could not read why.
func (c *conn) linger() {
	if uc, ok := c.nc.(*net.UnixConn); ok {
		_ = uc.CloseWrite() // best effort, as all of this
	}
	if c.nc.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.Copy(io.Discard, c.nc)
	}
}
