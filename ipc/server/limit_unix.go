//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptorLimit is how many descriptors the process may have open.
func descriptorLimit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return math.MaxInt
	}
	if uint64(r.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(r.Cur)
}
