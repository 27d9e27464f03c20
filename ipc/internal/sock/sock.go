// Package sock knows what the operating system tells about Unix sockets:
// who is at the other end, whether it is still there, and whether the
// directory that holds a socket can be trusted.
package sock

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Credentials are those of the process at the other end of a connection, as
// they were when it connected (or, seen by the client, when it listened).
type Credentials struct {
	UID uint32
	GID uint32
	PID int // 0 where the system does not tell
	// Groups are the other groups, where the system tells: on Linux.
	Groups []uint32
}

// ErrUnsupported says that the system or the kind of connection has no peer
// credentials.
var ErrUnsupported = errors.New("no peer credentials")

// Peer returns the credentials of the process at the other end of c. The
// error wraps ErrUnsupported where there are none to be had.
func Peer(c net.Conn) (Credentials, error) {
	uc, ok := c.(*net.UnixConn)
	if !ok {
		return Credentials{}, fmt.Errorf("%w on a connection of type %T", ErrUnsupported, c)
	}
	var cred Credentials
	err := withFD(uc, func(fd int) (err error) {
		cred, err = peer(fd)
		return err
	})
	return cred, err
}

// HungUp reports whether the other end of c is gone for good. A client that
// has only finished sending (a half-closed connection) is not gone. It is
// false where the system cannot tell.
func HungUp(c net.Conn) bool {
	uc, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	gone := false
	err := withFD(uc, func(fd int) error {
		gone = hungUp(fd)
		return nil
	})
	return gone || errors.Is(err, net.ErrClosed)
}

func withFD(c *net.UnixConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// MaxPath is the longest path of a socket, in bytes.
const MaxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// CheckPath reports a path that is too long for the system.
func CheckPath(path string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("socket path %s is %d bytes long, the system's limit is %d (choose a shorter one with --socket or QUERN_SOCKET)",
			path, len(path), MaxPath)
	}
	return nil
}
