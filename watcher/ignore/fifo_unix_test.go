//go:build unix

package ignore

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A FIFO in the place of a rule file holds nobody up.
func TestFIFO(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{"d/a": ""})
	for _, name := range []string{"d/.gitignore", "d/.git", "d/CACHEDIR.TAG", ".ignore"} {
		if err := syscall.Mkfifo(filepath.Join(f.root, name), 0o644); err != nil {
			t.Skip("no FIFOs:", err)
		}
	}
	mustEnd(t, "asking beside a FIFO", func() {
		if !f.Dir("d") || !f.File("d/a") {
			t.Error(f.Reason("d/a"))
		}
	})
	if got := strings.Join(f.Problems(), "\n"); !strings.Contains(got, "d/.gitignore: not used: not a regular file") {
		t.Errorf("problems: %s", got)
	}
	// And when it comes between asking what it is and opening it.
	mustEnd(t, "opening a FIFO", func() {
		file, err := (sight{}).open(filepath.Join(f.root, ".ignore"), false)
		if err != nil {
			t.Error(err)
			return
		}
		file.Close()
	})
}
