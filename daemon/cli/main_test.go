package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden files anew")

// asProgram is set in the environment of a test binary that is to behave as
// quern: the background start runs the test binary itself.
const asProgram = "QUERN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if mode := os.Getenv(asProgram); mode != "" {
		std := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		os.Exit(Main(context.Background(), os.Args[1:], std, programHooks(mode)))
	}
	goleak.VerifyTestMain(m)
}

// home gives the test a home, a config directory and a runtime directory of
// its own, and returns the home. Socket paths must be short.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": dir, "XDG_CONFIG_HOME": dir + "/c", "XDG_CACHE_HOME": dir + "/k", "XDG_RUNTIME_DIR": dir + "/r",
		"QUERN_CONFIG": "", "QUERN_DATA": "", "QUERN_SOCKET": "", "NO_COLOR": "", "TERM": "xterm",
	} {
		t.Setenv(name, value)
	}
	if err := os.Mkdir(dir+"/r", 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// result is what a run said.
type result struct {
	code     int
	out, err string
}

// console describes the streams of a run: columns of 0 is a pipe.
type console struct {
	out, err int
	hooks    Hooks
	ctx      context.Context
}

func run(t *testing.T, args ...string) result {
	t.Helper()
	return console{}.run(t, args...)
}

func (c console) run(t *testing.T, args ...string) result {
	t.Helper()
	var out, msg bytes.Buffer
	std := Streams{In: strings.NewReader(""), Out: &out, Err: &msg}
	std.Terminal = func(w io.Writer) (int, bool) {
		columns := c.err
		if w == io.Writer(&out) {
			columns = c.out
		}
		return columns, columns > 0
	}
	c.hooks.Version = "1.2.3"
	if c.ctx == nil {
		c.ctx = t.Context()
	}
	code := Main(c.ctx, args, std, c.hooks)
	return result{code, out.String(), msg.String()}
}

// want fails unless the run ended with code and said what is given.
func (r result) want(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, p := range parts {
		if !strings.Contains(r.out+r.err, p) {
			t.Errorf("output lacks %q", p)
		}
	}
	if t.Failed() {
		t.Fatalf("stdout:\n%s\nstderr:\n%s", r.out, r.err)
	}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", file, text, want)
	}
}
