//go:build unix && !linux

package sandbox

import "golang.org/x/sys/unix"

// confine bounds what this process may use, and says what it may do that a reader of
// files does not need.
func confine() (lacks []string) {
	for resource, most := range map[int]int64{unix.RLIMIT_CPU: processorLimit, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		limit(resource, most)
	}
	return []string{"confinement to open files: this system has no Landlock and no seccomp"}
}

// limit lowers a limit; one that is lower already stays.
func limit(resource int, most int64) {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return
	}
	setLimit(&l, most)
	_ = unix.Setrlimit(resource, &l)
}
