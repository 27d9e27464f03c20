//go:build unix

package cli

import (
	"testing"

	"golang.org/x/sys/unix"
)

// ownSession fails unless the process leads a session of its own.
func ownSession(t *testing.T, pid int) {
	t.Helper()
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d of process %d: %v", sid, pid, err)
	}
}
