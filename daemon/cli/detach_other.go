//go:build !unix && !windows

package cli

import "os/exec"

// detach has no means on this platform: the process lives on by itself.
func detach(*exec.Cmd) {}
