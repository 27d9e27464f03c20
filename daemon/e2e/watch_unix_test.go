//go:build unix

package e2e

import (
	"bufio"
	"strings"
	"syscall"
	"testing"
)

// TestStatusWatch shows the status anew until it is interrupted, which is no failure.
func TestStatusWatch(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write(".config/quern/config.toml", "")
	if _, msg, code := s.quern("status", "--wait"); code != 0 {
		t.Fatalf("status --wait: %d %s", code, msg)
	}
	cmd, cancel := s.command(s.home, quernPath(), "status", "--watch", "--json")
	defer cancel()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"state":"quiescent"`) {
		t.Errorf("it shows %q (%v)", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ends with %v", err)
	}
}
