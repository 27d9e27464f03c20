package client

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// isAbsent reports that nothing listens.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, windows.WSAECONNREFUSED)
}

// isBusy reports that the listener's queue is full.
func isBusy(error) bool { return false }
