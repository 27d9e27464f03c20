package sandbox

import (
	"errors"

	"golang.org/x/sys/unix"
)

// limitSelf bounds what this process may use.
func limitSelf() error {
	return errors.Join(
		limit(unix.RLIMIT_DATA, memoryLimit), // what it writes to; address space costs nothing
		limit(unix.RLIMIT_CPU, processorLimit),
		limit(unix.RLIMIT_NOFILE, 32),
		limit(unix.RLIMIT_CORE, 0),
		limit(unix.RLIMIT_FSIZE, 0),
	)
}

func limit(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}
