package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Environment variables that turn the test binary into a helper process.
const (
	envDial      = "QUERN_TEST_DIAL"      // print what the socket of that path says
	envActivated = "QUERN_TEST_ACTIVATED" // serve the passed socket
	envHold      = "QUERN_TEST_HOLD"      // listen on that path until killed
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(envDial) != "":
		helperDial(os.Getenv(envDial))
	case os.Getenv(envActivated) != "":
		helperActivated()
	case os.Getenv(envHold) != "":
		helperHold(os.Getenv(envHold))
	default:
		goleak.VerifyTestMain(m)
	}
}

const patience = 20 * time.Second

// eventually polls until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// receive takes one value from c.
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

// shortDir is a private directory whose path leaves room for a socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// logBuffer is a log that tests can read.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// fixture is a server on a socket, with methods that tests steer.
type fixture struct {
	*Server
	path    string
	log     *logBuffer
	started chan string        // block sends its params' name here
	release chan struct{}      // and then waits for one of these, or its context
	ended   chan error         // and then sends why it ended
	served  chan error         // Serve's result
	ctx     context.Context    // ends with the test
	stop    context.CancelFunc // for cleanup
}

type echoParams struct {
	Text string `json:"text"`
	Size int    `json:"size"`
}

type echoResult struct {
	Text string `json:"text"`
	Fill string `json:"fill,omitempty"`
}

type blockParams struct {
	Name   string `json:"name"`
	Ignore bool   `json:"ignore"`
}

func serve(t testing.TB, o Options) *fixture {
	t.Helper()
	f := &fixture{
		path:    filepath.Join(shortDir(t), "s"),
		log:     &logBuffer{},
		started: make(chan string, 1000),
		release: make(chan struct{}, 1000),
		ended:   make(chan error, 1000),
		served:  make(chan error, 1),
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	o.Log = slog.New(slog.NewTextHandler(f.log, nil))
	f.Server = New(o)
	Handle(f.Server, "echo", func(_ context.Context, p echoParams) (echoResult, error) {
		return echoResult{Text: p.Text, Fill: strings.Repeat("x", p.Size)}, nil
	}, ReadOnly)
	Handle(f.Server, "block", f.block)
	l, err := Listen(f.path)
	if err != nil {
		t.Fatal(err)
	}
	go func() { f.served <- f.Serve(l) }()
	t.Cleanup(f.close)
	return f
}

func (f *fixture) block(ctx context.Context, p blockParams) (echoResult, error) {
	f.started <- p.Name
	var err error
	select {
	case <-f.release:
	case <-ctx.Done():
		err = ctx.Err()
	}
	f.ended <- err
	return echoResult{Text: p.Name}, err
}

func (f *fixture) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for range cap(f.release) {
		select {
		case f.release <- struct{}{}:
		default:
		}
	}
	_ = f.Shutdown(ctx)
	f.stop()
}

func (f *fixture) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// wire is a client that says exactly what it is told to.
type wire struct {
	t testing.TB
	*net.UnixConn
	r *bufio.Reader
}

func (f *fixture) dial(t testing.TB) *wire {
	t.Helper()
	c, err := net.Dial("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &wire{t, c.(*net.UnixConn), bufio.NewReader(c)}
}

func (w *wire) send(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		w.t.Fatalf("send: %v", err)
	}
}

// line reads one line; "" is the end of the connection.
func (w *wire) line() string {
	w.t.Helper()
	s, err := w.r.ReadString('\n')
	if err != nil && (!isEnd(err) || s != "") {
		w.t.Fatalf("read: %v after %q", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset by peer")
}

// lines reads n lines, in any order, by id.
func (w *wire) byID(n int) map[string]string {
	w.t.Helper()
	m := map[string]string{}
	for range n {
		l := w.line()
		var r struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			w.t.Fatalf("answer %q: %v", l, err)
		}
		m[string(r.ID)] = l
	}
	return m
}

// framed reads one message with headers.
func (w *wire) framed() string {
	w.t.Helper()
	var n int
	if _, err := fmt.Fscanf(w.r, "Content-Length: %d\r\n\r\n", &n); err != nil {
		w.t.Fatalf("read headers: %v", err)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(w.r, b); err != nil {
		w.t.Fatalf("read body: %v", err)
	}
	return string(b)
}

// code is the error code of an answer, 0 for a result.
func code(t testing.TB, answer string) int {
	t.Helper()
	var r struct {
		JSONRPC string
		Error   *struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(answer), &r); err != nil || r.JSONRPC != "2.0" {
		t.Fatalf("not an answer: %q (%v)", answer, err)
	}
	if r.Error == nil {
		return 0
	}
	if r.Error.Message == "" {
		t.Fatalf("error without a message: %q", answer)
	}
	return r.Error.Code
}

func request1(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}
