package daemon

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAtRest(t *testing.T) {
	const quiet = 200 * time.Millisecond
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	atRest(t.Context(), path, quiet)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if age := time.Since(info.ModTime()); age < quiet {
		t.Errorf("the file has rested for %v only", age)
	}

	// None of these waits, or the test would not end.
	const forever = 24 * time.Hour
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	atRest(ended, path, forever)
	atRest(t.Context(), filepath.Join(t.TempDir(), "missing"), forever)
	ahead := time.Now().Add(forever)
	if err := os.Chtimes(path, ahead, ahead); err != nil {
		t.Fatal(err)
	}
	atRest(t.Context(), path, forever)
}
