//go:build unix

package ignore

import (
	"errors"
	"os"
	"syscall"
)

// open opens a file for reading without waiting for a FIFO's writer and, unless
// follow is set, without following a symbolic link at its end.
func (s sight) open(name string, follow bool) (*os.File, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	if s.as != nil {
		return s.as(name, flags)
	}
	return os.OpenFile(name, flags, 0)
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
