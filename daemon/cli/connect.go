package cli

import (
	"context"
	"errors"
	"fmt"

	"quern/ipc"
	"quern/ipc/client"
)

// conn is a connection to the daemon.
type conn struct {
	*client.Client
}

// connect dials the daemon and starts one when none answers, unless that was
// refused. The caller closes the connection.
func (a *app) connect(ctx context.Context) (*conn, error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	c, err := a.dial(ctx, s)
	if !errors.Is(err, client.ErrNotRunning) {
		return c, err
	}
	if s.err != nil {
		return nil, s.err
	}
	if a.flags.noStart {
		return nil, unreachable("leave --no-start out, or run quern serve",
			"no daemon is running: nothing answers at %s", s.socket)
	}
	return a.startDaemon(ctx, s)
}

// connectRunning dials the daemon and never starts one; hint says what a
// daemon that is not there means for the verb.
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
	c, err := client.Dial(ctx, s.socket)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, client.ErrNotRunning) {
		return nil, err
	}
	if err != nil {
		return nil, unreachable("quern runs for one user: is the socket yours?",
			"cannot reach the daemon: %w", err)
	}
	if err := a.hello(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return &conn{c}, nil
}

// hello introduces the program and compares protocol versions. A daemon that
// is just ending counts as not running.
func (a *app) hello(ctx context.Context, c *client.Client) error {
	var r ipc.HelloResult
	params := ipc.HelloParams{Client: "quern", Version: a.version()}
	err := c.Call(ctx, ipc.MethodHello, params, &r)
	var se *ipc.Error
	switch {
	case err == nil:
		return compatible(r)
	case errors.As(err, &se) && se.Code == ipc.CodeMethodNotFound:
		return nil // hello is optional
	case errors.As(err, &se) && se.Code == ipc.CodeShuttingDown, lostDaemon(err):
		return fmt.Errorf("the daemon is ending: %w", client.ErrNotRunning)
	}
	return err
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
