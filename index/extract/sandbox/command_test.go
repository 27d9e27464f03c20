//go:build unix

package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script is an executable that says what it is allowed to.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "extractor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACommandReadsAFile(t *testing.T) {
	s := newSandbox(t, Options{})
	d, err := s.Command(t.Context(), "djvu", []string{"cat", "-"}, []byte("page one\fpage two\xff"))
	if err != nil {
		t.Fatal(err)
	}
	if string(d.Text) != "page one\fpage two\ufffd" || d.Type != "djvu" || !d.Extracted || len(d.Sections) != 2 || d.Sections[1].Page != 2 {
		t.Errorf("%+v", d)
	}
	d, err = s.Command(t.Context(), "x", []string{"cat"}, nil)
	if err != nil || len(d.Text) != 0 || len(d.Sections) != 1 {
		t.Errorf("nothing: %+v, %v", d, err)
	}
}

func TestACommandThatFails(t *testing.T) {
	s := newSandbox(t, Options{Wall: 2 * time.Second})
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"/nonexistent/extractor"}, "cannot be run"},
		{[]string{script(t, "echo no such page >&2; exit 3")}, "no such page"},
		{[]string{script(t, "while :; do :; done")}, "took more than 2s"},
		{[]string{script(t, "exit 0")}, ""},
	} {
		_, err := s.Command(t.Context(), "x", c.command, []byte("data"))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.command, err, c.want)
		}
	}
}

// A command reaches neither other files nor other programs nor a socket.
func TestACommandIsConfined(t *testing.T) {
	s := newSandbox(t, Options{Wall: 20 * time.Second})
	if _, err := s.Extract(t.Context(), "a.zip", zipped(t)); err != nil {
		t.Fatal(err)
	}
	if len(s.Lacks()) > 0 {
		t.Skipf("this system lacks %v", s.Lacks())
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, body := range []string{
		"read -r line < " + secret + " && echo reached $line",
		"echo x > " + secret + ".new && echo reached",
		"exec /usr/bin/env echo reached",
		"(echo reached)",
		"/usr/bin/env echo reached",
	} {
		d, err := s.Command(t.Context(), "x", []string{script(t, body+"; echo done")}, nil)
		if err == nil && strings.Contains(string(d.Text), "reached") {
			t.Errorf("%s: %q", body, d.Text)
		}
	}
}
