package server

import (
	"fmt"
	"strings"
	"testing"
)

func framed(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func TestHeaderAnswers(t *testing.T) {
	f := serve(t, Options{})
	echo := request1("1", "echo", `{"text":"é\n"}`)
	want := `{"jsonrpc":"2.0","id":1,"result":{"text":"é\n"}}`
	for _, c := range []struct{ name, send, want string }{
		{"plain", framed(echo), want},
		{"content type", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + framed(echo), want},
		{"lower case, bare line ends", fmt.Sprintf("content-length:%d\n\n%s", len(echo), echo), want},
		{"pretty body", framed(" {\n \"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"echo\",\r\n\"params\":{\"text\":\"é\\n\"}\n}\n"), want},
		{"empty body", framed(""), "-32700 parse error: the text ends where an object is expected at byte 0"},
		{"garbage body", framed("{]"), "-32700 parse error: ']' where a name in quotes is expected at byte 1"},
		{"batch", framed("[" + echo + "]"), "[" + want + "]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := f.dial(t)
			w.send("\r\n" + framed(request1("0", "echo", "{}")))
			w.framed()
			w.send(c.send)
			checkAnswer(t, w.framed(), c.want)
			w.send(framed(request1(`"next"`, "echo", "{}")))
			if got := w.framed(); !strings.Contains(got, `"next"`) {
				t.Errorf("the connection does not go on: %q", got)
			}
		})
	}
}

func TestHeaderFaultsClose(t *testing.T) {
	f := serve(t, Options{})
	for _, c := range []struct{ name, send, want string }{
		{"no length", "Content-Type: text\r\n\r\n{}", "-32700 parse error: the headers have no Content-Length"},
		{"twice", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "-32700 parse error: the header Content-Length comes twice"},
		{"negative", "Content-Length: -2\r\n\r\n{}", `-32700 parse error: Content-Length "-2" is not a number`},
		{"signed", "Content-Length: +2\r\n\r\n{}", `-32700 parse error: Content-Length "+2" is not a number`},
		{"missing", "Content-Length:\r\n\r\n{}", `-32700 parse error: Content-Length "" is not a number`},
		{"no colon", "Content\r\n\r\n{}", `-32700 parse error: the header line "Content" has no colon`},
		{"over the limit", "Content-Length: 1048577\r\n\r\n{}", "-32600 the request is longer than the limit of 1048576 bytes"},
		{"huge", "Content-Length: 99999999999999999999999999\r\n\r\n{}", "-32600 the request is longer than the limit of 1048576 bytes"},
		{"endless header", "C" + strings.Repeat("x", 10000), "-32700 parse error: the headers are longer than 4096 bytes"},
		{"endless headers", strings.Repeat("Cookie: x\r\n", 1000), "-32700 parse error: the headers are longer than 4096 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := f.dial(t)
			w.send(c.send)
			checkAnswer(t, w.framed(), c.want)
			if got := w.line(); got != "" {
				t.Errorf("the connection goes on: %q", got)
			}
		})
	}
}

func TestHeadersCutShort(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send("Content-Length: 10\r\n\r\n{}")
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, w.framed(), "-32700 parse error: the connection ends in the middle of a message")
}
