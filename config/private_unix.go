//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// userTempName names the user's own folder in the temporary folder.
func userTempName() string { return fmt.Sprintf("quern-%d", os.Geteuid()) }

// openNoWait opens a file for reading, also a FIFO that nobody writes to.
func openNoWait(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// checkOwner wants the directory to belong to this user and be closed to others.
func checkOwner(dir string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to user %d: it is not safe to use", dir, stat.Uid, os.Geteuid())
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Errorf("%s is open to other users (mode %04o): run chmod 700 on it", dir, perm)
	}
	return nil
}

// keepOwner gives the file at path the owner of the file it replaces. Only
// root can, and only root needs to.
func keepOwner(path string, old fs.FileInfo) error {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(stat.Uid), int(stat.Gid))
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}
