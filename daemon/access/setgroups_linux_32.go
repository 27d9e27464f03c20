//go:build linux && (386 || arm)

package access

import "golang.org/x/sys/unix"

// The older call takes ids of 16 bits.
const setgroups = unix.SYS_SETGROUPS32
