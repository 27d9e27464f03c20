//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// marker is an environment variable that every process of a sandbox inherits:
// where the system tells, survivors are found by it, whatever socket they use.
const marker = "E2E_SANDBOX"

// pause is the time between two looks at something that is awaited.
const pause = 10 * time.Millisecond

// sandbox is a user of a fresh machine.
type sandbox struct {
	t    testing.TB
	dir  string   // short, so that a socket's path fits
	home string   // $HOME
	env  []string // of every process, PATH and all
}

// newSandbox makes a sandbox whose daemons are ended when the test is.
func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	s := makeSandbox(t, "")
	t.Cleanup(s.close)
	return s
}

// makeSandbox makes the directories; an empty home is one inside the sandbox.
// The caller closes the sandbox.
func makeSandbox(t testing.TB, home string) *sandbox {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if home == "" {
		home = filepath.Join(dir, "home")
	}
	s := &sandbox{t: t, dir: dir, home: home}
	for _, d := range []string{home, s.runtime(), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(s.places(), "PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return s
}

// places are the variables that say where things are. Nothing else of the
// outer environment reaches the binary: no QUERN_*, no NO_COLOR.
func (s *sandbox) places() []string {
	return []string{
		"HOME=" + s.home,
		"XDG_CONFIG_HOME=" + filepath.Join(s.home, ".config"),
		"XDG_CACHE_HOME=" + filepath.Join(s.home, ".cache"),
		"XDG_RUNTIME_DIR=" + s.runtime(),
		"TMPDIR=" + filepath.Join(s.dir, "tmp"),
		marker + "=" + s.dir,
	}
}

func (s *sandbox) runtime() string { return filepath.Join(s.dir, "run") }

// socket is where the sandbox's daemon listens unless told otherwise.
func (s *sandbox) socket() string { return filepath.Join(s.runtime(), "quern", "quern.sock") }

// command makes a command of the sandbox. It is killed when it takes longer
// than patience.
func (s *sandbox) command(dir, name string, args ...string) (*exec.Cmd, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	cmd.WaitDelay = time.Second
	return cmd, cancel
}

// quern runs the binary in the home directory and returns its exit code.
func (s *sandbox) quern(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd, cancel := s.command(s.home, quernPath(), args...)
	defer cancel()
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Errorf("quern %q: %v", args, err)
	}
	return out.String(), msg.String(), cmd.ProcessState.ExitCode()
}

// write writes a file below the home directory.
func (s *sandbox) write(rel, text string) string {
	s.t.Helper()
	path := filepath.Join(s.home, rel)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

// daemon is quern serve, started by the test.
type daemon struct {
	cmd  *exec.Cmd
	log  string        // file
	done chan struct{} // closed when the process has ended and was waited for
}

// serve starts a daemon and waits until it answers on its socket.
func (s *sandbox) serve(dir string, env []string, args ...string) (*daemon, error) {
	log, err := os.CreateTemp(s.dir, "serve-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(quernPath(), append([]string{"serve"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &daemon{cmd: cmd, log: log.Name(), done: make(chan struct{})}
	go func() { // ends with the process
		defer close(d.done)
		// What it said and its exit code are looked at where they matter.
		_ = cmd.Wait()
	}()
	return d, d.awaitReady()
}

// awaitReady returns once the daemon has said that it answers.
func (d *daemon) awaitReady() error {
	err := eventually(func() error {
		text, err := os.ReadFile(d.log)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("msg=ready")) || bytes.Contains(text, []byte(`"msg":"ready"`)) {
			return nil
		}
		select {
		case <-d.done:
			return errStop{fmt.Errorf("the daemon ended: %v; it said:\n%s", d.cmd.ProcessState, text)}
		default:
			return fmt.Errorf("the daemon is not ready; it said:\n%s", text)
		}
	})
	if err != nil {
		_ = d.cmd.Process.Kill() // it may have ended already
	}
	return err
}

// errStop ends eventually at once.
type errStop struct{ error }

// eventually calls f until it returns nil, and gives up with its last error.
func eventually(f func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := f()
		if stop := (errStop{}); err == nil || errors.As(err, &stop) {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %w", patience, err)
		}
		time.Sleep(pause)
	}
}

// close ends every daemon of the sandbox, sees that none survives, and removes
// the directories.
func (s *sandbox) close() {
	s.t.Helper()
	for _, socket := range s.sockets() {
		s.end(socket)
	}
	// A daemon that has been stopped may take a moment to end.
	_ = eventually(func() error {
		if pids := survivors(s.dir); len(pids) > 0 {
			return fmt.Errorf("processes %v are alive", pids)
		}
		return nil
	})
	for _, pid := range survivors(s.dir) {
		s.t.Errorf("process %d survived its test: %s", pid, commandLine(pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if s.t.Failed() {
		s.showLogs()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Errorf("remove the sandbox: %v", err)
	}
}

// sockets are all Unix sockets in the sandbox.
func (s *sandbox) sockets() []string {
	var out []string
	for _, root := range []string{s.dir, s.home} {
		// What cannot be read holds no socket of a daemon of ours.
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&fs.ModeSocket != 0 {
				out = append(out, path)
			}
			return nil
		})
	}
	return out
}

// end stops the daemon at a socket, if one answers, and waits until its
// process has gone; the last resort is a kill, which is an error.
func (s *sandbox) end(socket string) {
	pid, ok := s.pid(socket)
	if !ok {
		return
	}
	if _, msg, code := s.quern("--no-start", "--socket", socket, "stop"); code != 0 {
		s.t.Errorf("quern stop at %s: code %d: %s", socket, code, msg)
	}
	if err := eventually(func() error { return gone(pid) }); err != nil {
		s.t.Errorf("the daemon at %s survived quern stop: %v", socket, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// pid asks the daemon at a socket for its process id.
func (s *sandbox) pid(socket string) (pid int, ok bool) {
	out, _, code := s.quern("--no-start", "--socket", socket, "status", "--json")
	if code != 0 {
		return 0, false
	}
	var status struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		s.t.Errorf("quern status --json: %v: %s", err, out)
	}
	return status.PID, status.PID > 1
}

// showLogs logs what the daemons said.
func (s *sandbox) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, log := range append(logs, filepath.Join(s.home, ".cache", "quern", "daemon.log")) {
		if text, err := os.ReadFile(log); err == nil && len(text) > 0 {
			s.t.Logf("%s:\n%s", log, text)
		}
	}
}

// gone returns nil when the process has ended, even if nobody has waited for it.
func gone(pid int) error {
	if syscall.Kill(pid, 0) != nil || zombie(pid) {
		return nil
	}
	return fmt.Errorf("process %d is alive", pid)
}

// zombie tells whether a process has ended and was not waited for. Only Linux
// says so here; elsewhere orphans are always waited for.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(stat), ") ")
	return ok && strings.HasPrefix(rest, "Z")
}

// survivors are the processes that carry the marker of a sandbox. Systems
// without /proc have none to show.
func survivors(dir string) []int {
	var out []int
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	want := []byte("\x00" + marker + "=" + dir + "\x00")
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), want) {
			continue // another user's, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && gone(pid) != nil {
			out = append(out, pid)
		}
	}
	return out
}

func commandLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}
