//go:build unix

package daemon

import (
	"errors"
	"os"
	"syscall"
)

// openFlags are those of openFile.
func openFlags(follow bool) int {
	flags := os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	return flags
}

// openFile opens path for reading; opening a FIFO does not block, and a link in
// the file's place is refused unless follow is set.
func openFile(path string, follow bool) (*os.File, error) {
	return os.OpenFile(path, openFlags(follow), 0)
}

// isReplaced reports whether opening failed because something else now stands
// where the file was: a link, or a file where a directory was.
func isReplaced(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.EMLINK) // FreeBSD's word for a refused link
}
