package access

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Open opens a file as the user would: the kernel decides, on every directory of the
// way, whatever is moved or linked to another place meanwhile. It wants root.
func (u User) Open(path string, flags int) (*os.File, error) {
	type outcome struct {
		file *os.File
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		// A thread has these ids for itself alone. It is never unlocked, and so ends
		// with its goroutine: no other work is ever done as the user.
		runtime.LockOSThread()
		if err := u.become(); err != nil {
			done <- outcome{err: &fs.PathError{Op: "open as user", Path: path, Err: err}}
			return
		}
		f, err := os.OpenFile(path, flags, 0)
		done <- outcome{f, err}
	}()
	o := <-done
	return o.file, o.err
}

// become gives the calling thread the user's ids for the file system, and takes from
// it what root may do with files: see setfsuid(2) and capabilities(7).
func (u User) become() error {
	groups := append(make([]uint32, 0, len(u.Groups)+1), u.Groups...)
	if _, _, errno := unix.RawSyscall(setgroups, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0); errno != 0 {
		return fmt.Errorf("set the groups: %w", errno)
	}
	if len(groups) > 0 {
		if err := is(unix.SetfsgidRetGid, groups[0]); err != nil {
			return fmt.Errorf("set the group: %w", err)
		}
	}
	if err := is(unix.SetfsuidRetUid, u.UID); err != nil {
		return fmt.Errorf("set the user: %w", err)
	}
	return nil
}

// is sets an id and makes sure of it: the call itself tells no errors.
func is(set func(int) (int, error), id uint32) error {
	if _, err := set(int(id)); err != nil {
		return err
	}
	if now, err := set(-1); err != nil || uint32(now) != id {
		return fmt.Errorf("it is %d, not %d: %w", now, id, unix.EPERM)
	}
	return nil
}
