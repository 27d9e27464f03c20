package watcher

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// nameEvents are what a guard wants to know: fsnotify would tell, and wake us for,
// every write to a file of the directory too.
const nameEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// inotify is a guardQueue.
type inotify struct {
	fd   int
	file *os.File

	mu   sync.Mutex
	dirs map[int32]string // by watch descriptor
}

func newGuardQueue() (guardQueue, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &inotify{fd: fd, file: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]string{}}, nil
}

func (q *inotify) add(dir string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	wd, err := unix.InotifyAddWatch(q.fd, dir, nameEvents)
	if err != nil {
		return &os.PathError{Op: "inotify_add_watch", Path: dir, Err: err}
	}
	q.dirs[int32(wd)] = dir
	return nil
}

func (q *inotify) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for wd := range q.dirs {
		_, _ = unix.InotifyRmWatch(q.fd, uint32(wd)) // the kernel may have been first
	}
	clear(q.dirs)
}

func (q *inotify) close() { _ = q.file.Close() }

func (q *inotify) run(seen func(path string)) {
	buf := make([]byte, 1<<16)
	for {
		n, err := q.file.Read(buf)
		if err != nil || n == 0 {
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b))
			mask := binary.NativeEndian.Uint32(b[4:])
			size := min(unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])), len(b))
			name, _, _ := bytes.Cut(b[unix.SizeofInotifyEvent:size], []byte{0})
			b = b[size:]
			if path, ok := q.path(wd, mask, string(name)); ok {
				seen(path)
			}
		}
	}
}

// path is what an event is about; ok is false for one without interest.
func (q *inotify) path(wd int32, mask uint32, name string) (path string, ok bool) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		return "", true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	dir, known := q.dirs[wd]
	switch {
	case !known || mask&unix.IN_IGNORED != 0:
		return "", false
	case name == "":
		return dir, true
	}
	return join(dir, name), true
}
