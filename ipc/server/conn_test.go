package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern/ipc"
)

func TestAnswersOutOfOrder(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(request1("1", "block", "{}") + "\n" + request1("2", "echo", "{}") + "\n")
	if got := w.line(); !strings.Contains(got, `"id":2`) {
		t.Fatalf("the second request waits for the first: %s", got)
	}
	f.release <- struct{}{}
	if got := w.line(); !strings.Contains(got, `"id":1`) || code(t, got) != 0 {
		t.Fatalf("got %s", got)
	}
}

func TestCancel(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	for _, id := range []string{"1", `"a"`, "123456789012345678901234567890"} {
		w.send(request1(id, "block", "{}") + "\n")
		receive(t, "the start", f.started)
		w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}` + "\n")
		if err := receive(t, "the end", f.ended); !errors.Is(err, context.Canceled) {
			t.Errorf("the handler ends with %v", err)
		}
		if got := w.line(); code(t, got) != ipc.CodeCancelled || !strings.Contains(got, id) {
			t.Errorf("got %s", got)
		}
	}
}

func TestCancelHitsOnlyItsRequest(t *testing.T) {
	f := serve(t, Options{})
	w, other := f.dial(t), f.dial(t)
	other.send(request1("2", "block", "{}") + "\n") // the same id on another connection
	receive(t, "the start", f.started)
	w.send(request1("1", "block", "{}") + "\n" + request1("2", "block", "{}") + "\n")
	receive(t, "the start", f.started)
	receive(t, "the start", f.started)
	w.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}` + "\n")
	if got := w.line(); code(t, got) != ipc.CodeCancelled || !strings.Contains(got, `"id":2`) {
		t.Errorf("got %s", got)
	}
	f.release <- struct{}{}
	f.release <- struct{}{}
	for _, w := range []*wire{w, other} {
		if got := w.line(); code(t, got) != 0 {
			t.Errorf("another request was cancelled: %s", got)
		}
	}
}

// TestCancelWhileAllSlotsAreTaken needs the reader to see a cancellation
// that follows as many requests as may run.
func TestCancelWhileAllSlotsAreTaken(t *testing.T) {
	f := serve(t, Options{MaxInFlight: 2})
	w := f.dial(t)
	w.send(request1("1", "block", "{}") + "\n" + request1("2", "block", "{}") + "\n" +
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n")
	if got := w.line(); code(t, got) != ipc.CodeCancelled {
		t.Errorf("got %s", got)
	}
}

func TestSameIDTwice(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(request1("1", "block", "{}") + "\n" + request1("1", "echo", "{}") + "\n")
	if got := w.line(); code(t, got) != ipc.CodeInvalidRequest {
		t.Errorf("got %s", got)
	}
	f.release <- struct{}{}
	w.line()
	for range 100 { // the id is free as soon as its answer is there
		w.send(request1("1", "echo", "{}") + "\n")
		if got := w.line(); code(t, got) != 0 {
			t.Fatalf("got %s", got)
		}
	}
}

func TestBackPressure(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	const n = 3 * ipc.MaxInFlight
	for i := range n {
		w.send(request1(fmt.Sprint(i), "block", "{}") + "\n")
	}
	for range ipc.MaxInFlight {
		receive(t, "a start", f.started)
	}
	for i := ipc.MaxInFlight; i < n; i++ {
		select {
		case <-f.started:
			t.Fatalf("request %d runs while %d are unanswered", i, ipc.MaxInFlight)
		default:
		}
		f.release <- struct{}{}
		receive(t, "the next start", f.started)
	}
	for range ipc.MaxInFlight {
		f.release <- struct{}{}
	}
	if got := w.byID(n); len(got) != n {
		t.Errorf("%d answers", len(got))
	}
}

// TestStopsReading floods a server whose slots are taken: it must stop
// taking bytes, not gather them.
func TestStopsReading(t *testing.T) {
	f := serve(t, Options{MaxInFlight: 1})
	w := f.dial(t)
	w.send(request1("0", "block", "{}") + "\n")
	receive(t, "the start", f.started)
	if err := w.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	flood := []byte(strings.Repeat(request1("1", "echo", "{}")+"\n", 1000))
	taken := 0
	for taken < 64<<20 {
		n, err := w.Write(flood)
		taken += n
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			return
		}
	}
	t.Errorf("the server took %d bytes", taken)
}

func TestBatchRunsConcurrentlyAndAnswersOnce(t *testing.T) {
	f := serve(t, Options{MaxInFlight: 4})
	w := f.dial(t)
	batch := make([]string, 4)
	for i := range batch {
		batch[i] = request1(fmt.Sprint(i), "block", fmt.Sprintf(`{"name":"%d"}`, i))
	}
	w.send("[" + strings.Join(batch, ",") + "]\n" + request1("9", "echo", "{}") + "\n")
	for range batch {
		receive(t, "a start", f.started)
	}
	for range batch {
		f.release <- struct{}{}
	}
	want := `[{"jsonrpc":"2.0","id":0,"result":{"text":"0"}},{"jsonrpc":"2.0","id":1,"result":{"text":"1"}},` +
		`{"jsonrpc":"2.0","id":2,"result":{"text":"2"}},{"jsonrpc":"2.0","id":3,"result":{"text":"3"}}]`
	if got := w.line(); got != want {
		t.Errorf("got %s", got)
	}
	if got := w.line(); !strings.Contains(got, `"id":9`) {
		t.Errorf("got %s", got)
	}
}

