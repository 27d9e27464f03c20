package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"quern/ipc"
	"quern/ipc/server"
)

// restartable is a daemon on one path that can be ended and started again.
type restartable struct {
	t        *testing.T
	path     string
	instance int
	s        *server.Server
	served   chan error
	register func(s *server.Server, instance int)
}

func (r *restartable) start() {
	r.t.Helper()
	r.instance++
	r.s, r.served = server.New(server.Options{}), make(chan error, 1)
	r.register(r.s, r.instance)
	l, err := server.Listen(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	s, served := r.s, r.served
	go func() { served <- s.Serve(l) }()
}

func (r *restartable) end() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = r.s.Shutdown(ctx)
	<-r.served
}

func (r *restartable) dial(ctx context.Context) (*Client, error) { return Dial(ctx, r.path) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestRedialerSurvivesRestarts(t *testing.T) {
	calls := map[string]*atomic.Int64{ipc.MethodSync: {}, ipc.MethodShutdown: {}}
	d := &restartable{t: t, path: shortDir(t) + "/s"}
	d.register = func(s *server.Server, instance int) {
		server.Handle(s, "echo", func(context.Context, textParams) (textParams, error) {
			return textParams{fmt.Sprint(instance)}, nil
		})
		for method, n := range calls {
			server.Handle(s, method, func(ctx context.Context, _ ipc.Empty) (ipc.Empty, error) {
				n.Add(1)
				if instance < 3 {
					<-ctx.Done()
				}
				return ipc.Empty{}, ctx.Err()
			})
		}
	}
	ctx := testContext(t)
	r := NewRedialer(d.dial)
	if err := r.Call(ctx, "echo", textParams{}, nil); !errors.Is(err, ErrNotRunning) {
		t.Errorf("before the start: %v", err)
	}
	for i := range 2 {
		d.start()
		var got textParams
		if err := r.Call(ctx, "echo", textParams{}, &got); err != nil || got.Text != fmt.Sprint(i+1) {
			t.Errorf("instance %d: %v, %v", i+1, got, err)
		}
		if i == 0 {
			d.end()
		}
	}
	// What waits when the daemon ends is sent again only if that does no harm.
	ends := map[string]chan error{}
	for method := range calls {
		done := make(chan error, 1)
		ends[method] = done
		go func() { done <- r.Call(ctx, method, nil, nil) }()
	}
	for calls[ipc.MethodSync].Load()+calls[ipc.MethodShutdown].Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	_ = d.s.Shutdown(now) // cuts off what runs
	<-d.served
	d.start()
	if err := <-ends[ipc.MethodSync]; err != nil || calls[ipc.MethodSync].Load() != 2 {
		t.Errorf("sync: %v after %d calls", err, calls[ipc.MethodSync].Load())
	}
	if err := <-ends[ipc.MethodShutdown]; err == nil || calls[ipc.MethodShutdown].Load() != 1 {
		t.Errorf("shutdown: %v after %d calls", err, calls[ipc.MethodShutdown].Load())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Call(ctx, "echo", textParams{}, nil); !errors.Is(err, ErrConnectionLost) {
		t.Errorf("after Close: %v", err)
	}
	d.end()
}

func TestWatchSurvivesRestarts(t *testing.T) {
	asked := make(chan ipc.SubscribeParams, 10)
	tell := make(chan ipc.Changed, 10)
	d := &restartable{t: t, path: shortDir(t) + "/s"}
	d.register = func(s *server.Server, instance int) {
		server.Handle(s, ipc.MethodSubscribe, func(ctx context.Context, p ipc.SubscribeParams) (ipc.SubscribeResult, error) {
			asked <- p
			if p.Path == "[" {
				return ipc.SubscribeResult{}, ipc.Errorf(ipc.CodeInvalidParams, "path: not a glob")
			}
			n, err := server.Subscribe(ctx, func(ctx context.Context, send server.Send) {
				for {
					select {
					case c := <-tell:
						_ = send(ipc.MethodChanged, c)
					case <-ctx.Done():
						return
					}
				}
			})
			return ipc.SubscribeResult{Subscription: n, Generation: 5, Instance: fmt.Sprint(instance), FreshStart: instance > 1}, err
		})
	}
	d.start()
	ctx, stop := context.WithCancel(testContext(t))
	told := make(chan ipc.Changed)
	done := make(chan error, 1)
	go func() {
		done <- Watch(ctx, d.dial, ipc.SubscribeParams{Path: "*.md"}, func(c ipc.Changed) { told <- c })
	}()
	if p := <-asked; p.Since != nil || p.Path != "*.md" {
		t.Errorf("asked for %+v", p)
	}
	tell <- ipc.Changed{Generation: 9, Added: []string{"/a"}}
	if c := <-told; c.Generation != 9 || len(c.Added) != 1 {
		t.Errorf("told %+v", c)
	}
	d.end()
	d.start()
	if p := <-asked; p.Since == nil || *p.Since != 9 || p.Instance != "1" {
		t.Errorf("asked again for %+v", p)
	}
	if c := <-told; !c.FreshStart || c.Generation != 5 {
		t.Errorf("told %+v", c)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ends with %v", err)
	}
	err := Watch(testContext(t), d.dial, ipc.SubscribeParams{Path: "["}, func(ipc.Changed) {})
	if !errors.Is(err, &ipc.Error{Code: ipc.CodeInvalidParams}) {
		t.Errorf("refused with %v", err)
	}
	d.end()
}
