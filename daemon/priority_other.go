//go:build !linux

package daemon

import "errors"

// lowerPriority does nothing where threads have no priority of their own.
func lowerPriority() error { return errors.ErrUnsupported }