// TestBatchesHoldTheirSlots sends many batches, each of which is stuck on
// one member: unfinished batches must not pile up.
func TestBatchesHoldTheirSlots(t *testing.T) {
	f := serve(t, Options{MaxInFlight: 4})
	w := f.dial(t)
	for i := range 10 {
		w.send(fmt.Sprintf("[%s,%s]\n", request1(fmt.Sprint(i), "block", "{}"), request1(fmt.Sprint(100+i), "echo", "{}")))
	}
	for i := range 10 {
		receive(t, "a start", f.started)
		if i%2 == 1 && len(f.started) > 0 {
			t.Fatal("a third batch runs")
		}
		if i%2 == 1 {
			f.release <- struct{}{}
			f.release <- struct{}{}
		}
	}
	for range 10 {
		w.line()
	}
}

func TestVanishingClientCancels(t *testing.T) {
	for _, extra := range []int{0, 1, 10000} { // requests behind the running ones
		t.Run(fmt.Sprint(extra), func(t *testing.T) {
			f := serve(t, Options{MaxInFlight: 8})
			w := f.dial(t)
			for i := range 8 {
				w.send(request1(fmt.Sprint(i), "block", "{}") + "\n")
				receive(t, "the start", f.started)
			}
			go func() {
				for i := range extra {
					if _, err := fmt.Fprintln(w, request1(fmt.Sprint(100+i), "echo", "{}")); err != nil {
						return
					}
				}
			}()
			if extra < 100 {
				runtime.Gosched()
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for range 8 {
				if err := receive(t, "the end", f.ended); !errors.Is(err, context.Canceled) {
					t.Errorf("the handler ends with %v", err)
				}
			}
			eventually(t, "the connection is forgotten", func() bool { return f.connections() == 0 })
		})
	}
}

func TestHalfClosedClientGetsItsAnswers(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(request1("1", "block", "{}") + "\n" + request1("2", "block", "{}") + "\n")
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	receive(t, "the start", f.started)
	receive(t, "the start", f.started)
	time.Sleep(2 * hangupPoll) // time enough to mistake it for a vanished client
	f.release <- struct{}{}
	f.release <- struct{}{}
	for _, answer := range w.byID(2) {
		if code(t, answer) != 0 {
			t.Errorf("got %s", answer)
		}
	}
	if got := w.line(); got != "" {
		t.Errorf("got %s", got)
	}
}

// TestSlowReader asks for more than any buffer holds and never reads.
func TestSlowReader(t *testing.T) {
	f := serve(t, Options{WriteTimeout: 300 * time.Millisecond})
	slow := f.dial(t)
	for i := range 2 * ipc.MaxInFlight {
		slow.send(request1(fmt.Sprint(i), "echo", `{"size":1000000}`) + "\n")
	}
	other := f.dial(t)
	for i := range 200 {
		other.send(request1(fmt.Sprint(i), "echo", "{}") + "\n")
		if got := other.line(); code(t, got) != 0 {
			t.Fatalf("got %s", got)
		}
	}
	eventually(t, "the slow client is cut off", func() bool { return f.connections() == 1 })
	if !strings.Contains(f.log.String(), "client takes no answers") {
		t.Errorf("the log says nothing of it:\n%s", f.log)
	}
}

// TestSlowButReading takes each answer in small pieces, over a time longer
// than the write timeout: it is not cut off.
func TestSlowButReading(t *testing.T) {
	f := serve(t, Options{WriteTimeout: 500 * time.Millisecond})
	w := f.dial(t)
	w.send(request1("1", "echo", `{"size":3000000}`) + "\n")
	b := make([]byte, 100<<10)
	for total := 0; total < 3000000; {
		n, err := w.Read(b)
		if err != nil {
			t.Fatalf("cut off after %d bytes: %v", total, err)
		}
		total += n
		time.Sleep(25 * time.Millisecond)
	}
}

func TestPanicsEndOnlyTheirRequest(t *testing.T) {
	f := serve(t, Options{})
	Handle(f.Server, "panic", func(context.Context, ipc.Empty) (ipc.Empty, error) { panic("the handler's reason") })
	Handle(f.Server, "goexit", func(context.Context, ipc.Empty) (ipc.Empty, error) { runtime.Goexit(); return ipc.Empty{}, nil })
	Handle(f.Server, "unencodable", func(context.Context, ipc.Empty) (any, error) { return func() {}, nil })
	w := f.dial(t)
	for i, method := range []string{"panic", "goexit", "unencodable"} {
		w.send(request1(fmt.Sprint(i), method, "{}") + "\n")
		if got := w.line(); code(t, got) != ipc.CodeInternal || !strings.Contains(got, fmt.Sprintf(`"id":%d`, i)) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	w.send(request1("9", "echo", "{}") + "\n")
	if got := w.line(); code(t, got) != 0 {
		t.Errorf("got %s", got)
	}
	if log := f.log.String(); !strings.Contains(log, "the handler's reason") || !strings.Contains(log, "conn_test.go") {
		t.Errorf("the log lacks the panic or its stack:\n%s", log)
	}
}

func TestErrorCodes(t *testing.T) {
	f := serve(t, Options{})
	fail := map[string]error{
		"own":       &ipc.Error{Code: ipc.CodeBadQuery, Message: "bad", Data: []byte(`{"column":3}`)},
		"wrapped":   fmt.Errorf("search: %w", ipc.Errorf(ipc.CodeNotFound, "no such document")),
		"bad data":  &ipc.Error{Code: ipc.CodeNotFound, Message: "x", Data: []byte(`{`)},
		"cancelled": fmt.Errorf("wait: %w", context.Canceled),
		"deadline":  fmt.Errorf("wait: %w", context.DeadlineExceeded),
		"other":     errors.New("disk on fire"),
	}
	Handle(f.Server, "fail", func(_ context.Context, p blockParams) (ipc.Empty, error) { return ipc.Empty{}, fail[p.Name] })
	w := f.dial(t)
	for name, want := range map[string]string{
		"own":       `{"code":-32000,"message":"bad","data":{"column":3}}`,
		"wrapped":   `{"code":-32001,"message":"search: no such document"}`,
		"bad data":  `{"code":-32001,"message":"x"}`,
		"cancelled": `{"code":-32800,"message":"the request was cancelled"}`,
		"deadline":  `{"code":-32004,"message":"timed out: wait: context deadline exceeded"}`,
		"other":     `{"code":-32603,"message":"internal error: disk on fire"}`,
	} {
		w.send(request1("1", "fail", fmt.Sprintf(`{"name":%q}`, name)) + "\n")
		if got := w.line(); got != `{"jsonrpc":"2.0","id":1,"error":`+want+`}` {
			t.Errorf("%s: got %s", name, got)
		}
	}
	if log := f.log.String(); strings.Count(log, "disk on fire") != 1 || strings.Contains(log, "no such document") {
		t.Errorf("log:\n%s", log)
	}
}

func TestConnectionLimit(t *testing.T) {
	f := serve(t, Options{MaxConns: 3})
	var open []*wire
	for range 3 {
		w := f.dial(t)
		w.send(request1("1", "echo", "{}") + "\n")
		w.line()
		open = append(open, w)
	}
	extra := f.dial(t)
	if got := extra.line(); code(t, got) != ipc.CodeBusy {
		t.Errorf("got %s", got)
	}
	if got := extra.line(); got != "" {
		t.Errorf("got %s", got)
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a place is free", func() bool { return f.connections() == 2 })
	w := f.dial(t)
	w.send(request1("1", "echo", "{}") + "\n")
	if got := w.line(); code(t, got) != 0 {
		t.Errorf("got %s", got)
	}
}

func TestBufferedBytesAreBounded(t *testing.T) {
	f := serve(t, Options{MaxBufferedBytes: 64 << 10})
	w := f.dial(t)
	long := `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"` + strings.Repeat("a", 60<<10)
	w.send(long) // and never ends
	eventually(t, "the bytes are taken", func() bool { return f.budget.used.Load() > 50<<10 })
	second := f.dial(t)
	second.send(long + "\"}}\n")
	if got := code(t, second.line()); got != ipc.CodeBusy {
		t.Errorf("code %d", got)
	}
	small := f.dial(t)
	small.send(request1("1", "echo", "{}") + "\n")
	if got := code(t, small.line()); got != 0 {
		t.Errorf("a small request gets code %d", got)
	}
	w.send("\"}}\n")
	if got := code(t, w.line()); got != 0 {
		t.Errorf("code %d", got)
	}
	eventually(t, "the bytes are given back", func() bool { return f.budget.used.Load() == 0 })
}

func TestPeer(t *testing.T) {
	var seen atomic.Value
	f := serve(t, Options{})
	Handle(f.Server, "whoami", func(ctx context.Context, _ ipc.Empty) (ipc.Empty, error) {
		p, ok := PeerFrom(ctx)
		if ok {
			seen.Store(p)
		}
		return ipc.Empty{}, nil
	})
	w := f.dial(t)
	w.send(request1("1", "whoami", "{}") + "\n")
	w.line()
	p, _ := seen.Load().(Peer)
	if int(p.UID) != os.Getuid() || int(p.GID) != os.Getgid() || runtime.GOOS == "linux" && p.PID != os.Getpid() {
		t.Errorf("the peer is %+v", p)
	}
	if _, ok := PeerFrom(context.Background()); ok {
		t.Error("a peer from nowhere")
	}
}

func TestRefusedPeer(t *testing.T) {
	f := serve(t, Options{Allow: func(Peer) bool { return false }})
	w := f.dial(t)
	if got := w.line(); code(t, got) != ipc.CodeNotPermitted {
		t.Errorf("got %s", got)
	}
	if got := w.line(); got != "" {
		t.Errorf("got %s", got)
	}
}
