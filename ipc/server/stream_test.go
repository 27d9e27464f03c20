package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern/ipc"
)

type subscribed struct {
	Subscription uint64 `json:"subscription"`
}

type note struct {
	N    int    `json:"n"`
	Fill string `json:"fill,omitempty"`
}

// handleStreams adds methods that tick: as often as the channel says, or, for
// flood, without end.
func handleStreams(f *fixture, ticks <-chan int, ended chan<- struct{}, sent *atomic.Int64) {
	Handle(f.Server, "subscribe", func(ctx context.Context, _ ipc.Empty) (subscribed, error) {
		n, err := Subscribe(ctx, func(ctx context.Context, send Send) {
			defer func() { ended <- struct{}{} }()
			for {
				select {
				case i := <-ticks:
					_ = send("tick", note{N: i})
				case <-ctx.Done():
					return
				}
			}
		})
		return subscribed{n}, err
	})
	Handle(f.Server, "flood", func(ctx context.Context, _ ipc.Empty) (subscribed, error) {
		n, err := Subscribe(ctx, func(ctx context.Context, send Send) {
			defer func() { ended <- struct{}{} }()
			for send("tick", note{Fill: strings.Repeat("x", 10000)}) == nil && ctx.Err() == nil {
				sent.Add(1)
			}
		})
		return subscribed{n}, err
	})
	Handle(f.Server, "unsubscribe", func(ctx context.Context, p subscribed) (ipc.Empty, error) {
		if !Unsubscribe(ctx, p.Subscription) {
			return ipc.Empty{}, ipc.Errorf(ipc.CodeNotFound, "no such subscription")
		}
		return ipc.Empty{}, nil
	})
}

func TestSubscription(t *testing.T) {
	f := serve(t, Options{MaxSubscriptions: 2})
	ticks, ended := make(chan int, 10), make(chan struct{}, 10)
	ticks <- 7 // there before the answer is
	handleStreams(f, ticks, ended, nil)
	w := f.dial(t)
	w.send(request1("1", "subscribe", "{}") + "\n")
	if got := w.line(); got != `{"jsonrpc":"2.0","id":1,"result":{"subscription":1}}` {
		t.Fatalf("got %s", got)
	}
	if got := w.line(); got != `{"jsonrpc":"2.0","method":"tick","params":{"n":7}}` {
		t.Errorf("got %s", got)
	}
	w.send(request1("2", "subscribe", "{}") + "\n" + request1("3", "echo", "{}") + "\n")
	w.byID(2)
	w.send(request1("4", "subscribe", "{}") + "\n")
	if got := code(t, w.line()); got != ipc.CodeBusy {
		t.Errorf("over the limit: code %d", got)
	}
	w.send(request1("5", "unsubscribe", `{"subscription":1}`) + "\n")
	if got := code(t, w.line()); got != 0 {
		t.Errorf("unsubscribe: code %d", got)
	}
	receive(t, "the end of the first", ended)
	w.send(request1("6", "unsubscribe", `{"subscription":1}`) + "\n")
	if got := code(t, w.line()); got != ipc.CodeNotFound {
		t.Errorf("unsubscribe again: code %d", got)
	}
	_ = w.Close()
	receive(t, "the end of the second", ended)
}

// A client that has finished sending still listens.
func TestSubscriptionOfAHalfClosedClient(t *testing.T) {
	f := serve(t, Options{})
	ticks, ended := make(chan int, 10), make(chan struct{}, 10)
	handleStreams(f, ticks, ended, nil)
	w := f.dial(t)
	w.send(request1("1", "subscribe", "{}") + "\n")
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = w.line()
	for i := range 3 {
		ticks <- i
		if got := w.line(); !strings.Contains(got, fmt.Sprintf(`"n":%d`, i)) {
			t.Errorf("got %s", got)
		}
	}
	_ = w.Close()
	receive(t, "the end", ended)
}

// A subscriber that does not read stops its own notices only, is not cut off
// for it, and ends with the server.
func TestSubscriberThatDoesNotRead(t *testing.T) {
	f := serve(t, Options{WriteTimeout: 20 * time.Millisecond})
	var sent atomic.Int64
	ended := make(chan struct{}, 10)
	handleStreams(f, nil, ended, &sent)
	w := f.dial(t)
	w.send(request1("1", "flood", "{}") + "\n")
	eventually(t, "the flood stops", func() bool {
		before := sent.Load()
		time.Sleep(100 * time.Millisecond) // several write timeouts
		return before > 0 && sent.Load() == before
	})
	other := f.dial(t)
	other.send(request1("2", "echo", "{}") + "\n")
	if got := code(t, other.line()); got != 0 {
		t.Errorf("another client: code %d", got)
	}
	for range 3 {
		var n notification
		if err := json.Unmarshal([]byte(w.line()), &n); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	receive(t, "the end", ended)
}

func TestSubscribeOverHTTP(t *testing.T) {
	f := serve(t, Options{})
	handleStreams(f, nil, nil, nil)
	resp, err := f.httpClient(t).Post("http://localhost/v1/subscribe", "", nil)
	if status, body := reply(t, resp, err); status != 400 || !strings.Contains(body, "HTTP has no notifications") {
		t.Errorf("got %d %s", status, body)
	}
}

// handleSession adds a method that ends when it is cancelled or released.
func handleSession(f *fixture) {
	Handle(f.Server, "session", func(ctx context.Context, p blockParams) (echoResult, error) {
		ctx, end := Supersede(ctx, "s")
		defer end()
		f.started <- p.Name
		select {
		case <-f.release:
			return echoResult{Text: p.Name}, nil
		case <-ctx.Done():
			return echoResult{}, context.Cause(ctx)
		}
	})
}

func TestANewerRequestOfTheSessionCancelsTheOlder(t *testing.T) {
	f := serve(t, Options{})
	handleSession(f)
	w, other := f.dial(t), f.dial(t)
	other.send(request1("9", "session", `{"name":"other"}`) + "\n")
	receive(t, "the other connection's", f.started)
	for i := range 20 {
		w.send(request1(fmt.Sprint(i), "session", `{"name":"x"}`) + "\n")
	}
	answers := map[string]string{}
	for range 19 {
		for id, a := range w.byID(1) {
			answers[id] = a
		}
	}
	for id, a := range answers {
		if code(t, a) != ipc.CodeCancelled || id == "19" {
			t.Errorf("%s: %s", id, a)
		}
	}
	f.release <- struct{}{}
	f.release <- struct{}{}
	if got := w.line(); code(t, got) != 0 || !strings.Contains(got, `"id":19`) {
		t.Errorf("got %s", got)
	}
	if got := other.line(); code(t, got) != 0 {
		t.Errorf("the other connection: %s", got)
	}
}

func TestSessionsAreBounded(t *testing.T) {
	c := &conn{latest: map[string]turn{}}
	for i := range 10 * maxSessions {
		name := fmt.Sprint(i)
		c.takeTurn(name, turn{uint64(i), func(error) {}})
		c.endTurn(name, uint64(i))
	}
	if n := len(c.latest); n > maxSessions {
		t.Errorf("%d sessions are remembered", n)
	}
}
