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
	return ident{uint64(s.Dev), s.Ino}, s.Ctim.Nano(), uint64(s.Nlink)
}
