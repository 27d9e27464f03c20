package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"quern/ipc"
	"quern/ipc/client"
)

// conn is a connection to the daemon.
type conn struct {
	*client.Client
	version string // the daemon's, empty when it did not say
}

// connect dials the daemon and starts one when none answers, unless that was
// refused. The caller closes the connection.
func (a *app) connect(ctx context.Context) (*conn, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	c, err := a.dial(ctx, s)
	if err == nil {
		return a.vetted(ctx, c, s)
	}
	if !errors.Is(err, client.ErrNotRunning) {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	if a.flags.noStart {
		return nil, unreachable("leave --no-start out, or run quern serve",
			"no daemon is running: nothing answers at %s", s.socket)
	}
	if c, err = a.startDaemon(ctx, s); err != nil {
		return nil, err
	}
	return a.vetted(ctx, c, s) // another client may have been quicker
}

// vetted is the connection if vet lets it pass; else it closes it.
func (a *app) vetted(ctx context.Context, c *conn, s settings) (*conn, error) {
	if err := a.vet(ctx, c, s); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// vet refuses a daemon with another config than the one that was chosen for
// this run, and says when its version is another.
func (a *app) vet(ctx context.Context, c *conn, s settings) error {
	if err := a.sameConfig(ctx, c, s); err != nil {
		return err
	}
	if c.version != "" && c.version != a.version() {
		a.say("the running daemon is another version (%s, this is %s): quern stop ends it, and the next command starts the new one",
			oneLine(c.version), a.version())
	}
	return nil
}

// sameConfig makes sure that the daemon uses the config that was chosen; one
// that was found by default may be any.
func (a *app) sameConfig(ctx context.Context, c *conn, s settings) error {
	// A path that is no UTF-8 does not survive the way through JSON.
	if !a.namesConfig() || !utf8.ValidString(s.file) {
		return nil
	}
	running, err := status(ctx, c, "")
	if err != nil || running.Config == "" || running.Config == s.file || sameDirectory(running.Config, s.file) {
		return err
	}
	return &exitError{code: ExitFailure, err: fmt.Errorf(
		"the daemon at %s uses another config (%s); stop it, or give a second one its own --socket and QUERN_DATA",
		linePath(s.socket), linePath(running.Config))}
}

// connectRunning dials the daemon, whatever its config and version, and never
// starts one; hint says what a daemon that is not there means for the verb.
func (a *app) connectRunning(ctx context.Context, hint string) (*conn, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	c, err := a.dial(ctx, s)
	if errors.Is(err, client.ErrNotRunning) {
		return nil, unreachable(hint, "no daemon is running: nothing answers at %s", s.socket)
	}
	return c, err
}

// dial connects and makes sure that both sides speak the same protocol. The
// error wraps client.ErrNotRunning when nothing answers.
func (a *app) dial(ctx context.Context, s settings) (*conn, error) {
	c, err := dialAny(ctx, s)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, client.ErrNotRunning) {
		return nil, err
	}
	if err != nil {
		return nil, unreachable(reachHint(err), "cannot reach the daemon: %w", err)
	}
	version, err := a.hello(ctx, c)
	if err != nil {
		c.Close()
		return nil, err
	}
	return &conn{c, version}, nil
}

// dialAny dials the user's own daemon or, where none answers, the machine's. One of
// those that cannot be reached or trusted is as none.
func dialAny(ctx context.Context, s settings) (*client.Client, error) {
	c, err := client.Dial(ctx, s.socket)
	if s.system == "" || !errors.Is(err, client.ErrNotRunning) {
		return c, err
	}
	if system, systemErr := client.Dial(ctx, s.system); systemErr == nil {
		return system, nil
	}
	return nil, err
}

// reachHint helps with an error that does not say itself what to do.
func reachHint(err error) string {
	if strings.HasSuffix(err.Error(), ")") {
		return ""
	}
	return "quern runs for one user: is the socket yours?"
}

// hello introduces the program, compares protocol versions and returns the
// daemon's version. A daemon that is just ending counts as not running.
func (a *app) hello(ctx context.Context, c *client.Client) (version string, err error) {
	var r ipc.HelloResult
	params := ipc.HelloParams{Client: "quern", Version: a.version()}
	err = c.Call(ctx, ipc.MethodHello, params, &r)
	var se *ipc.Error
	switch {
	case err == nil:
		return r.Version, compatible(r)
	case errors.As(err, &se) && se.Code == ipc.CodeMethodNotFound:
		return "", nil // hello is optional
	case errors.As(err, &se) && se.Code == ipc.CodeShuttingDown, lostDaemon(err):
		return "", fmt.Errorf("the daemon is ending: %w", client.ErrNotRunning)
	}
	return "", err
}

// compatible tells whether this program understands the daemon.
func compatible(r ipc.HelloResult) error {
	if major(r.Protocol) == major(ipc.ProtocolVersion) {
		return nil
	}
	return failuref("quern stop, then try again",
		"the daemon (version %s) speaks protocol %s, this program %s", r.Version, r.Protocol, ipc.ProtocolVersion)
}

func major(version string) string {
	for i, r := range version {
		if r == '.' {
			return version[:i]
		}
	}
	return version
}
