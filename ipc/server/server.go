// Package server answers Quern's protocol, JSON-RPC 2.0, over Unix sockets.
//
// A Server has methods (Handle) and serves any number of listeners (Serve).
// It finds each connection's framing from the first byte the client sends,
// runs the requests of a connection concurrently up to a limit, and holds
// everything a client can make it hold within bounds. See docs/protocol.md.
//
// An idle connection costs one goroutine, its reader, and a 4 KiB buffer. A
// request costs one more goroutine until its answer is written. All of them
// have ended when Shutdown returns nil.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"quern/ipc"
	"quern/ipc/internal/sock"
)

// Options are a server's bounds. The zero value of every field means its
// default.
type Options struct {
	// Log gets what an administrator should know; nil discards it.
	Log *slog.Logger
	// MaxRequestBytes bounds one request, framing excluded.
	// Default: ipc.MaxRequestBytes.
	MaxRequestBytes int
	// MaxInFlight bounds the requests of one connection that are being
	// answered, and the members of a batch. Default: ipc.MaxInFlight.
	MaxInFlight int
	// MaxConns bounds the open connections; a client beyond it gets
	// ipc.CodeBusy and is closed. Default: 4096, or half of the descriptors
	// that the process may have open if that is less.
	MaxConns int
	// MaxSubscriptions bounds those of one connection. Default:
	// ipc.MaxSubscriptions.
	MaxSubscriptions int
	// MaxBufferedBytes bounds what all connections together hold of requests
	// longer than 4 KiB; a client that would exceed it gets ipc.CodeBusy and
	// is closed. Default: 64 MiB.
	MaxBufferedBytes int64
	// MaxAnswerBytes is how much all connections together may hold of answers
	// that their clients have not read before further requests wait; beyond
	// twice as much they get ipc.CodeBusy. Default: 64 MiB.
	MaxAnswerBytes int64
	// WriteTimeout is how long a client may take no bytes of an answer
	// before its connection is closed. Default: 30 s.
	WriteTimeout time.Duration
	// Allow decides whom to serve. Default: the owner of this process and
	// root.
	Allow func(Peer) bool
}

func (o *Options) setDefaults() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxRequestBytes <= 0 {
		o.MaxRequestBytes = ipc.MaxRequestBytes
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = ipc.MaxInFlight
	}
	if o.MaxConns <= 0 {
		o.MaxConns = min(defaultConns, descriptorLimit()/2)
	}
	if o.MaxSubscriptions <= 0 {
		o.MaxSubscriptions = ipc.MaxSubscriptions
	}
	if o.MaxAnswerBytes <= 0 {
		o.MaxAnswerBytes = 64 << 20
	}
	if o.MaxBufferedBytes <= 0 {
		o.MaxBufferedBytes = 64 << 20
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 30 * time.Second
	}
	if o.Allow == nil {
		self := sock.Self()
		o.Allow = func(p Peer) bool { return p.UID == self || p.UID == 0 }
	}
}

const defaultConns = 4096

// Timing that no user needs to set.
const (
	// drainGrace is how long a connection with nothing left to answer stays
	// open in Shutdown, so that a request already on its way is refused with
	// a reason instead of lost.
	drainGrace = 20 * time.Millisecond
	// hangupPoll is how often a reader that cannot read looks whether its
	// client is still there.
	hangupPoll = 100 * time.Millisecond
	// lingerTime bounds the discarding of what a refused client still sends.
	lingerTime = 500 * time.Millisecond
	// stuckTime is how long Shutdown waits for handlers after it has
	// cancelled them.
	stuckTime = time.Second
)

// Server answers requests. Make one with New.
type Server struct {
	o       Options
	budget  budget
	answers room
	turns   chan struct{} // a token for each request that computes
	opened  atomic.Uint64 // connections so far; numbers them in the log

	// base is the parent of every request's context; cancelAll ends it.
	base      context.Context
	cancelAll context.CancelCauseFunc

	mu        sync.Mutex // guards all fields below
	methods   map[string]method
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	draining  bool
	empty     chan struct{} // closed when draining and conns is empty
}

// New makes a server without methods. It starts no goroutine.
func New(o Options) *Server {
	o.setDefaults()
	s := &Server{
		o:         o,
		budget:    budget{limit: o.MaxBufferedBytes},
		answers:   room{limit: o.MaxAnswerBytes},
		turns:     newTurns(),
		methods:   map[string]method{},
		listeners: map[net.Listener]struct{}{},
		conns:     map[*conn]struct{}{},
		empty:     make(chan struct{}),
	}
	s.base, s.cancelAll = context.WithCancelCause(context.Background())
	return s
}

