//go:build unix && !linux

package access

import (
	"os"
	"syscall"
)

// permissionsOf does without access control lists: those of other systems are of
// other forms, and the service for several users is Linux's alone.
func permissionsOf(path string) (*permissions, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return &permissions{owner: st.Uid, group: st.Gid, mode: uint16(info.Mode().Perm())}, nil
}
