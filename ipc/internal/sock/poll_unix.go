//go:build linux || darwin || freebsd || openbsd || netbsd || dragonfly

package sock

import "golang.org/x/sys/unix"

// hungUp asks for POLLHUP, which is set once both directions are closed.
func hungUp(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
}
