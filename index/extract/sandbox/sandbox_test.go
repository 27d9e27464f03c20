package sandbox

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quern/index/extract"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		if len(os.Args) > 2 && os.Args[2] == commandKind {
			os.Exit(Main(os.Args[2:]))
		}
		os.Exit(serve(os.Args[2:], hostile))
	}
	goleak.VerifyTestMain(m)
}

func newSandbox(t *testing.T, o Options) *Sandbox {
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// zipped makes a zip archive of files by name.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What comes through the pipe is what was extracted.
func TestAWorkerAnswersAsTheLibraryDoes(t *testing.T) {
	s := newSandbox(t, Options{Workers: 1})
	inner := zipped(t, "deep.md", "# Head\n\ntext\n\n## Sub\n\nmore\n", "sub/b.txt", "bee")
	big := strings.Repeat("many words in a large member\n", 200_000)
	for name, data := range map[string][]byte{
		"a.zip":     zipped(t, "x.txt", "ex", "inner.zip", string(inner), "pic.png", "\x89PNG\r\n\x1a\n", "latin.txt", "caf\xe9\r\n", "big.txt", big),
		"empty.zip": zipped(t),
		"bad.zip":   []byte("PK\x03\x04 nothing"),
		"bad.gz":    []byte("\x1f\x8b\x08 nothing"),
		"plain.txt": []byte("in this process"),
		"a.go":      []byte("package p\n\nfunc a() {\n" + strings.Repeat("\tx()\n", 100) + "}\n\nfunc b() {\n}\n"),
		"a.eml":     []byte("Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\nContent-Disposition: attachment; filename=a.md\n\n# Head\n"),
		"a.json":    []byte("{\"a\": \"\\u00e9 \xff\"}"),
	} {
		got, err := s.Extract(t.Context(), name, data)
		want, wantErr := extract.Extract(name, data)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || errors.Is(err, extract.ErrBinary) != errors.Is(wantErr, extract.ErrBinary) {
			t.Fatalf("%s: %v, want %v", name, err, wantErr)
		}
		if wantErr == nil && !sameDocument(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, want)
		}
	}
}

// sameDocument compares what can be compared: errors by their words.
func sameDocument(a, b *extract.Document) bool {
	if a == nil || b == nil {
		return a == b
	}
	if len(a.Members) != len(b.Members) || !bytes.Equal(a.Text, b.Text) || !reflect.DeepEqual(a.Sections, b.Sections) ||
		a.Type != b.Type || a.Title != b.Title || a.Author != b.Author || !a.Date.Equal(b.Date) || a.Extracted != b.Extracted || a.Truncated != b.Truncated {
		return false
	}
	for i := range a.Members {
		x, y := a.Members[i], b.Members[i]
		if x.Name != y.Name || fmt.Sprint(x.Problem) != fmt.Sprint(y.Problem) || !sameDocument(x.Document, y.Document) {
			return false
		}
	}
	return true
}

func TestWorkersAreUsedAgainAndReplaced(t *testing.T) {
	s := newSandbox(t, Options{Workers: 1, Idle: time.Hour})
	data := zipped(t, "a.txt", "a")
	pid := func() int {
		if _, err := s.Extract(t.Context(), "a.zip", data); err != nil {
			t.Fatal(err)
		}
		p := s.pools[extract.Complex]
		if len(p.idle) == 0 {
			return 0
		}
		return p.idle[0].cmd.Process.Pid
	}
	first := pid()
	if second := pid(); first == 0 || first != second {
		t.Errorf("pid %d, then %d", first, second)
	}
	s.pools[extract.Complex].idle[0].files = workerFiles - 1
	if pid() != 0 {
		t.Error("a worker that has read its files is kept")
	}
	if third := pid(); third == first || third == 0 {
		t.Errorf("pid %d, then %d", first, third)
	}
}

func TestIdleWorkersEnd(t *testing.T) {
	s := newSandbox(t, Options{Idle: time.Millisecond})
	if _, err := s.Extract(t.Context(), "a.zip", zipped(t, "a.txt", "a")); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.alive) == 0 })
	if _, err := s.Extract(t.Context(), "a.zip", zipped(t, "a.txt", "a")); err != nil {
		t.Errorf("after the idle one has ended: %v", err)
	}
}

func TestCloseAndCancelEndAFile(t *testing.T) {
	s := newSandbox(t, Options{Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { _, err := s.Extract(ctx, "hostile-loop.zip", zipped(t)); ended <- err }()
	await(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.alive) == 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	go func() { _, err := s.Extract(t.Context(), "hostile-loop.zip", zipped(t)); ended <- err }()
	await(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.alive) == 1 })
	s.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := s.Extract(t.Context(), "a.zip", zipped(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("after it: %v", err)
	}
}

func TestAWorkerThatCannotStartIsNoFaultOfTheFile(t *testing.T) {
	for _, command := range [][]string{{"/nonexistent/program"}, {"/bin/sh", "-c", "exit 3"}} {
		s := newSandbox(t, Options{Command: command})
		if _, err := s.Extract(t.Context(), "a.zip", zipped(t)); !IsUnavailable(err) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
		time.Sleep(time.Millisecond)
	}
}
