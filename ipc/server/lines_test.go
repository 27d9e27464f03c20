package server

import (
	"fmt"
	"strings"
	"testing"

	"quern/ipc"
)

// TestLineAnswers has what a client says on a connection of its own, line by
// line, and the answer to it.
func TestLineAnswers(t *testing.T) {
	f := serve(t, Options{MaxRequestBytes: 4096})
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, c := range []struct{ name, send, want string }{
		{"echo", request1("1", "echo", `{"text":"a<b>&c"}`), `{"jsonrpc":"2.0","id":1,"result":{"text":"a<b>&c"}}`},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"null params", request1("1", "echo", "null"), `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"null field", request1("1", "echo", `{"text":null}`), `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"big id", request1("123456789012345678901234567890", "echo", "{}"), `{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{"text":""}}`},
		{"odd number id", request1("-1.50e+3", "echo", "{}"), `{"jsonrpc":"2.0","id":-1.50e+3,"result":{"text":""}}`},
		{"string id", request1(`"\u0041\/b"`, "echo", "{}"), `{"jsonrpc":"2.0","id":"\u0041\/b","result":{"text":""}}`},
		{"null id", request1("null", "echo", "{}"), `{"jsonrpc":"2.0","id":null,"result":{"text":""}}`},
		{"carriage return", request1("1", "echo", "{}") + "\r", `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"empty lines", "\n \r\n\n" + request1("1", "echo", "{}"), `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"echo","trace":true}`, `{"jsonrpc":"2.0","id":1,"result":{"text":""}}`},
		{"unknown method", request1("1", "serach", "{}"), `-32601 unknown method "serach"`},
		{"unknown field", request1("1", "echo", `{"txt":"a"}`), `-32602 invalid params: txt: unknown field`},
		{"field in other case", request1("1", "echo", `{"Text":"a"}`), `-32602 invalid params: Text: unknown field (did you mean "text"? names are case-sensitive)`},
		{"wrong type", request1("1", "echo", `{"size":"big"}`), `-32602 invalid params: size: must be a whole number, not a string`},
		{"array params", request1("1", "echo", `["a"]`), `-32602 invalid params: must be an object with named fields, not an array`},
		{"string params", request1("1", "echo", `"a"`), `-32602 invalid params: must be an object with named fields, not a string`},
		{"duplicate field", request1("1", "echo", `{"text":"a","text":"b"}`), `-32700 parse error: the name "text" comes twice in one object at byte 61`},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"echo"}`, `-32700 parse error: the name "id" comes twice in one object at byte 24`},
		{"array id", request1("[1]", "echo", "{}"), `-32600 invalid request: id must be a string, a number or null`},
		{"object id", request1("{}", "echo", "{}"), `-32600 invalid request: id must be a string, a number or null`},
		{"true id", request1("true", "echo", "{}"), `-32600 invalid request: id must be a string, a number or null`},
		{"no version", `{"id":1,"method":"echo"}`, `-32600 invalid request: "jsonrpc": "2.0" is missing`},
		{"old version", `{"jsonrpc":"1.0","id":1,"method":"echo"}`, `-32600 invalid request: "jsonrpc": "2.0" is missing`},
		{"number version", `{"jsonrpc":2.0,"id":1,"method":"echo"}`, `-32600 invalid request: "jsonrpc": "2.0" is missing`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, `-32600 invalid request: "method" must name a method`},
		{"number method", `{"jsonrpc":"2.0","id":1,"method":1}`, `-32600 invalid request: "method" must name a method`},
		{"Method", `{"jsonrpc":"2.0","id":1,"Method":"echo"}`, `-32600 invalid request: "method" must name a method`},
		{"cut short", `{"jsonrpc":"2.0","id":1,"method":`, `-32700 parse error: the text ends where a value is expected at byte 33`},
		{"trailing data", request1("1", "echo", "{}") + "{}", `-32700 parse error: '{' where the end is expected at byte 52`},
		{"garbage", `{]`, `-32700 parse error: ']' where a name in quotes is expected at byte 1`},
		{"invalid UTF-8", request1("1", "echo", "{\"text\":\"a\xffb\"}"), `-32700 parse error: invalid UTF-8 in a string at byte 59`},
		{"unpaired surrogate", request1("1", "echo", `{"text":"\ud800"}`), `-32700 parse error: unpaired surrogate in a string at byte 58`},
		{"control character", request1("1", "echo", "{\"text\":\"a\x00b\"}"), `-32700 parse error: unescaped control character '\x00' in a string at byte 59`},
		{"deep nesting", request1("1", "echo", deep), `-32700 parse error: nested deeper than 64 levels at byte 112`},
		{"cancel, as a request", request1("1", "$/cancelRequest", `{"id":7}`), `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"cancel without id", request1("1", "$/cancelRequest", `{}`), `-32602 invalid params: id: must be the id of a request`},
		{"empty batch", `[]`, `-32600 invalid request: the batch is empty`},
		{"batch", "[" + request1("1", "echo", "{}") + "," + request1("2", "nope", "{}") + `,7,{"jsonrpc":"2.0","method":"echo"}]`,
			`[{"jsonrpc":"2.0","id":1,"result":{"text":""}},` +
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"unknown method \"nope\""}},` +
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: it must be a JSON object"}}]`},
		{"batch of garbage", `[1,2,]`, `-32700 parse error: ']' where a value is expected at byte 5`},
		{"batch over the limit", "[" + strings.Repeat("1,", 64) + "1]", `-32600 invalid request: a batch of 65 requests, the limit is 64`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := f.dial(t)
			w.send(`{"jsonrpc":"2.0","id":"first","method":"echo"}` + "\n") // sets the framing
			w.line()
			w.send(c.send + "\n")
			checkAnswer(t, w.line(), c.want)
			w.send(request1(`"next"`, "echo", "{}") + "\n")
			if got := w.line(); !strings.Contains(got, `"next"`) {
				t.Errorf("the connection does not go on: %q", got)
			}
		})
	}
}

