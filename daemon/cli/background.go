package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"quern/ipc/client"
)

const (
	// startLimit is how long a client waits for the daemon it started.
	startLimit = 20 * time.Second
	// idleExit is how long a background daemon without a configured folder
	// stays without requests.
	idleExit = 10 * time.Minute
	// exitTaken is the exit code of a background daemon that found another
	// one at work: its client connects to that one.
	exitTaken = 5
	// shownLines is how much of a dead daemon's log its client shows.
	shownLines = 10

	firstPause = 5 * time.Millisecond
	longPause  = 100 * time.Millisecond
)

// startDaemon starts a daemon in the background and connects to it, or to
// another one that was quicker.
func (a *app) startDaemon(ctx context.Context, s settings) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	log, err := daemonLogPath(s)
	if err != nil {
		return nil, err
	}
	for {
		child, err := a.spawn(log)
		if err != nil {
			return nil, failuref("quern serve starts it in the foreground", "cannot start the daemon: %w", err)
		}
		c, err := a.awaitSocket(ctx, s, child)
		if !errors.Is(err, errTaken) {
			return c, err
		}
		// The other daemon has gone meanwhile: start anew.
	}
}

// errTaken means that the child ended because another daemon held the lock,
// and that this daemon does not answer either: it was just ending.
var errTaken = errors.New("another daemon holds the lock")

// awaitSocket dials until the daemon answers, the child dies or ctx ends.
func (a *app) awaitSocket(ctx context.Context, s settings, child *child) (*conn, error) {
	taken, pause := time.Time{}, firstPause
	for {
		ended, code := child.ended()
		c, err := a.dial(ctx, s)
		switch {
		case ctx.Err() != nil:
			return nil, a.startFailure(ctx, child, "it does not answer at "+s.socket)
		case !errors.Is(err, client.ErrNotRunning):
			if err == nil {
				a.started = true
				child.endUnless(ctx, c)
			}
			return c, err
		case ended && code != exitTaken:
			return nil, a.startFailure(ctx, child, fmt.Sprintf("it ended with code %d", code))
		case ended && taken.IsZero():
			taken = time.Now()
		case ended && time.Since(taken) > time.Second:
			return nil, errTaken
		}
		sleep(ctx, pause)
		pause = min(pause*2, longPause)
	}
}

// startFailure describes a daemon that did not come up, with the last lines
// of its log.
func (a *app) startFailure(ctx context.Context, c *child, why string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	text := "cannot start the daemon: " + why
	if tail := c.logTail(shownLines); tail != "" {
		text += "; it said:\n" + tail
	}
	return unreachable("its log is "+c.log, "%s", text)
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// child is a daemon started in the background.
type child struct {
	log    string
	offset int64 // where its own lines start in the log
	proc   *os.Process
	done   chan struct{} // closed when the process has ended
	code   int           // valid once done is closed
}

// spawn starts this program anew as a daemon: in its own session, with its
// messages in the log file, so that it outlives the client and its terminal.
func (a *app) spawn(log string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args, err := a.serveArgs()
	if err != nil {
		return nil, err
	}
	file, err := openLog(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Dir(log) // keeps no other file system busy
	cmd.Env, err = childEnv(os.Environ())
	if err != nil {
		return nil, err
	}
	cmd.Stderr = file
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{log: log, offset: info.Size(), proc: cmd.Process, done: make(chan struct{})}
	go c.wait(cmd) // ends with the daemon, or with this short-lived program
	return c, nil
}

func (c *child) wait(cmd *exec.Cmd) {
	defer close(c.done)
	// The exit code says all that the error does.
	_ = cmd.Wait()
	c.code = cmd.ProcessState.ExitCode()
}

// endUnless ends the child if another daemon answered: a child that was slow
// to start would else take over when that daemon stops.
func (c *child) endUnless(ctx context.Context, daemon *conn) {
	s, err := status(ctx, daemon, "")
	if err == nil && s.PID != c.proc.Pid {
		// It may have ended by itself, which is as good.
		_ = c.proc.Kill()
	}
}

// ended tells whether the process has ended, and its exit code.
func (c *child) ended() (bool, int) {
	select {
	case <-c.done:
		return true, c.code
	default:
		return false, 0
	}
}

// logTail returns the last n lines that were logged since the child started.
func (c *child) logTail(n int) string {
	file, err := os.Open(c.log)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || info.Size() < c.offset {
		c.offset = 0 // the log was shortened meanwhile
	}
	text, err := io.ReadAll(io.NewSectionReader(file, c.offset, logLimit))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, []byte("?")))), "\n")
	lines = lines[max(0, len(lines)-n):]
	return strings.TrimSpace("  " + strings.Join(lines, "\n  "))
}

// serveArgs are the arguments of the background daemon: this run's global
// flags, with absolute paths.
func (a *app) serveArgs() ([]string, error) {
	args := []string{"serve", "--background", "--log-level", a.flags.logLevel, "--log-format", a.flags.logFormat}
	for _, f := range []struct{ name, value string }{{"--config", a.flags.config}, {"--socket", a.flags.socket}} {
		if f.value == "" {
			continue
		}
		path, err := absolute(f.value)
		if err != nil {
			return nil, err
		}
		args = append(args, f.name, path)
	}
	return args, nil
}

// pathVariables are the environment variables that hold paths.
var pathVariables = []string{"QUERN_CONFIG", "QUERN_DATA", "QUERN_SOCKET"}

// childEnv makes the paths in the environment absolute: the daemon has
// another working directory.
func childEnv(env []string) ([]string, error) {
	env = append([]string(nil), env...)
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		for _, known := range pathVariables {
			if name != known || value == "" {
				continue
			}
			path, err := absolute(value)
			if err != nil {
				return nil, err
			}
			env[i] = name + "=" + path
		}
	}
	return env, nil
}
