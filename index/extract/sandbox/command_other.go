//go:build !unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// runCommand runs the command: args are the path of a program, and its arguments from
// its name on.
func runCommand(args []string) int {
	if len(args) < 2 {
		return 2
	}
	cmd := exec.Command(args[0], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 126
	}
	return 0
}