// MaxConns is how many connections the server accepts.
func (s *Server) MaxConns() int { return s.o.MaxConns }

// Serve answers the clients of l until Shutdown, and then returns nil (at once,
// when that has been called already), or until l fails, and then returns why. It
// closes l. It may be called for several listeners at the same time.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		return l.Close()
	}
	for pause := time.Duration(0); ; {
		nc, err := l.Accept()
		if err == nil {
			pause = 0
			s.welcome(nc)
			continue
		}
		if s.isDraining() {
			return nil
		}
		if !isTemporary(err) {
			s.removeListener(l)
			return errors.Join(fmt.Errorf("serve %s: %w", l.Addr(), err), l.Close())
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		s.o.Log.Warn("cannot accept connections for now", "error", err, "pause", pause)
		s.sleep(pause)
	}
}

// isTemporary reports an error that passes, such as too many open files.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return !errors.Is(err, net.ErrClosed) && errors.As(err, &t) && t.Temporary()
}

// sleep waits, but not longer than the server lives.
func (s *Server) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.base.Done():
	}
}

// welcome starts the connection's goroutine, or turns the client away.
func (s *Server) welcome(nc net.Conn) {
	peer, err := s.admit(nc)
	if err == nil {
		c := newConn(s, nc, peer, s.opened.Add(1))
		if err = s.add(c); err == nil {
			go c.serve() // ends when the client leaves, or in Shutdown
			return
		}
		c.cancel(errClosed)
	}
	s.o.Log.Warn("connection refused", "uid", peer.UID, "pid", peer.PID, "error", err)
	turnAway(nc, err)
}

// turnAway sends err as one line, whatever framing the client would have
// chosen, and closes. A new socket has room for it, so this does not block.
func turnAway(nc net.Conn, err *ipc.Error) {
	line := append(errorMessage(nil, err), '\n')
	_ = nc.SetWriteDeadline(time.Now().Add(lingerTime)) // best effort: the client is not served anyway
	_, _ = nc.Write(line)
	_ = nc.Close()
}

// admit finds out who the client is and whether to serve it.
func (s *Server) admit(nc net.Conn) (Peer, *ipc.Error) {
	peer, err := peerOf(nc)
	if err != nil {
		return peer, ipc.Errorf(ipc.CodeNotPermitted, "not permitted: cannot tell who is asking: %v", err)
	}
	if !s.o.Allow(peer) {
		return peer, ipc.Errorf(ipc.CodeNotPermitted, "not permitted: this daemon does not serve user %d", peer.UID)
	}
	return peer, nil
}

func (s *Server) add(c *conn) *ipc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return errShuttingDown
	}
	if len(s.conns) >= s.o.MaxConns {
		return ipc.Errorf(ipc.CodeBusy, "too busy: %d connections are open, which is the limit", len(s.conns))
	}
	s.conns[c] = struct{}{}
	return nil
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.draining && len(s.conns) == 0 {
		close(s.empty) // once: no connection is added while draining
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Shutdown stops accepting connections, answers the requests that were
// accepted, refuses new ones with ipc.CodeShuttingDown and closes every
// connection once it has nothing left to answer. When ctx ends first, it
// cancels what still runs, closes every connection at once and returns ctx's
// error; a handler that ignores its cancellation then may outlive it. Later
// calls wait like the first.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.startDraining()
	select {
	case <-s.empty:
		s.cancelAll(errShuttingDown)
		return err
	case <-ctx.Done():
	}
	s.abortAll()
	err = errors.Join(err, fmt.Errorf("shut down the server: %w", context.Cause(ctx)))
	stuck := time.NewTimer(stuckTime)
	defer stuck.Stop()
	select {
	case <-s.empty:
		return err
	case <-stuck.C:
		return errors.Join(err, errors.New("some requests ignore their cancellation"))
	}
}

// startDraining closes the listeners and tells every connection to finish.
func (s *Server) startDraining() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil
	}
	s.draining = true
	var errs []error
	for l := range s.listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, fmt.Errorf("close %s: %w", l.Addr(), err))
		}
	}
	for c := range s.conns {
		c.drain()
	}
	if len(s.conns) == 0 {
		close(s.empty)
	}
	return errors.Join(errs...)
}

// abortAll cancels every request and closes every connection.
func (s *Server) abortAll() {
	s.cancelAll(errShuttingDown)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.abort(errShuttingDown)
	}
}
