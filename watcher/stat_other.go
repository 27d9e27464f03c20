//go:build !linux && !darwin && !freebsd && !windows

package watcher

import "io/fs"

// identify knows no identities here: changes are told by size and time alone.
func identify(string, fs.FileInfo) (ident, int64, uint64) { return ident{}, 0, 0 }
