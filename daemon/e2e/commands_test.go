//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are the scripts' own commands:
//
//	code N PROGRAM ARG…       runs it; the exit code must be N
//	eventually PATTERN PROGRAM ARG…
//	                          runs it until stdout or stderr matches (with !: no longer does)
//	json PATH [WANT]          the last stdout has, at hits.0.rel or hits.len, the text WANT
//	                          or a match of it when it begins with ~ (with !: has no such path)
//	setjson NAME PATH         sets a variable to what stands there
//	daemon ARG…               starts quern serve in the background and waits until it is ready
//	crash                     kills the daemon at $SOCKET with SIGKILL and waits for its end
//	alive PID                 the process runs (with !: it has ended, or does so soon)
//	mkfile FILE TEXT          writes a file; TEXT is unquoted as in Go
//	mkfifo FILE               makes a FIFO
//	sparse FILE BYTES         makes a file of that size without content
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"code": cmdCode, "eventually": cmdEventually, "json": cmdJSON, "setjson": cmdSetJSON,
	"daemon": cmdDaemon, "crash": cmdCrash, "alive": cmdAlive,
	"mkfile": cmdMkfile, "mkfifo": cmdMkfifo, "sparse": cmdSparse,
}

// usage fails the script with the command's synopsis unless ok.
func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "code N PROGRAM ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	got := 0
	if exit != nil {
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 2, "[!] eventually PATTERN PROGRAM ARG…")
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ts.Check(eventually(func() error {
		cmd, cancel := sandboxOf(ts).command(ts.MkAbs("."), args[1], args[2:]...)
		defer cancel()
		if args[1] == "quern" {
			cmd.Path, cmd.Err = quernPath(), nil
		}
		cmd.Env = environment(ts)
		// The exit code says what the pattern does not ask about.
		text, _ := cmd.CombinedOutput()
		if re.Match(text) == neg {
			return fmt.Errorf("%#q: want a match: %t; last output:\n%s", args[0], !neg, text)
		}
		return nil
	}))
}

// environment is the script's as it is now, for a process that the script's own
// exec does not start.
func environment(ts *testscript.TestScript) []string {
	env := []string{"PWD=" + ts.MkAbs(".")}
	for _, entry := range sandboxOf(ts).env {
		key, _ := splitEntry(entry)
		env = append(env, key+"="+ts.Getenv(key))
	}
	for _, key := range []string{"QUERN_CONFIG", "QUERN_DATA", "QUERN_SOCKET"} {
		if value := ts.Getenv(key); value != "" {
			env = append(env, key+"="+value)
		}
	}
	return env
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2 || neg && len(args) == 1, "json PATH WANT, or ! json PATH")
	got, err := jsonAt(ts.ReadFile("stdout"), args[0])
	switch {
	case neg && len(args) == 1:
		if err == nil {
			ts.Fatalf("%s is %s, want none", args[0], got)
		}
		return
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if matches(ts, got, args[1]) == neg {
		ts.Fatalf("%s is %s, want (not: %t) %s", args[0], got, neg, args[1])
	}
}

// matches compares a value's text with the one wanted, or with a pattern that
// begins with ~.
func matches(ts *testscript.TestScript, got, want string) bool {
	pattern, ok := strings.CutPrefix(want, "~")
	if !ok {
		return got == want
	}
	re, err := regexp.Compile(pattern)
	ts.Check(err)
	return re.MatchString(got)
}

func cmdSetJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "setjson NAME PATH")
	value, err := jsonAt(ts.ReadFile("stdout"), args[1])
	ts.Check(err)
	ts.Setenv(args[0], value)
}

// jsonAt finds the value at a path such as hits.0.rel and returns its text: a
// string as it is, anything else as JSON. len is the length of a list.
func jsonAt(text, path string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("stdout is no JSON: %w", err)
	}
	for _, key := range strings.Split(path, ".") {
		next, ok := step(value, key)
		if !ok {
			return "", fmt.Errorf("no %s at %s in %s", path, key, text)
		}
		value = next
	}
	if s, ok := value.(string); ok {
		return s, nil
	}
	out, err := json.Marshal(value)
	return string(out), err
}

func step(value any, key string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		next, ok := v[key]
		return next, ok
	case []any:
		if key == "len" {
			return len(v), true
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

func cmdDaemon(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg, "daemon ARG…")
	d, err := sandboxOf(ts).serve(ts.MkAbs("."), environment(ts), args...)
	ts.Check(err)
	ts.Setenv("DAEMONLOG", d.log)
}

func sandboxOf(ts *testscript.TestScript) *sandbox {
	s, ok := ts.Value(sandboxKey{}).(*sandbox)
	if !ok {
		ts.Fatalf("the script has no sandbox")
	}
	return s
}

func cmdCrash(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "crash")
	pid, ok := sandboxOf(ts).pid(ts.Getenv("SOCKET"))
	if !ok {
		ts.Fatalf("no daemon answers at $SOCKET")
	}
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	ts.Check(eventually(func() error { return gone(pid) }))
}

func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1, "[!] alive PID")
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	if neg {
		ts.Check(eventually(func() error { return gone(pid) }))
	} else if gone(pid) == nil {
		ts.Fatalf("process %d has ended", pid)
	}
}

func cmdMkfile(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "mkfile FILE TEXT")
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func cmdMkfifo(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "mkfifo FILE")
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

func cmdSparse(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "sparse FILE BYTES")
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(f.Truncate(size), f.Close()))
}

func splitEntry(entry string) (key, value string) {
	key, value, _ = strings.Cut(entry, "=")
	return key, value
}
