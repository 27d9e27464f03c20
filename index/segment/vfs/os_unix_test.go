//go:build unix

package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is no file is refused at once: a pipe would be waited for without end.
func TestMapAndCreateRefuseWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	f, err := NewOS(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "directory"} {
		if _, err := f.Map(name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("Map of a %s: %v", name, err)
		}
		if _, err := f.Create(name); err == nil {
			t.Errorf("a %s can be created", name)
		}
	}
}
