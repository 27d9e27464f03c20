//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// alive tells whether the process runs. One of another user, which no daemon
// of ours is, and one that has ended but was not yet waited for do not count.
func alive(pid int) bool {
	return syscall.Kill(pid, 0) == nil && !zombie(pid)
}

// zombie tells whether a process has ended and nobody has waited for it: its
// locks are released. Systems without Linux's /proc do not say.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the program's name, which may hold anything.
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
