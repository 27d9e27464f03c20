//go:build unix && !solaris && !aix && !illumos

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// umaskMu keeps two calls of bind in one process from restoring each other's
// umask.
var umaskMu sync.Mutex

// bind listens on path so that the socket is the owner's alone from its
// first instant, also in a directory that others may enter. The umask is the
// whole process's, so it is 0077 and not 0177: a directory that another
// goroutine makes in the meantime stays usable, and only ever more private
// than asked. The chmod after it gives the socket its mode, which is never wider
// before.
func bind(path string, mode fs.FileMode) (*net.UnixListener, error) {
	umaskMu.Lock()
	old := unix.Umask(0o077)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	unix.Umask(old)
	umaskMu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// lockFile takes an exclusive lock on the file name, which it makes if need
// be and never removes: a lock file that vanishes protects nothing. The error
// wraps ErrInUse when another daemon holds it.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the socket's lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s is held%s", ErrInUse, name, holder(f))
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", name, err)
	} else {
		err = writeHolder(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// writeHolder notes our process id in the lock file, for people to read.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write the socket's lock: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("write the socket's lock: %w", err)
	}
	return nil
}

// holder names the process that wrote the lock file, as far as is known.
func holder(f *os.File) string {
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0) // a hint only: unreadable is unknown
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" by process %d", pid)
}

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// isBusy tells a listener whose queue is full from one that is gone.
func isBusy(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded)
}
