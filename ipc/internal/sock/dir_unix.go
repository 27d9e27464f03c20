//go:build unix

package sock

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// CheckDir checks that nobody but the given users can put or replace files
// in dir: it, and the symbolic link that stands in its place if one does,
// must be owned by one of them, and only the owner may write to it. The
// error says what to do; it wraps fs.ErrNotExist when dir does not exist.
func CheckDir(dir string, owners ...uint32) error {
	link, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check the socket's directory: %w", err)
	}
	if err := checkOwner(dir, link, owners); err != nil {
		return err
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check the socket's directory: %w", err)
	}
	if err := checkOwner(dir, fi, owners); err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is not a directory (choose another socket with --socket or QUERN_SOCKET)", dir)
	}
	if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("directory %s (mode %04o) is writable by others, who could replace the socket (run chmod go-w %s, or choose another socket with --socket or QUERN_SOCKET)",
			dir, fi.Mode().Perm(), dir)
	}
	return nil
}

func checkOwner(path string, fi fs.FileInfo, owners []uint32) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: the system does not tell who owns it", path)
	}
	for _, uid := range owners {
		if st.Uid == uid {
			return nil
		}
	}
	return fmt.Errorf("%s belongs to user %d, not to user %d: its owner could replace the socket (choose a socket in a directory of your own with --socket or QUERN_SOCKET)",
		path, st.Uid, owners[0])
}

// Self is the effective user id of this process.
func Self() uint32 { return uint32(os.Geteuid()) }
