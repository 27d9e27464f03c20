package daemon

import (
	"golang.org/x/sys/unix"
)

const (
	leastPriority = 19
	// See ioprio_set(2).
	ioprioWhoProcess = 1
	ioprioIdle       = 3 << 13
)

// lowerPriority gives the calling thread, and it alone, the least priority: it runs
// and reads when nobody else wants to.
func lowerPriority() error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, leastPriority); err != nil {
		return err
	}
	if _, _, err := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, 0, ioprioIdle); err != 0 {
		return err
	}
	return nil
}
