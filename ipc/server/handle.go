package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"

	"quern/ipc"
	"quern/ipc/internal/strict"
)

// method is a registered method.
type method struct {
	// run answers one request: params in, result out, both as JSON.
	run      func(ctx context.Context, params []byte) ([]byte, error)
	types    Types
	readOnly bool
}

// Types are the Go types of a method's params and result.
type Types struct{ Params, Result reflect.Type }

// MethodOption says something about a method that is being registered.
type MethodOption func(*method)

// ReadOnly says that a method changes nothing: HTTP clients may GET it.
func ReadOnly(m *method) { m.readOnly = true }

// Handle makes h answer the requests for a method. Call it before Serve; it
// panics when the method has a handler already.
//
// Params are one JSON object that has no names but P's fields, spelled as
// they are; left out or null they are P's zero value. Anything else is
// answered with ipc.CodeInvalidParams before h is called.
//
// An error of h that is, or wraps, an *ipc.Error keeps its code and data;
// context.Canceled becomes ipc.CodeCancelled, context.DeadlineExceeded
// ipc.CodeTimeout, and any other error ipc.CodeInternal, which is logged. So
// is a panic, which ends the request only. The context ends when the client
// cancels the request or leaves, and when the server is shut down in haste.
func Handle[P, R any](s *Server, name string, h func(ctx context.Context, params P) (R, error), options ...MethodOption) {
	params := strict.NewDecoder[P]()
	m := method{types: Types{reflect.TypeFor[P](), reflect.TypeFor[R]()}}
	for _, o := range options {
		o(&m)
	}
	m.run = func(ctx context.Context, data []byte) ([]byte, error) {
		p, err := params.Decode(data)
		if err != nil {
			return nil, ipc.Errorf(ipc.CodeInvalidParams, "invalid params: %v", err)
		}
		r, err := h(ctx, p)
		if err != nil {
			return nil, err
		}
		return encode(r)
	}
	s.register(name, m)
}

// Methods are the types of all registered methods, by name.
func (s *Server) Methods() map[string]Types {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]Types, len(s.methods))
	for name, m := range s.methods {
		out[name] = m.types
	}
	return out
}

func (s *Server) register(name string, m method) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.methods[name]; ok {
		panic(fmt.Sprintf("server: method %q has a handler already", name))
	}
	s.methods[name] = m
}

func (s *Server) method(name string) (method, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.methods[name]
	return m, ok
}

// encode writes v on one line, with <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var errShuttingDown = ipc.Errorf(ipc.CodeShuttingDown, "the daemon is shutting down")

// call runs the request's handler and hands the outcome to reply, whichever
// way the handler ends: by returning, by a panic or by runtime.Goexit.
func (c *conn) call(ctx context.Context, r request, reply func(outcome)) {
	var o outcome
	defer func() {
		if o.result == nil && o.err == nil {
			c.log.Error("a handler panicked", "method", r.method, "panic", fmt.Sprint(recover()), "stack", string(debug.Stack()))
			o.err = ipc.Errorf(ipc.CodeInternal, "internal error: %s panicked; the daemon's log says more", r.method)
		}
		reply(o)
	}()
	o = c.run(ctx, r)
}

func (c *conn) run(ctx context.Context, r request) outcome {
	m, ok := c.s.method(r.method)
	if !ok {
		return outcome{err: ipc.Errorf(ipc.CodeMethodNotFound, "unknown method %q", r.method)}
	}
	result, err := m.run(ctx, r.params)
	if err != nil {
		return outcome{err: c.wireError(r.method, err)}
	}
	return outcome{result: result}
}

// wireError is err as the client sees it.
func (c *conn) wireError(method string, err error) *ipc.Error {
	var e *ipc.Error
	switch {
	case errors.As(err, &e):
		return &ipc.Error{Code: e.Code, Message: err.Error(), Data: e.Data}
	case errors.Is(err, context.Canceled):
		return ipc.Errorf(ipc.CodeCancelled, "the request was cancelled")
	case errors.Is(err, context.DeadlineExceeded):
		return ipc.Errorf(ipc.CodeTimeout, "timed out: %v", err)
	}
	c.log.Error("a request failed", "method", method, "error", err)
	return ipc.Errorf(ipc.CodeInternal, "internal error: %v", err)
}
