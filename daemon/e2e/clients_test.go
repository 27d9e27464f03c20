//go:build unix

package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestTwoClientsStartOneDaemon has many clients find no daemon at the same
// moment: all get answers, and exactly one daemon is left.
func TestTwoClientsStartOneDaemon(t *testing.T) {
	t.Parallel()
	const clients = 8
	s := newSandbox(t)
	s.write("notes/refunds.txt", "Refunds go back to the original card.")
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			<-start
			out, msg, code := s.quern("search", "-l", "--folder", "notes", "refunds")
			if code != 0 || !strings.HasSuffix(out, "/notes/refunds.txt\n") {
				t.Errorf("client %d: code %d, stdout %q, stderr %q", i, code, out, msg)
			}
		})
	}
	close(start)
	all.Wait()

	pid, ok := s.pid(s.socket())
	if !ok {
		t.Fatal("no daemon answers")
	}
	// Those that lost the race take a moment to end.
	if err := eventually(func() error { return onlyProcess(s, pid) }); err != nil {
		t.Error(err)
	}
	out, _, _ := s.quern("folders", "list")
	if lines := strings.Count(out, "\n"); lines != 2 {
		t.Errorf("want a header and one folder:\n%s", out)
	}
}

// onlyProcess returns nil when the sandbox has no other process than pid, as far
// as the system tells.
func onlyProcess(s *sandbox, pid int) error {
	found := survivors(s.dir)
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		found = []int{pid}
	}
	if len(found) == 1 && found[0] == pid {
		return nil
	}
	return fmt.Errorf("processes %v, want %d alone", found, pid)
}
