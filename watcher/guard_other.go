//go:build !linux

package watcher

import "errors"

// newGuardQueue has nothing to offer: to watch a directory costs a handle for each
// of its files on some systems, and keeps it from being removed on others.
func newGuardQueue() (guardQueue, error) { return nil, errors.ErrUnsupported }
