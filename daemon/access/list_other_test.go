//go:build !linux

package access

import (
	"errors"
	"syscall"
)

func setAttribute(string, []byte) error { return errors.ErrUnsupported }

func credential(User) *syscall.SysProcAttr { return nil }
