package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"quern/ipc"
)

const fuzzLimit = 6000

// cut returns the messages in what r gives, and how it ends.
func cut(t *testing.T, r io.Reader) ([][]byte, string) {
	b := &budget{limit: 1 << 40}
	s := newSource(r, fuzzLimit, b)
	f, err := s.detect()
	next := s.nextHTTP
	if f != nil {
		next = f.next
	}
	var messages [][]byte
	held := int64(0)
	for err == nil {
		var m []byte
		if m, err = next(); err == nil {
			if len(m) > fuzzLimit {
				t.Fatalf("a message of %d bytes", len(m))
			}
			held += counted(len(m))
			messages = append(messages, m)
		}
	}
	if used := b.used.Load(); used != held {
		t.Fatalf("%d bytes are counted, %d are held", used, held)
	}
	var e *ipc.Error
	if !errors.Is(err, io.EOF) && !errors.As(err, &e) {
		t.Fatalf("ends with %v", err)
	}
	return messages, err.Error()
}

// nextHTTP is the body of the next request.
func (s *source) nextHTTP() ([]byte, error) {
	req, err := s.httpHeader()
	if err != nil {
		return nil, err
	}
	if req.ContentLength > int64(s.limit) {
		return nil, errTooLong(s.limit)
	}
	return s.body(int(max(0, req.ContentLength)))
}

// FuzzFraming checks that any bytes are cut the same way whatever pieces
// they come in, and that what is counted is what is held.
func FuzzFraming(f *testing.F) {
	for _, c := range conversations() {
		f.Add(c)
	}
	f.Add([]byte("Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"))
	f.Add([]byte("\r\n\r\n{\n}"))
	f.Add([]byte("Content-Length: 99999999999999999999\n\n"))
	f.Add(bytes.Repeat([]byte("{ "), fuzzLimit))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, end := cut(t, bytes.NewReader(data))
		pieces, pieceEnd := cut(t, iotest.OneByteReader(bytes.NewReader(data)))
		if end != pieceEnd || len(whole) != len(pieces) {
			t.Fatalf("%d messages and %q at once, %d and %q byte by byte", len(whole), end, len(pieces), pieceEnd)
		}
		for i := range whole {
			if !bytes.Equal(whole[i], pieces[i]) {
				t.Fatalf("message %d is %q at once, %q byte by byte", i, whole[i], pieces[i])
			}
		}
	})
}

// FuzzConversation runs any bytes through a whole connection: it must end,
// and every answer must be a JSON-RPC response.
func FuzzConversation(f *testing.F) {
	for _, c := range conversations() {
		f.Add(c)
	}
	f.Add([]byte(`[[],{},1,{"jsonrpc":"2.0","id":null,"method":"echo"}]`))
	s := New(Options{MaxInFlight: 4, MaxRequestBytes: fuzzLimit})
	Handle(s, "echo", func(_ context.Context, p echoParams) (echoResult, error) { return echoResult{Text: p.Text}, nil })
	Handle(s, "wait", func(context.Context, ipc.Empty) (ipc.Empty, error) { return ipc.Empty{}, nil })
	f.Fuzz(func(t *testing.T, data []byte) {
		out := converse(t, s, data)
		if bytes.HasPrefix(out, []byte("HTTP/")) {
			checkHTTPResponses(t, out)
			return
		}
		if len(out) > 0 && out[0] == 'C' {
			checkResponses(t, bodies(t, out))
			return
		}
		checkResponses(t, bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n")))
	})
}

// script is a connection that says its text, then nothing more, and records
// what it is told.
type script struct {
	io.Reader
	out bytes.Buffer
}

func (s *script) Write(b []byte) (int, error)      { return s.out.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return nil }
func (s *script) RemoteAddr() net.Addr             { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

func converse(t *testing.T, s *Server, data []byte) []byte {
	nc := &script{Reader: bytes.NewReader(data)}
	c := newConn(s, nc, Peer{}, 1)
	c.serve()
	if used := s.budget.used.Load(); used != 0 {
		t.Fatalf("%d bytes are still counted", used)
	}
	return nc.out.Bytes()
}

// bodies cuts answers with headers.
func bodies(t *testing.T, out []byte) [][]byte {
	h := headers{newSource(bytes.NewReader(out), 1<<20, &budget{limit: 1 << 40})}
	var all [][]byte
	for {
		b, err := h.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("answers %q: %v", out, err)
		}
		all = append(all, b)
	}
}

func checkResponses(t *testing.T, answers [][]byte) {
	for _, a := range answers {
		if len(a) == 0 {
			continue
		}
		members := []json.RawMessage{a}
		if a[0] == '[' {
			if err := json.Unmarshal(a, &members); err != nil || len(members) == 0 {
				t.Fatalf("batch answer %q: %v", a, err)
			}
		}
		for _, m := range members {
			var r struct {
				JSONRPC string
				ID      json.RawMessage
				Result  json.RawMessage
				Error   json.RawMessage
			}
			if err := json.Unmarshal(m, &r); err != nil || r.JSONRPC != "2.0" || r.ID == nil || (r.Result == nil) == (r.Error == nil) {
				t.Fatalf("answer %q: %v", m, err)
			}
		}
	}
}

// TestFramesSurviveTheWire sends random messages through both framings.
func TestFramesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.StringMatching(`\{[^\n]{0,200}\}`), 1, 8).Draw(t, "messages")
		for _, f := range []framer{lines{}, headers{}} {
			var wire []byte
			for _, m := range text {
				wire = append(wire, f.frame([]byte(m))...)
			}
			s := newSource(bytes.NewReader(wire), fuzzLimit, &budget{limit: 1 << 40})
			back, err := s.detect()
			for _, m := range text {
				var got []byte
				if err == nil {
					got, err = back.next()
				}
				if err != nil || string(got) != m {
					t.Fatalf("%T: %q came back as %q (%v)", f, m, got, err)
				}
			}
			if _, err := back.next(); !errors.Is(err, io.EOF) {
				t.Fatalf("%T: ends with %v", f, err)
			}
		}
	})
}
