package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

var whileStopped = flag.Int("stopped.files", 10000, "files written while the daemon is stopped")

// isStopped returns nil when every thread of the process stands still: on a busy
// machine that takes a moment.
func isStopped(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return err
	}
	for _, stat := range threads {
		b, err := os.ReadFile(stat)
		if err != nil {
			return err
		}
		if _, state, ok := bytes.Cut(b, []byte(") ")); !ok || state[0] != 'T' {
			return fmt.Errorf("%s: %s", stat, b)
		}
	}
	return nil
}

// TestStopped: more files than the system keeps events for are written while the
// daemon is stopped by a signal. It finds them all, and says that it lost events.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes thousands of files")
	}
	s := newSandbox(t)
	s.write("notes/first.txt", "apple")
	if _, msg, code := s.quern("search", "--folder", "notes", "apple"); code != 0 {
		t.Fatalf("search: code %d, %s", code, msg)
	}
	pid, ok := s.pid(s.socket())
	if !ok {
		t.Fatal("no daemon answers")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	if err := eventually(func() error { return isStopped(pid) }); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(s.home, "notes")
	for i := range *whileStopped {
		if err := os.WriteFile(filepath.Join(notes, fmt.Sprintf("%d.txt", i)), []byte("apple\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	err := eventually(func() error {
		out, _, _ := s.quern("status", "--json")
		var status struct {
			Files    struct{ Indexed int }
			Counters map[string]int
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			return err
		}
		if status.Files.Indexed != *whileStopped+1 || status.Counters["overflows"] == 0 || status.Counters["rebuilds"] == 0 {
			return fmt.Errorf("%d files are indexed, counters %v", status.Files.Indexed, status.Counters)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
