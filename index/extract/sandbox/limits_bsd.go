//go:build freebsd || dragonfly

package sandbox

import "golang.org/x/sys/unix"

func setLimit(l *unix.Rlimit, most int64) { l.Cur, l.Max = min(l.Cur, most), min(l.Max, most) }
