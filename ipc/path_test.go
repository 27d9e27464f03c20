package ipc_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"quern/ipc"
)

func TestEncodePath(t *testing.T) {
	for path, want := range map[string]string{
		"":                      "",
		"/home/u/é.txt":         "/home/u/é.txt",
		"/a/\ufffd":             "/a/\ufffd",
		"/caf\xe9":              "/caf\x00e9",
		"/\xff\xfe.txt":         "/\x00ff\x00fe.txt",
		"/\xed\xa0\x80":         "/\x00ed\x00a0\x0080",
		"/cut \xf0\x9f\x98 é":   "/cut \x00f0\x009f\x0098 é",
		"/back\\x00ff/%ff/\n\t": "/back\\x00ff/%ff/\n\t",
	} {
		if got := ipc.EncodePath(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestDecodePathRefuses(t *testing.T) {
	for _, s := range []string{
		"/\xff", "/\x00", "/\x00f", "/\x00fg", "/\x00FF", // not written so
		"/\x0041",            // a byte that needs no escape
		"/\x0000",            // a NUL
		"/\x00c3\x00a9",      // é, which needs none
		"/\x00ff\xff",        // half escaped
		"/\x00c3\xa9 \x00ff", // together they make é
	} {
		var e *ipc.Error
		if got, err := ipc.DecodePath(s); !errors.As(err, &e) || e.Code != ipc.CodeInvalidParams {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
	}
}

// FuzzPath checks both ways: any path without NUL survives the wire, JSON
// included, and any string that is accepted is the one spelling of its path.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/home/u/é", "/caf\xe9", "/\x00e9", "/\x00c3\x00a9", "\xf0\x9f\x98"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if path, err := ipc.DecodePath(s); err == nil && ipc.EncodePath(path) != s {
			t.Fatalf("%q is read as %q, which is written %q", s, path, ipc.EncodePath(path))
		}
		for _, c := range []byte(s) {
			if c == 0 {
				return // not a path
			}
		}
		wire := ipc.EncodePath(s)
		if !utf8.ValidString(wire) || utf8.ValidString(s) && wire != s {
			t.Fatalf("%q is written %q", s, wire)
		}
		b, err := json.Marshal(wire)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if got, err := ipc.DecodePath(back); err != nil || got != s {
			t.Fatalf("%q comes back as %q (%v)", s, got, err)
		}
	})
}
