//go:build !unix

package sock

import (
	"fmt"
	"os"
)

// CheckDir checks that dir exists and is a directory: whose it is, the
// access control list of the user's profile decides.
func CheckDir(dir string, _ ...uint32) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check the socket's directory: %w", err)
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is not a directory (choose another socket with --socket or QUERN_SOCKET)", dir)
	}
	return nil
}

// Self is 0: this system has no numeric user ids.
func Self() uint32 { return 0 }
