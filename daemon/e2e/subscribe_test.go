//go:build unix

package e2e

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// TestRPCSubscribe prints a line for each notification until it is interrupted.
func TestRPCSubscribe(t *testing.T) {
	t.Parallel()
	s := workedExample(t)
	cmd, cancel := s.command(s.home, quernPath(), "rpc", "subscribe", `{"progress": false}`)
	defer cancel()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"subscription":1`) {
		t.Fatalf("got %q", lines.Text())
	}
	path := s.write("help/new.txt", "A new text.")
	if !lines.Scan() || !strings.Contains(lines.Text(), `"method":"changed"`) || !strings.Contains(lines.Text(), path) {
		t.Errorf("got %q", lines.Text())
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 4 && code != 130 {
		t.Errorf("interrupted with code %d", code)
	}
}
