package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quern/ipc"
	"quern/ipc/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

type textParams struct {
	Text string `json:"text"`
}

// daemon is a server with methods that tests steer.
type daemon struct {
	*server.Server
	path    string
	started chan string
	release chan struct{}
	ended   chan error
}

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t testing.TB, o server.Options) *daemon {
	t.Helper()
	d := &daemon{
		Server:  server.New(o),
		path:    filepath.Join(shortDir(t), "s"),
		started: make(chan string, 1000),
		release: make(chan struct{}, 1000),
		ended:   make(chan error, 1000),
	}
	server.Handle(d.Server, "echo", func(_ context.Context, p textParams) (textParams, error) { return p, nil })
	server.Handle(d.Server, "block", d.block)
	server.Handle(d.Server, "fail", func(context.Context, ipc.Empty) (ipc.Empty, error) {
		return ipc.Empty{}, &ipc.Error{Code: ipc.CodeBadQuery, Message: "bad", Data: []byte(`{"column":3}`)}
	})
	l, err := server.Listen(d.path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = d.Shutdown(ctx)
		<-served
	})
	return d
}

func (d *daemon) block(ctx context.Context, p textParams) (textParams, error) {
	d.started <- p.Text
	var err error
	select {
	case <-d.release:
	case <-ctx.Done():
		err = ctx.Err()
	}
	d.ended <- err
	return p, err
}

func (d *daemon) dial(t testing.TB) *Client {
	t.Helper()
	c, err := Dial(t.Context(), d.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("never happened: %s", what)
		panic("unreachable")
	}
}

// async calls in a goroutine.
func async(ctx context.Context, c *Client, method string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, method, textParams{"x"}, nil) }()
	return done
}

func TestCall(t *testing.T) {
	c := serve(t, server.Options{}).dial(t)
	var got textParams
	if err := c.Call(t.Context(), "echo", textParams{"é <&>\n"}, &got); err != nil || got.Text != "é <&>\n" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Error(err)
	}
	var n int
	if err := c.Call(t.Context(), "echo", nil, &n); err == nil || !strings.Contains(err.Error(), "decode the answer to echo") {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "echo", func() {}, nil); err == nil || !strings.Contains(err.Error(), "encode the params") {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Errorf("the connection does not go on: %v", err)
	}
}

