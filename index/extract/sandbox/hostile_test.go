package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"quern/index/extract"
)

// hostile is a reader that does what the file's name says, as one taken over by the
// file might.
func hostile(name string, data []byte, w extract.Watch) (*extract.Document, error) {
	act, ok := strings.CutPrefix(strings.TrimSuffix(name, ".zip"), "hostile-")
	if !ok {
		return extract.ExtractWatched(name, data, w)
	}
	act, argument, _ := strings.Cut(act, "@")
	argument = strings.ReplaceAll(argument, "|", "/")
	tell := func(err error) (*extract.Document, error) {
		if err != nil {
			return nil, err
		}
		return nil, errors.New("it could")
	}
	switch act {
	case "open":
		_, err := os.ReadFile(argument)
		return tell(err)
	case "create":
		return tell(os.WriteFile(argument, []byte("x"), 0o600))
	case "remove":
		return tell(os.Remove(argument))
	case "list":
		_, err := os.ReadDir("/")
		return tell(err)
	case "connect":
		_, err := net.Dial("unix", argument)
		return tell(err)
	case "tcp":
		_, err := net.Dial("tcp", argument)
		return tell(err)
	case "fork":
		return tell(exec.Command("/bin/true").Run())
	case "kill":
		p, _ := os.FindProcess(os.Getppid())
		return tell(p.Signal(os.Interrupt))
	case "loop":
		for { // for ever is the point
			runtime.Gosched()
		}
	case "allocate":
		var all [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			_ = all
		}
	case "flood":
		for {
			fmt.Fprint(os.Stdout, "t\x00\x00\x10\x00", strings.Repeat("x", 1<<20))
		}
	case "alive":
		for {
			if _, err := os.Stdout.WriteString("a\x00\x00\x00\x00"); err != nil {
				os.Exit(1)
			}
		}
	case "stderr":
		for range 10 {
			fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 100_000))
		}
		return nil, errors.New("it was loud")
	case "garbage":
		fmt.Fprint(os.Stdout, "this is no frame at all")
		return nil, errors.New("garbage")
	case "deep":
		return nil, errors.New(fmt.Sprint(deep(0)))
	case "exit":
		os.Exit(7)
	case "panic":
		panic("taken over")
	case "members":
		d := &extract.Document{Type: "zip", Extracted: true}
		for n := range 3 {
			d.Members = append(d.Members, extract.Member{Name: fmt.Sprint(n), Document: &extract.Document{Type: "txt", Text: []byte("kept"), Sections: []extract.Section{{End: 4}}}})
			w.Grew(d)
		}
		os.Exit(7)
	case "overlap":
		return &extract.Document{Extracted: true, Text: []byte("abc"), Sections: []extract.Section{{Start: 0, End: 3}, {Start: 1, End: 9}}}, nil
	}
	return nil, errors.New("unknown act " + act)
}

// deep never returns: n does not go below zero before the stack ends.
func deep(n int) int {
	if n < 0 {
		return 0
	}
	return deep(n+1) + 1
}

// Whatever a reader tries that was taken over by its file, it reaches nothing, and the
// next file is read as if nothing had been.
func TestAHostileReaderIsStopped(t *testing.T) {
	// Most acts end by themselves, on a busy machine late; two must be ended.
	patient := newSandbox(t, Options{Workers: 1, Stall: time.Minute, Wall: 2 * time.Minute})
	quick := newSandbox(t, Options{Workers: 1, Stall: time.Second, Wall: 3 * time.Second})
	file := t.TempDir() + "/secret"
	if err := os.WriteFile(file, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket := t.TempDir() + "/s"
	unix, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	if _, err := patient.Extract(t.Context(), "a.zip", zipped(t)); err != nil {
		t.Fatal(err)
	}
	confined := len(patient.Lacks()) == 0
	if !confined {
		t.Logf("this system lacks %v: only what bounds a worker is tried", patient.Lacks())
	}
	at := func(path string) string { return "@" + strings.ReplaceAll(path, "/", "|") }
	for _, c := range []struct {
		act, want string
		confined  bool // needs what the kernel may lack
	}{
		{"open" + at(file), "not permitted", true},
		{"create" + at(file+".new"), "not permitted", true},
		{"remove" + at(file), "not permitted", true},
		{"list", "not permitted", true},
		{"connect" + at(socket), "not permitted", true},
		{"tcp" + at(tcp.Addr().String()), "not permitted", true},
		{"fork", "not permitted", true},
		{"kill", "", true},
		{"loop", "stuck", false},
		{"alive", "took more than", false},
		{"allocate", "more memory", true},
		{"flood", "garbage", false},
		{"stderr", "it was loud", false},
		{"garbage", "garbage", false},
		{"deep", "overflows the stack", false},
		{"exit", "exit status 7", false},
		{"panic", "taken over", false},
		{"overlap", "does not fit", false},
	} {
		if c.confined && !confined {
			continue
		}
		t.Run(c.act[:min(len(c.act), 8)], func(t *testing.T) {
			s := patient
			if c.act == "loop" || c.act == "alive" {
				s = quick
			}
			doc, err := s.Extract(t.Context(), "hostile-"+c.act+".zip", zipped(t))
			if doc != nil || err == nil || !strings.Contains(err.Error(), c.want) || err.Error() == "it could" {
				t.Errorf("%v, %v; want %q", doc, err, c.want)
			}
			if _, err := s.Extract(t.Context(), "a.zip", zipped(t, "a.txt", "a")); err != nil {
				t.Errorf("the next file: %v", err)
			}
		})
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "secret" {
		t.Errorf("the file: %q, %v", data, err)
	}
}

// What a reader found before it was ended is kept, and says that it is not all.
func TestWhatCameBeforeTheEndIsKept(t *testing.T) {
	s := newSandbox(t, Options{Workers: 1})
	doc, err := s.Extract(t.Context(), "hostile-members.zip", zipped(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Members) != 3 || string(doc.Members[2].Document.Text) != "kept" || !strings.Contains(doc.Truncated, "exit status 7") {
		t.Errorf("%+v", doc)
	}
}
