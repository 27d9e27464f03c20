package watcher

import (
	"io/fs"
	"syscall"
)

func identify(_ string, fi fs.FileInfo) (ident, int64, uint64) {
	s, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return ident{}, 0, 0
	}
	return ident{s.Dev, s.Ino}, s.Ctimespec.Nano(), uint64(s.Nlink)
}
