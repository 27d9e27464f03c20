//go:build unix && !linux && !freebsd && !dragonfly

package sandbox

import "golang.org/x/sys/unix"

func setLimit(l *unix.Rlimit, most int64) {
	l.Cur, l.Max = min(l.Cur, uint64(most)), min(l.Max, uint64(most))
}
