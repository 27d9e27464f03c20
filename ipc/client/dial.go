package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"quern/ipc/internal/sock"
)

// busyPause is how long Dial waits before it tries again a daemon whose
// queue of connections is full.
const busyPause = 5 * time.Millisecond

// Dial connects to the daemon that listens on socket. The error wraps
// ErrNotRunning when there is none.
//
// Before it sends anything it makes sure that it speaks to a daemon of this
// user or of root: the socket's directory must belong to one of them and be
// writable by its owner only, and so must the listening process be theirs.
func Dial(ctx context.Context, socket string) (*Client, error) {
	path, err := filepath.Abs(socket)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", socket, err)
	}
	if err := sock.CheckPath(path); err != nil {
		return nil, err
	}
	err = sock.CheckDir(filepath.Dir(path), sock.Self(), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no socket %s", ErrNotRunning, path)
	}
	if err != nil {
		return nil, err
	}
	nc, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := checkDaemon(nc); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), nc.Close())
	}
	return newClient(nc), nil
}

// connect dials, and goes on trying while the daemon is too busy to accept.
func connect(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	for {
		nc, err := d.DialContext(ctx, "unix", path)
		switch {
		case err == nil:
			return nc, nil
		case isAbsent(err):
			return nil, fmt.Errorf("%w: nothing listens on %s: %w", ErrNotRunning, path, err)
		case !isBusy(err):
			return nil, fmt.Errorf("connect to the daemon: %w", err)
		}
		if err := pause(ctx, busyPause); err != nil {
			return nil, fmt.Errorf("connect to the daemon, which is too busy to accept: %w", err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkDaemon checks who listens, where the system tells.
func checkDaemon(nc net.Conn) error {
	cred, err := sock.Peer(nc)
	if errors.Is(err, sock.ErrUnsupported) {
		return nil // the directory was checked
	}
	if err != nil {
		return fmt.Errorf("find out who listens: %w", err)
	}
	if cred.UID != sock.Self() && cred.UID != 0 {
		return fmt.Errorf("a process of user %d listens there, not this user's daemon", cred.UID)
	}
	return nil
}
