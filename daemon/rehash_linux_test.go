package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quern/daemon"
	"quern/ipc"
)

// A store through a memory map on tmpfs changes no time of the file: only the
// rehash finds it.
func TestRehashFindsWhatLeavesNoTrace(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip("there is no tmpfs at /dev/shm")
	}
	dir, err := os.MkdirTemp("/dev/shm", "q")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	notes := filepath.Join(dir, "notes")
	mkdir(t, notes)
	path := filepath.Join(notes, "mapped.txt")
	write(t, path, "apple")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	h := startWith(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n", daemon.Options{Rehash: 20 * time.Millisecond})
	if got := rels(h.search("apple")); got != "mapped.txt" {
		t.Fatalf("found %q", got)
	}
	// It was looked at within a clock's tick of its writing, and is once more.
	h.until("it rests", func(s ipc.StatusResult) bool { return s.Counters["racy"] > 0 && s.Pending == 0 })
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 5, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(m)
	copy(m, "grape")
	s := h.until("the rehash finds it", func(s ipc.StatusResult) bool { return s.Counters["rehash_found"] > 0 && s.Pending == 0 })
	if got := rels(h.search("grape")); got != "mapped.txt" || rels(h.search("apple")) != "" {
		t.Errorf("found %q, status %+v", got, s)
	}
	h.until("a pass ends", func(s ipc.StatusResult) bool { return s.Freshness.LastRehash != "" })
}
