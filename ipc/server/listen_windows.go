package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"golang.org/x/sys/windows"
)

// bind listens on path. The access control list of the user's own directory
// keeps others out.
func bind(path string, _ fs.FileMode) (*net.UnixListener, error) {
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// lockFile takes an exclusive lock on the file name, which it makes if need
// be and never removes. The error wraps ErrInUse when another daemon holds it.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the socket's lock: %w", err)
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = fmt.Errorf("%w: %s is held", ErrInUse, name)
	} else if err != nil {
		err = fmt.Errorf("lock %s: %w", name, err)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

func isBusy(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
