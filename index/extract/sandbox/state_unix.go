//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// outOfTime reports whether a process was ended for its use of the processor.
func outOfTime(state *os.ProcessState) bool {
	s, ok := state.Sys().(syscall.WaitStatus)
	return ok && s.Signaled() && s.Signal() == syscall.SIGXCPU
}
