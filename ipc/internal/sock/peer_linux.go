package sock

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func peer(fd int) (Credentials, error) {
	u, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return Credentials{}, fmt.Errorf("read peer credentials: %w", err)
	}
	groups, err := peerGroups(fd)
	if err != nil {
		return Credentials{}, fmt.Errorf("read peer groups: %w", err)
	}
	return Credentials{UID: u.Uid, GID: u.Gid, PID: int(u.Pid), Groups: groups}, nil
}

// maxGroups is the most groups that a process can have: NGROUPS_MAX.
const maxGroups = 65536

// peerGroups asks for the supplementary groups (SO_PEERGROUPS, Linux 4.13). A kernel
// that does not know the question tells of none.
func peerGroups(fd int) ([]uint32, error) {
	for n := 64; ; n = maxGroups {
		groups := make([]uint32, n)
		size := uint32(4 * n)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == 0:
			return groups[:size/4], nil
		case errors.Is(errno, unix.ERANGE) && n < maxGroups:
		case errors.Is(errno, unix.ENOPROTOOPT), errors.Is(errno, unix.ENODATA):
			return nil, nil
		default:
			return nil, errno
		}
	}
}
