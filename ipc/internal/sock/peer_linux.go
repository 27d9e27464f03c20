package sock

import (
	"fmt"
	"syscall"
)

func peer(fd int) (Credentials, error) {
	u, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return Credentials{}, fmt.Errorf("read peer credentials: %w", err)
	}
	return Credentials{UID: u.Uid, GID: u.Gid, PID: int(u.Pid)}, nil
}
