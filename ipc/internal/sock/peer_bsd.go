//go:build darwin || freebsd

package sock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func peer(fd int) (Credentials, error) {
	u, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Credentials{}, fmt.Errorf("read peer credentials: %w", err)
	}
	c := Credentials{UID: u.Uid, PID: peerPID(fd)}
	if u.Ngroups > 0 {
		c.GID = u.Groups[0]
	}
	return c, nil
}
