//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDaemonOutlivesItsClients speaks to the real daemon as no good client
// does. Each time it must go on and answer others.
func TestDaemonOutlivesItsClients(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write("notes/refunds.txt", "Refunds go back to the original card. "+strings.Repeat("A long text about refunds. ", 4000))
	s.write(".config/quern/config.toml", "[[folder]]\npath = \"~/notes\"\n[chunk]\nstrategy = \"document\"\n")
	d, err := s.serve(s.home, s.env)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func(*testing.T, net.Conn)
	}{
		{"garbage", sendGarbage},
		{"not JSON", sendNotJSON},
		{"a request over the limit", sendTooMuch},
		{"a huge header", sendHugeHeader},
		{"half a request", sendHalf},
		{"gone before the answer", vanish},
		{"never reads", neverRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, s)
			c.do(t, conn)
			// While that connection is still open others are answered.
			answers(t, s)
			select {
			case <-d.done:
				t.Fatalf("the daemon ended: %v", d.cmd.ProcessState)
			default:
			}
		})
	}
	if out, _, code := s.quern("search", "-l", "refunds"); code != 0 {
		t.Errorf("quern search: code %d, %s", code, out)
	}
}

// dial connects; the connection is closed at the test's end.
func dial(t *testing.T, s *sandbox) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", s.socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answers has another client ask, and checks the answer.
func answers(t *testing.T, s *sandbox) {
	t.Helper()
	conn := dial(t, s)
	defer conn.Close()
	send(t, conn, search+"\n")
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	var r struct {
		Result struct{ Total int }
		Error  json.RawMessage
	}
	if err := json.Unmarshal(line, &r); err != nil || r.Result.Total != 1 {
		t.Fatalf("answer %.300s (%v)", line, err)
	}
}

const search = `{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"refunds","sync":true,"sync_timeout_ms":60000}}`

// send writes; that the daemon hangs up meanwhile is its good right.
func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(conn, text)
	if err != nil && !hungUp(err) {
		t.Fatalf("send: %v", err)
	}
}

func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// drain reads all that the daemon says until it hangs up.
func drain(t *testing.T, conn net.Conn) string {
	t.Helper()
	text, err := io.ReadAll(conn)
	if err != nil && !hungUp(err) {
		t.Fatalf("the daemon does not hang up: %v", err)
	}
	return string(text)
}

func sendGarbage(t *testing.T, conn net.Conn) {
	random := rand.New(rand.NewPCG(1, 2))
	garbage := make([]byte, 64<<10)
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	garbage[0] = 0xff // the first byte of no framing
	send(t, conn, string(garbage))
	drain(t, conn)
}

func sendNotJSON(t *testing.T, conn net.Conn) {
	send(t, conn, "{\"jsonrpc\": nonsense}\n")
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "-32700") {
		t.Errorf("answer %q (%v), want a parse error", line, err)
	}
}

func sendTooMuch(t *testing.T, conn net.Conn) {
	request := `{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("x", 2<<20) + "\"}}\n"
	sent := make(chan struct{})
	defer func() { <-sent }()
	go func() { // ends when the daemon has taken all or hung up
		defer close(sent)
		_, _ = io.WriteString(conn, request)
	}()
	if text := drain(t, conn); !strings.Contains(text, "-32600") {
		t.Errorf("answer %.300q, want an error -32600", text)
	}
}

func sendHugeHeader(t *testing.T, conn net.Conn) {
	send(t, conn, "Content-Length: 99999999999\r\n\r\n")
	if text := drain(t, conn); !strings.Contains(text, "error") {
		t.Errorf("answer %.300q, want an error", text)
	}
}

func sendHalf(t *testing.T, conn net.Conn) {
	send(t, conn, search[:len(search)/2])
}

func vanish(t *testing.T, conn net.Conn) {
	send(t, conn, search+"\n"+search+"\n"+search[:9])
	conn.Close()
}

// neverRead asks until the daemon no longer takes questions: its answers have
// filled the socket.
func neverRead(t *testing.T, conn net.Conn) {
	question := []byte(strings.Replace(search, `"sync":true,"sync_timeout_ms":60000`, `"k":10`, 1) + "\n")
	many := bytes.Repeat(question, 1000)
	sent := 0
	for {
		if err := conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Write(many)
		sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) || err != nil && hungUp(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if sent > 256<<20 {
			t.Fatal(fmt.Errorf("the daemon has taken %d bytes of questions whose answers nobody reads", sent))
		}
	}
}