// checkAnswer compares an answer with the whole text wanted, or with
// "code message" of an error.
func checkAnswer(t *testing.T, got, want string) {
	t.Helper()
	if strings.HasPrefix(want, "-") {
		c, message, _ := strings.Cut(want, " ")
		if want = fmt.Sprintf("%d", code(t, got)); want != c || !strings.Contains(got, fmt.Sprintf("%q", message)[1:]) &&
			!strings.Contains(got, strings.ReplaceAll(message, `"`, `\"`)) && !strings.Contains(unescape(got), message) {
			t.Errorf("got %s, want %s %s", got, c, message)
		}
		return
	}
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func unescape(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
}

func TestNotificationsHaveNoAnswer(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	for _, s := range []string{
		`{"jsonrpc":"2.0","method":"echo"}`, `{"jsonrpc":"2.0","method":"unknown"}`,
		`{"jsonrpc":"2.0","method":"echo","params":[1]}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`,
		`[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"unknown"}]`,
	} {
		w.send(s + "\n")
	}
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := w.line(); got != "" {
		t.Errorf("a notification is answered: %s", got)
	}
}

// TestClosesAfter has what ends a connection: an answer, then the end.
func TestClosesAfter(t *testing.T) {
	f := serve(t, Options{MaxRequestBytes: 4096})
	long := `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"` + strings.Repeat("a", 20000)
	for _, c := range []struct{ name, send, want string }{
		{"line too long", long + "\"}}\n", "-32600 the request is longer than the limit of 4096 bytes"},
		{"line too long and no end", long, "-32600 the request is longer than the limit of 4096 bytes"},
		{"not JSON", "hello\n", "-32700 parse error: expected a JSON-RPC 2.0 object on a line, a Content-Length header or an HTTP request, but the connection begins with"},
		{"binary", "\x16\x03\x01\x02\x00", "-32700 parse error: expected"},
		{"string", "\"text\"\n", "-32700 parse error: expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := f.dial(t)
			w.send(c.send)
			checkAnswer(t, w.line(), c.want)
			if got := w.line(); got != "" {
				t.Errorf("the connection goes on: %q", got)
			}
		})
	}
}

// TestTooLongDoesNotBlock sends far more than any buffer holds: the client
// must be able to read why it is refused.
func TestTooLongDoesNotBlock(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	go func() { _, _ = w.Write([]byte("{" + strings.Repeat(" ", 8<<20))) }()
	if got := code(t, w.line()); got != ipc.CodeInvalidRequest {
		t.Errorf("code %d", got)
	}
}

func TestLastLineNeedsNoEnd(t *testing.T) {
	f := serve(t, Options{})
	w := f.dial(t)
	w.send(request1("1", "echo", "{}"))
	if err := w.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got := code(t, w.line()); got != 0 {
		t.Errorf("code %d", got)
	}
}

func TestExactlyTheLimitPasses(t *testing.T) {
	f := serve(t, Options{})
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"`, `"}}`
	for extra, want := range []int{0, ipc.CodeInvalidRequest} {
		w := f.dial(t)
		fill := strings.Repeat("a", ipc.MaxRequestBytes-len(head)-len(tail)+extra)
		go func() { _, _ = w.Write([]byte(head + fill + tail + "\n")) }()
		if got := code(t, w.line()); got != want {
			t.Errorf("%d bytes over: code %d, want %d", extra, got, want)
		}
	}
}
