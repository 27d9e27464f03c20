package access

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func setAttribute(path string, b []byte) error { return unix.Lsetxattr(path, listAttribute, b, 0) }

func credential(u User) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.UID, Gid: u.Groups[0], Groups: u.Groups}}
}
