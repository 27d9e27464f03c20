package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstPassed is the first descriptor that a service manager passes.
const firstPassed = 3

// Activated returns the listener that a service manager (systemd's socket
// activation) opened for this process, and whether there is one. The
// manager owns the socket file: closing the listener leaves it. The
// environment variables are removed, so that child processes do not take
// the listener for theirs. See sd_listen_fds(3).
func Activated() (net.Listener, bool, error) {
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	if count == "" || pid != strconv.Itoa(os.Getpid()) {
		return nil, false, nil
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, false, fmt.Errorf("take over the passed socket: %w", err)
		}
	}
	if count != "1" {
		return nil, false, fmt.Errorf("the service manager passed %s sockets, one is expected (LISTEN_FDS): the socket unit must have a single ListenStream", count)
	}
	f := os.NewFile(firstPassed, "LISTEN_FDS")
	if f == nil {
		return nil, false, errors.New("descriptor 3 of LISTEN_FDS is not open")
	}
	l, err := net.FileListener(f)
	err = errors.Join(err, f.Close()) // FileListener made a copy
	if err != nil {
		return nil, false, fmt.Errorf("take over the passed socket: %w", err)
	}
	if _, ok := l.(*net.UnixListener); !ok {
		return nil, false, errors.Join(
			fmt.Errorf("the service manager passed a socket of type %s, not a Unix socket", l.Addr().Network()), l.Close())
	}
	return l, true, nil
}
