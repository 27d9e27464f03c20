package watcher

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// kernelWatches counts the watches of the source's inotify queue.
func kernelWatches(w *Watcher) (int, bool) {
	s, ok := w.rec.src.(fsnotifySource)
	if !ok {
		return 0, false
	}
	fd := reflect.ValueOf(s.Watcher).Elem().FieldByName("b").Elem().Elem().FieldByName("fd").Int()
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, false
	}
	return strings.Count(string(b), "inotify wd:"), true
}

func mkfifo(path string) error { return unix.Mkfifo(path, 0o644) }

func TestWatchReasonSaysWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOSPC: "max_user_watches",
		fmt.Errorf("couldn't initialize inotify: %w", syscall.EMFILE): "max_user_instances",
		syscall.EACCES: syscall.EACCES.Error(),
	} {
		if got := watchReason(err); !strings.Contains(got, want) {
			t.Errorf("%v: %q does not name %q", err, got, want)
		}
	}
}
