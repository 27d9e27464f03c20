//go:build !linux

package access

import (
	"errors"
	"io/fs"
	"os"
)

// Open is not to be had on this system.
func (u User) Open(path string, _ int) (*os.File, error) {
	return nil, &fs.PathError{Op: "open as user", Path: path, Err: errors.ErrUnsupported}
}
