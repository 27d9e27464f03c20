package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// neverWait is for systems whose files can be pipes.
const neverWait = 0

// mapFile reads the file: a mapped file could not be removed or replaced.
func mapFile(f *os.File, size int64) (*Mapping, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &Mapping{Data: data}, nil
}

// syncDir does nothing: NTFS journals the names itself.
func syncDir(string) error { return nil }

// fileLock holds a lock on a file, which cannot be removed meanwhile, nor can
// its directory.
type fileLock struct{ *os.File }

func lockDir(dir, name string) (Lock, error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)); err != nil {
		f.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return fileLock{f}, nil
}

// Held implements Lock.
func (fileLock) Held() bool { return true }
