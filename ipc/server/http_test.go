package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

// checkHTTPResponses checks that bytes are whole responses with JSON in them.
func checkHTTPResponses(t *testing.T, all []byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(all))
	for {
		if _, err := r.Peek(1); err != nil {
			return
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answers %q: %v", all, err)
		}
		body, err := io.ReadAll(resp.Body)
		if resp.StatusCode == http.StatusContinue {
			continue
		}
		if err != nil || !json.Valid(body) || !bytes.HasSuffix(body, []byte("\n")) {
			t.Fatalf("answer %q in %q: %v", body, all, err)
		}
	}
}

// httpClient is Go's own client on the fixture's socket.
func (f *fixture) httpClient(t *testing.T) *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", f.path)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

// reply reads a whole response.
func reply(t *testing.T, resp *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func TestHTTPKeepsItsConnection(t *testing.T) {
	f := serve(t, Options{})
	c := f.httpClient(t)
	for i := range 5 {
		resp, err := c.Post("http://localhost/v1/echo", "application/json", strings.NewReader(fmt.Sprintf(`{"text":"%d"}`, i)))
		if code, body := reply(t, resp, err); code != 200 || body != fmt.Sprintf(`{"text":"%d"}`, i) {
			t.Errorf("got %d %s", code, body)
		}
	}
	resp, err := c.Get("http://localhost/v1/echo?text=a%26b+c&size=3")
	if code, body := reply(t, resp, err); code != 200 || body != `{"text":"a&b c","fill":"xxx"}` {
		t.Errorf("got %d %s", code, body)
	}
	if n := f.opened.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestHTTPRefuses(t *testing.T) {
	f := serve(t, Options{MaxRequestBytes: 4096})
	Handle(f.Server, "fail", func(context.Context, ipc.Empty) (ipc.Empty, error) {
		return ipc.Empty{}, ipc.Errorf(ipc.CodeNotFound, "not found: nothing")
	})
	for _, c := range []struct {
		name, send string
		status     int
		code       int
		closes     bool
	}{
		{"origin", "GET /v1/echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n", 403, ipc.CodeNotPermitted, true},
		{"referer", "GET /v1/echo HTTP/1.1\r\nHost: localhost\r\nReferer: http://x/\r\n\r\n", 403, ipc.CodeNotPermitted, true},
		{"a browser", "GET /v1/echo HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\n\r\n", 403, ipc.CodeNotPermitted, true},
		{"foreign host", "GET /v1/echo HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, ipc.CodeNotPermitted, true},
		{"foreign host in the URL", "GET http://evil.example/v1/echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 403, ipc.CodeNotPermitted, true},
		{"GET of a method that writes", "GET /v1/fail HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, ipc.CodeInvalidRequest, false},
		{"PUT", "PUT /v1/echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, ipc.CodeInvalidRequest, false},
		{"unknown method", post("nope", "{}"), 404, ipc.CodeMethodNotFound, false},
		{"no such place", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, ipc.CodeMethodNotFound, false},
		{"unknown member", post("echo", `{"limit":1}`), 400, ipc.CodeInvalidParams, false},
		{"unknown name in the URL", "GET /v1/echo?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, ipc.CodeInvalidParams, false},
		{"no number", "GET /v1/echo?size=big HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, ipc.CodeInvalidParams, false},
		{"twice", "GET /v1/echo?text=a&text=b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, ipc.CodeInvalidParams, false},
		{"not JSON", post("echo", `{`), 400, ipc.CodeInvalidParams, false},
		{"not found", post("fail", `{}`), 404, ipc.CodeNotFound, false},
		{"too long", "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n", 413, ipc.CodeInvalidRequest, true},
		{"chunked", "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 411, ipc.CodeInvalidRequest, true},
		{"two lengths", "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, ipc.CodeParse, true},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, ipc.CodeInvalidRequest, true},
		{"no HTTP", "HELO there\r\n\r\n", 400, ipc.CodeParse, true},
		{"long headers", "GET /v1/echo HTTP/1.1\r\nX: " + strings.Repeat("x", 20000) + "\r\n\r\n", 400, ipc.CodeParse, true},
		{"not cut short", "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{", 400, ipc.CodeParse, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := f.dial(t)
			w.send(c.send)
			if strings.Contains(c.name, "cut") {
				_ = w.CloseWrite()
			}
			resp, err := http.ReadResponse(w.r, nil)
			status, body := reply(t, resp, err)
			var e struct{ Error *ipc.Error }
			if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error == nil || status != c.status || e.Error.Code != c.code {
				t.Fatalf("got %d %s, want %d with code %d", status, body, c.status, c.code)
			}
			if c.closes {
				if rest, _ := io.ReadAll(w.r); len(rest) > 0 {
					t.Errorf("the connection goes on: %q", rest)
				}
				return
			}
			w.send("GET /v1/echo?text=on HTTP/1.1\r\nHost: localhost\r\n\r\n")
			resp, err = http.ReadResponse(w.r, nil)
			if status, body := reply(t, resp, err); status != 200 || body != `{"text":"on"}` {
				t.Errorf("then: %d %s", status, body)
			}
		})
	}
}

func TestHTTPCancelsWhenTheClientLeaves(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(post("block", `{"name":"x"}`))
	receive(t, "the request starts", f.started)
	_ = w.Close()
	if err := receive(t, "the request ends", f.ended); err == nil {
		t.Error("the request was not cancelled")
	}
}

func TestHTTPDrains(t *testing.T) {
	f := serve(t, Options{})
	idle, half, busy := f.dial(t), f.dial(t), f.dial(t)
	idle.send(post("echo", "{}"))
	if resp, err := http.ReadResponse(idle.r, nil); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v", err)
	}
	half.send("POST /v1/echo HT")
	busy.send(post("block", `{"name":"x"}`))
	receive(t, "the request starts", f.started)
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		ended <- f.Shutdown(ctx)
	}()
	eventually(t, "idle connections are closed", func() bool { return f.connections() == 1 })
	f.release <- struct{}{}
	resp, err := http.ReadResponse(busy.r, nil)
	if status, body := reply(t, resp, err); status != 200 {
		t.Errorf("what was accepted: %d %s", status, body)
	}
	if err := receive(t, "the shutdown", ended); err != nil {
		t.Error(err)
	}
}

func TestHTTPContinues(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send("POST /v1/echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if got := w.line(); got != "HTTP/1.1 100 Continue\r" {
		t.Fatalf("got %q", got)
	}
	_ = w.line()
	w.send("{}")
	_ = w.SetReadDeadline(time.Now().Add(patience))
	resp, err := http.ReadResponse(w.r, nil)
	if status, _ := reply(t, resp, err); status != 200 || !resp.Close {
		t.Errorf("got %d, %v", status, resp.Header)
	}
}
