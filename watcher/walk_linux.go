package watcher

import (
	"golang.org/x/sys/unix"
)

// brokenWalk is broken for a long way, top first, in time proportional to its
// length: each directory is opened from the one above it. ok is false when that
// cannot be done.
func brokenWalk(chain []*node) (bad *node, ok bool) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	at := unix.AT_FDCWD
	defer func() {
		if at != unix.AT_FDCWD {
			_ = unix.Close(at)
		}
	}()
	for i, n := range chain {
		name, how := n.path, flags
		if i > 0 {
			name = base(n.path)
		}
		if i > 0 && !n.link {
			how |= unix.O_NOFOLLOW
		} else if i > 0 && !isLinkAt(at, name) {
			return n, true
		}
		fd, err := openAgain(at, name, how)
		if err != nil {
			return n, !exhausted(err)
		}
		if at != unix.AT_FDCWD {
			_ = unix.Close(at)
		}
		at = fd
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil {
			return nil, false
		}
		if (ident{uint64(s.Dev), s.Ino}) != n.id {
			return n, true
		}
	}
	return nil, true
}

func isLinkAt(dir int, name string) bool {
	var s unix.Stat_t
	err := unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && s.Mode&unix.S_IFMT == unix.S_IFLNK
}

func openAgain(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
