//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach gives the process a session of its own: no terminal's hang-up or
// interrupt reaches it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
