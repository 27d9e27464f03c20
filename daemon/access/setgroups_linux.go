//go:build linux && !386 && !arm

package access

import "golang.org/x/sys/unix"

const setgroups = unix.SYS_SETGROUPS
