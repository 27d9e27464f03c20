package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"quern/ipc/internal/sock"
)

// ErrInUse says that a daemon, or something else that answers, already
// serves the socket.
var ErrInUse = errors.New("the socket is in use")

// probeTimeout bounds the wait for whoever holds an existing socket.
const probeTimeout = time.Second

// Listen makes the Unix socket at path and listens on it.
//
// The socket's directory is made with mode 0700 where it is missing; it must
// be ours and writable by nobody else. A lock on path + ".lock", held until
// the listener closes or the process dies, keeps two daemons from racing for
// the socket. A socket that answers is never removed: the error wraps
// ErrInUse. A stale one, which refuses connections, is replaced. Anything
// else at path is left alone and is an error.
//
// The listener's Close removes the socket file only while it is the one that
// Listen made.
func Listen(path string) (net.Listener, error) { return listenAs(path, 0o700, 0o600) }

// ListenShared is Listen for a socket that every user of the machine may connect to:
// the directory, where it is missing, is made for all to enter.
func ListenShared(path string) (net.Listener, error) { return listenAs(path, 0o755, 0o666) }

func listenAs(path string, dirMode, mode fs.FileMode) (net.Listener, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := sock.CheckPath(path); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := makeDir(dir, dirMode); err != nil {
		return nil, fmt.Errorf("make the socket's directory: %w", err)
	}
	if err := sock.CheckDir(dir, sock.Self()); err != nil {
		return nil, err
	}
	if err := checkShared(dir, dirMode); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(path, mode, lock)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return l, nil
}

// makeDir makes the directory, whatever the umask; one that is there stays as it is.
func makeDir(dir string, mode fs.FileMode) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// checkShared returns an error when others cannot get to a socket in the directory that
// is for them too.
func checkShared(dir string, mode fs.FileMode) error {
	fi, err := os.Stat(dir)
	if err == nil && mode&0o001 != 0 && fi.Mode().Perm()&0o001 == 0 {
		err = fmt.Errorf("other users cannot enter %s (mode %04o), where the socket for them is to be (run chmod 755 on it)", dir, fi.Mode().Perm())
	}
	return err
}

// listenLocked listens on path while lock keeps other daemons away.
func listenLocked(path string, mode fs.FileMode, lock *os.File) (*listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	ul, err := bind(path, mode)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	ul.SetUnlinkOnClose(false)
	made, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), ul.Close())
	}
	return &listener{UnixListener: ul, path: path, made: made, lock: lock}, nil
}

// removeStale removes a socket nobody listens on.
func removeStale(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the socket: %w", err)
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s exists and is not a socket (%s); it is left alone: move it away, or choose another socket with --socket or QUERN_SOCKET",
			path, fi.Mode())
	}
	c, err := net.DialTimeout("unix", path, probeTimeout)
	switch {
	case err == nil:
		_ = c.Close() // nothing was said
		return fmt.Errorf("%w: something answers on %s", ErrInUse, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case isRefused(err):
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the stale socket: %w", err)
		}
		return nil
	case isBusy(err):
		return fmt.Errorf("%w: %s does not answer in time: %w", ErrInUse, path, err)
	}
	return fmt.Errorf("%s is a socket of unknown state, it is left alone: %w", path, err)
}

// listener is a Unix listener that cleans up after itself.
type listener struct {
	*net.UnixListener
	path string
	made os.FileInfo // the socket file as Listen made it
	lock *os.File    // released by Close
	once sync.Once   // guards err
	err  error
}

// Close stops listening, removes the socket file if it is still the one that
// Listen made, and releases the lock.
func (l *listener) Close() error {
	l.once.Do(func() {
		// The file is looked at before the socket closes: until then its
		// inode number cannot be given to another file.
		l.err = errors.Join(l.unlink(), l.UnixListener.Close(), l.lock.Close())
	})
	return l.err
}

func (l *listener) unlink() error {
	now, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the socket: %w", err)
	}
	if !os.SameFile(l.made, now) {
		return nil
	}
	if err := os.Remove(l.path); err != nil {
		return fmt.Errorf("remove the socket: %w", err)
	}
	return nil
}
