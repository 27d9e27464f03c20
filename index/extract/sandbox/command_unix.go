//go:build unix && !linux

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// runCommand bounds this process and becomes the command: args are the path of a
// program, and its arguments from its name on.
func runCommand(args []string) int {
	if len(args) < 2 {
		return 2
	}
	confine()
	err := unix.Exec(args[0], args[1:], os.Environ())
	fmt.Fprintln(os.Stderr, err)
	return 126
}
