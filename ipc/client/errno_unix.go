//go:build unix

package client

import (
	"errors"
	"syscall"
)

// isAbsent reports that nothing listens.
func isAbsent(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// isBusy reports that the listener's queue is full.
func isBusy(err error) bool { return errors.Is(err, syscall.EAGAIN) }
