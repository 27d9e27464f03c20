package server

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"quern/ipc"
)

var faults = flag.Int("faults", 1500, "how many damaged conversations TestFaultInjection has in each framing")

// post is an HTTP request.
func post(method, body string) string {
	return fmt.Sprintf("POST /v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", method, len(body), body)
}

// conversations are valid ones, one for each framing.
func conversations() [][]byte {
	messages := []string{
		request1("1", "echo", `{"text":"one é"}`),
		request1(`"two"`, "echo", `{"size":5000}`),
		`{"jsonrpc":"2.0","method":"echo"}`,
		"[" + request1("3", "echo", "{}") + "," + request1("4", "nope", "{}") + "]",
		request1("5", "wait", "{}"),
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`,
		request1("6", "echo", `{"text":"last"}`),
	}
	var lines, headers, http bytes.Buffer
	for _, m := range messages {
		lines.WriteString(m + "\n")
		headers.WriteString(framed(m))
	}
	for _, r := range []string{
		post("echo", `{"text":"one é"}`), "GET /v1/echo?text=two&size=5000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /v1/nope HTTP/1.1\r\nHost: localhost\r\n\r\n", post("echo", `{"txt":1}`),
		"POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
	} {
		http.WriteString(r)
	}
	return [][]byte{lines.Bytes(), headers.Bytes(), http.Bytes()}
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}

// TestFaultInjection says valid conversations cut at every byte, and with
// bytes flipped, and leaves in every way there is. Afterwards the server
// must be as it was: alive, and holding nothing.
func TestFaultInjection(t *testing.T) {
	f := serve(t, Options{MaxInFlight: 4, WriteTimeout: time.Second})
	Handle(f.Server, "wait", func(ctx context.Context, _ ipc.Empty) (ipc.Empty, error) {
		<-ctx.Done() // cancelled, or the client is gone
		return ipc.Empty{}, ctx.Err()
	})
	goroutines, fds := runtime.NumGoroutine(), descriptors(t)
	rng := rand.New(rand.NewPCG(1, 2))
	runs := 0
	for _, whole := range conversations() {
		for cut := range len(whole) + 1 {
			f.talk(t, rng, whole[:cut])
			runs++
		}
		for range *faults {
			f.talk(t, rng, flip(rng, whole))
			runs++
		}
	}
	t.Logf("%d conversations", runs)
	eventually(t, "all connections are forgotten", func() bool { return f.connections() == 0 })
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "all descriptors are closed", func() bool { return descriptors(t) <= fds })
	if used := f.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes are still counted", used)
	}
	if f.answers.used != 0 || len(f.answers.waiting) != 0 {
		t.Errorf("%d bytes of answers are still counted, %d requests wait", f.answers.used, len(f.answers.waiting))
	}
	w := f.dial(t)
	w.send(request1("1", "echo", "{}") + "\n")
	if got := w.line(); code(t, got) != 0 {
		t.Errorf("got %s", got)
	}
}

// flip changes some bytes of a conversation, of which it cuts off either end or
// repeats a piece.
func flip(rng *rand.Rand, whole []byte) []byte {
	b := bytes.Clone(whole)
	switch from, to := rng.IntN(len(b)), rng.IntN(len(b)); rng.IntN(4) {
	case 0:
		b = b[from:]
	case 1:
		b = append(b[:to+1], whole[from:]...)
	}
	for range 1 + rng.IntN(4) {
		b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
	}
	return b
}

// talk says text and leaves: at once, after the answers, or after some.
func (f *fixture) talk(t *testing.T, rng *rand.Rand, text []byte) {
	t.Helper()
	c, err := net.Dial("unix", f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(text); err != nil {
		return // refused before it was all said
	}
	switch rng.IntN(3) {
	case 0:
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // there may be no answer
		_, _ = c.Read(make([]byte, 100))
	case 1:
		// A request that waits for its cancellation may wait for ever.
		if !bytes.Contains(text, []byte(`wait`)) {
			_ = c.(*net.UnixConn).CloseWrite()
			answers, err := io.ReadAll(c)
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			checkLines(t, answers)
		}
	}
}

// checkLines checks that answers are whole.
func checkLines(t *testing.T, answers []byte) {
	t.Helper()
	switch {
	case len(answers) == 0 || answers[0] == 'C':
		return
	case answers[0] == 'H':
		checkHTTPResponses(t, answers)
		return
	}
	for line := range bytes.Lines(answers) {
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			t.Errorf("answer %q", line)
		}
	}
}
