package cli

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach takes the process off this console and its control events.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}