func TestServerErrors(t *testing.T) {
	c := serve(t, server.Options{}).dial(t)
	var e *ipc.Error
	err := c.Call(t.Context(), "fail", nil, nil)
	if !errors.As(err, &e) || e.Code != ipc.CodeBadQuery || e.Message != "bad" || string(e.Data) != `{"column":3}` {
		t.Errorf("got %#v", err)
	}
	if err := c.Call(t.Context(), "nope", nil, nil); !errors.Is(err, &ipc.Error{Code: ipc.CodeMethodNotFound}) {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "echo", map[string]int{"txt": 1}, nil); !errors.Is(err, &ipc.Error{Code: ipc.CodeInvalidParams}) {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	c := serve(t, server.Options{}).dial(t)
	var wg sync.WaitGroup
	for i := range 300 { // far more than may be in flight
		wg.Go(func() {
			for j := range 10 {
				var got textParams
				want := textParams{fmt.Sprint(i, "/", j)}
				if err := c.Call(t.Context(), "echo", want, &got); err != nil || got != want {
					t.Errorf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestCancelReachesTheHandler(t *testing.T) {
	d := serve(t, server.Options{})
	c := d.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := async(ctx, c, "block")
	receive(t, "the start", d.started)
	cancel()
	if err := receive(t, "the call's end", done); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if err := receive(t, "the handler's end", d.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the handler ends with %v", err)
	}
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Errorf("the connection does not go on: %v", err)
	}
}

func TestEndedContextSendsNothing(t *testing.T) {
	d := serve(t, server.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.dial(t).Call(ctx, "block", nil, nil); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if len(d.started) > 0 {
		t.Error("the request was sent")
	}
}

// TestWaitsForASlot has all slots taken: a further call waits, gives up with
// its context, and goes through when one is free.
func TestWaitsForASlot(t *testing.T) {
	d := serve(t, server.Options{})
	c := d.dial(t)
	var calls []<-chan error
	for range ipc.MaxInFlight {
		calls = append(calls, async(t.Context(), c, "block"))
		receive(t, "the start", d.started)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "echo", nil, nil); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	extra := async(t.Context(), c, "echo")
	d.release <- struct{}{}
	if err := receive(t, "the further call", extra); err != nil {
		t.Error(err)
	}
	for range ipc.MaxInFlight {
		d.release <- struct{}{}
	}
	for _, done := range calls {
		if err := receive(t, "a call", done); err != nil {
			t.Error(err)
		}
	}
}

func TestCloseFailsPendingCalls(t *testing.T) {
	d := serve(t, server.Options{})
	c := d.dial(t)
	var calls []<-chan error
	for range 100 { // some in flight, some waiting for a slot
		calls = append(calls, async(t.Context(), c, "block"))
	}
	for range ipc.MaxInFlight {
		receive(t, "a start", d.started)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, done := range calls {
		if err := receive(t, "a call", done); !errors.Is(err, ErrConnectionLost) || !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, ErrConnectionLost) {
		t.Errorf("got %v", err)
	}
	for range ipc.MaxInFlight {
		if err := receive(t, "a handler's end", d.ended); !errors.Is(err, context.Canceled) {
			t.Errorf("the handler ends with %v", err)
		}
	}
}

func TestTooLongARequestStaysHere(t *testing.T) {
	c := serve(t, server.Options{}).dial(t)
	err := c.Call(t.Context(), "echo", textParams{strings.Repeat("a", ipc.MaxRequestBytes)}, nil)
	if !errors.Is(err, &ipc.Error{Code: ipc.CodeInvalidRequest}) {
		t.Errorf("got %v", err)
	}
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Errorf("the connection does not go on: %v", err)
	}
}

func TestNotRunning(t *testing.T) {
	dir := shortDir(t)
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	for _, path := range []string{stale, filepath.Join(dir, "none"), filepath.Join(dir, "no", "dir")} {
		if _, err := Dial(t.Context(), path); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestUntrustedSocketIsNotSpokenTo(t *testing.T) {
	d := serve(t, server.Options{})
	dir := filepath.Dir(d.path)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), d.path); err == nil || !strings.Contains(err.Error(), "writable by others") {
		t.Errorf("got %v", err)
	}
	if _, err := Dial(t.Context(), "/"+strings.Repeat("x", 200)); err == nil || !strings.Contains(err.Error(), "the system's limit") {
		t.Errorf("got %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make files of another user")
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), d.path); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("got %v", err)
	}
}

func TestRefusalIsReported(t *testing.T) {
	d := serve(t, server.Options{Allow: func(server.Peer) bool { return false }})
	for range 50 { // the refusal races with the request
		c := d.dial(t)
		err := c.Call(t.Context(), "echo", textParams{strings.Repeat("a", 300000)}, nil)
		if !errors.Is(err, ErrConnectionLost) || !errors.Is(err, &ipc.Error{Code: ipc.CodeNotPermitted}) {
			t.Fatalf("got %v", err)
		}
	}
}

// fake is a daemon that says what a test tells it to.
func fake(t *testing.T, talk func(c net.Conn, r *bufio.Reader)) *Client {
	t.Helper()
	path := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		talk(c, bufio.NewReader(c))
	})
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = l.Close()
		ended.Wait()
	})
	return c
}

// TestBadAnswers has what a daemon must not say; every one of them ends the
// connection, and the call with it.
func TestBadAnswers(t *testing.T) {
	for _, c := range []struct{ say, want string }{
		{"", "the daemon closed it"},
		{`{"jsonrpc":"2.0","id":1,"resu`, "the daemon closed it"},
		{"garbage\n", "an answer cannot be read"},
		{"\n", "an answer cannot be read"},
		{`{"jsonrpc":"2.0","id":7,"result":1}` + "\n", "an answer has the unknown id 7"},
		{`{"jsonrpc":"2.0","id":"1","result":1}` + "\n", "an answer cannot be read"},
		{`{"jsonrpc":"2.0","result":1}` + "\n", "an answer has no id"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32002,"message":"too busy"}}` + "\n", "too busy"},
	} {
		client := fake(t, func(nc net.Conn, r *bufio.Reader) {
			_, _ = r.ReadString('\n')
			_, _ = io.WriteString(nc, c.say)
		})
		err := client.Call(t.Context(), "echo", nil, nil)
		if !errors.Is(err, ErrConnectionLost) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.say, err)
		}
	}
}

func TestNotificationsArePassedOver(t *testing.T) {
	c := fake(t, func(nc net.Conn, r *bufio.Reader) {
		_, _ = r.ReadString('\n')
		_, _ = io.WriteString(nc, `{"jsonrpc":"2.0","method":"changed","params":{}}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{"text":"x"}}`+"\n")
		_, _ = r.ReadString('\n') // until the client closes
	})
	var got textParams
	if err := c.Call(t.Context(), "echo", nil, &got); err != nil || got.Text != "x" {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestDaemonThatNeverReads blocks the client's sending; contexts and Close
// must work all the same.
func TestDaemonThatNeverReads(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	c := fake(t, func(net.Conn, *bufio.Reader) { <-stop })
	big := textParams{strings.Repeat("a", 900000)}
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := c.Call(ctx, "echo", big, nil); err != context.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelStorm cancels at any instant; no answer may reach the wrong
// call, and no slot may be lost.
func TestCancelStorm(t *testing.T) {
	d := serve(t, server.Options{})
	c := d.dial(t)
	var wg sync.WaitGroup
	var done atomic.Int64
	for i := range 100 {
		wg.Go(func() {
			for j := range 30 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i*7+j*13)%300)*time.Microsecond)
				want := textParams{fmt.Sprint(i, "/", j)}
				var got textParams
				err := c.Call(ctx, "echo", want, &got)
				cancel()
				if err == nil && got != want {
					t.Errorf("got %v, want %v", got, want)
				}
				if err != nil && err != context.DeadlineExceeded {
					t.Error(err)
				}
				if err == nil {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	for range ipc.MaxInFlight { // every slot must come free again
		if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of 3000 calls were answered in time", done.Load())
}

func TestManyDialsAtOnce(t *testing.T) {
	d := serve(t, server.Options{})
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			c, err := Dial(t.Context(), d.path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkRoundTrip(b *testing.B) {
	c := serve(b, server.Options{}).dial(b)
	p := textParams{"billing refunds"}
	for b.Loop() {
		var got textParams
		if err := c.Call(b.Context(), "echo", p, &got); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPipelined(b *testing.B) {
	c := serve(b, server.Options{}).dial(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := c.Call(b.Context(), "echo", textParams{"billing refunds"}, nil); err != nil {
				b.Error(err)
			}
		}
	})
}
