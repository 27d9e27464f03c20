package server

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

func (f *fixture) shutdown(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f.Shutdown(ctx) }()
	return done
}

func TestShutdownAnswersWhatWasAccepted(t *testing.T) {
	f := serve(t, Options{})
	w, idle, silent := f.dial(t), f.dial(t), f.dial(t)
	idle.send(request1("1", "echo", "{}") + "\n")
	idle.line()
	w.send(request1("1", "block", "{}") + "\n[" + request1("2", "block", "{}") + "]\n")
	receive(t, "the start", f.started)
	receive(t, "the start", f.started)
	done := f.shutdown(context.Background())
	for _, w := range []*wire{idle, silent} {
		if got := w.line(); got != "" {
			t.Errorf("an idle client gets %s", got)
		}
	}
	w.send(request1("3", "echo", "{}") + "\n")
	if got := w.line(); code(t, got) != ipc.CodeShuttingDown || !strings.Contains(got, `"id":3`) {
		t.Errorf("a new request gets %s", got)
	}
	f.release <- struct{}{}
	f.release <- struct{}{}
	answers := w.line() + w.line()
	if strings.Count(answers, `"result"`) != 2 {
		t.Errorf("got %s", answers)
	}
	if got := w.line(); got != "" {
		t.Errorf("got %s", got)
	}
	if err := receive(t, "the end of Shutdown", done); err != nil {
		t.Error(err)
	}
	if err := receive(t, "the end of Serve", f.served); err != nil {
		t.Error(err)
	}
	if f.connections() != 0 {
		t.Error("connections are left")
	}
}

// TestShutdownRefusesWhatIsOnItsWay sends a request that nobody has read when
// the shutdown begins: it is answered one way or the other, never lost.
func TestShutdownRefusesWhatIsOnItsWay(t *testing.T) {
	for range 20 {
		f := serve(t, Options{})
		w := f.dial(t)
		w.send(request1("1", "echo", "{}") + "\n")
		w.line()
		w.send(request1("2", "echo", "{}") + "\n")
		done := f.shutdown(context.Background())
		if got := code(t, w.line()); got != 0 && got != ipc.CodeShuttingDown {
			t.Errorf("code %d", got)
		}
		if err := receive(t, "the end of Shutdown", done); err != nil {
			t.Error(err)
		}
	}
}

func TestShutdownInHaste(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(request1("1", "block", "{}") + "\n")
	receive(t, "the start", f.started)
	ctx, cancel := context.WithCancel(context.Background())
	done := f.shutdown(ctx)
	select {
	case err := <-done:
		t.Fatalf("Shutdown does not wait for the request: %v", err)
	case <-time.After(5 * drainGrace):
	}
	cancel()
	if err := receive(t, "the end of Shutdown", done); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown returns %v", err)
	}
	if err := receive(t, "the request's end", f.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the handler ends with %v", err)
	}
	if f.connections() != 0 {
		t.Error("connections are left")
	}
}

// TestShutdownWithAStuckHandler does not wait for ever.
func TestShutdownWithAStuckHandler(t *testing.T) {
	f := serve(t, Options{})
	enter, leave := make(chan struct{}), make(chan struct{})
	Handle(f.Server, "stuck", func(context.Context, ipc.Empty) (ipc.Empty, error) {
		close(enter)
		<-leave
		return ipc.Empty{}, nil
	})
	w := f.dial(t)
	w.send(request1("1", "stuck", "{}") + "\n")
	receive(t, "the start", enter)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "ignore their cancellation") {
		t.Errorf("Shutdown returns %v", err)
	}
	close(leave)
	if err := f.Shutdown(context.Background()); err != nil {
		t.Errorf("the second Shutdown returns %v", err)
	}
}

func TestShutdownBeforeServe(t *testing.T) {
	s := New(Options{})
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	l, err := Listen(shortDir(t) + "/s")
	if err != nil {
		t.Fatal(err)
	}
	// The end may come at any time: that is no failure, and nothing is served.
	if err := s.Serve(l); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is not closed")
	}
}

// TestShutdownWithASlowReader cuts off a client that takes no answers.
func TestShutdownWithASlowReader(t *testing.T) {
	f := serve(t, Options{WriteTimeout: time.Hour})
	w := f.dial(t)
	for _, id := range []string{"1", "2", "3"} {
		w.send(request1(id, "echo", `{"size":5000000}`) + "\n")
	}
	w.line()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := f.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if f.connections() != 0 {
		t.Error("connections are left")
	}
}
