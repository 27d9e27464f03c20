package access

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const listAttribute = "system.posix_acl_access"

func permissionsOf(path string) (*permissions, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	st := info.Sys().(*syscall.Stat_t)
	p := &permissions{owner: st.Uid, group: st.Gid, mode: uint16(info.Mode().Perm())}
	p.acl, err = listOf(path)
	return p, err
}

// listOf reads the access control list; nil if there is none.
func listOf(path string) ([]entry, error) {
	buf := make([]byte, 512)
	for {
		n, err := unix.Lgetxattr(path, listAttribute, buf)
		switch {
		case errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP):
			return nil, nil
		case errors.Is(err, unix.ERANGE) && len(buf) < 1<<16:
			buf = make([]byte, 1<<16)
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "lgetxattr", Path: path, Err: err}
		}
		return parseList(buf[:n])
	}
}
