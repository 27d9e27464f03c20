//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// neverWait keeps a pipe that took a file's place from blocking whoever opens it.
const neverWait = unix.O_NONBLOCK

func mapFile(f *os.File, size int64) (*Mapping, error) {
	if int64(int(size)) != size {
		return nil, fmt.Errorf("map %s: %d bytes do not fit the address space", f.Name(), size)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return &Mapping{Data: data, unmap: unix.Munmap}, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// dirLock holds a lock on a file in a directory, for programs that know only
// that one, and on the directory itself, whose lock goes with no file.
type dirLock struct{ file, dir *os.File }

func lockDir(dir, name string) (Lock, error) {
	path := filepath.Join(dir, name)
	f, err := lockFile(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	d, err := lockFile(dir, os.O_RDONLY)
	if errors.Is(err, ErrLocked) {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	if err != nil { // some network file systems lock no directories
		if d, err = os.Open(dir); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return &dirLock{f, d}, nil
}

func lockFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, err
	}
	return f, nil
}

// Held implements Lock.
func (l *dirLock) Held() bool {
	was, err := l.dir.Stat()
	if err != nil {
		return false
	}
	is, err := os.Stat(l.dir.Name())
	return err == nil && os.SameFile(was, is)
}

// Close implements Lock.
func (l *dirLock) Close() error { return errors.Join(l.dir.Close(), l.file.Close()) }
