//go:build darwin || freebsd

package watcher

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func remoteFS(path string) (string, bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return "", false, fmt.Errorf("watcher: asking for the file system of %s: %w", path, err)
	}
	return unix.ByteSliceToString(s.Fstypename[:]), s.Flags&unix.MNT_LOCAL == 0, nil
}
