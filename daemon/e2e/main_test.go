//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// patience is how long anything may take before it counts as never happening:
// generous, since the machine may be busy.
const patience = 60 * time.Second

// testVersion is what the binary under test calls itself.
const testVersion = "0.0.0-e2e"

// binDir holds the quern binary under test.
var binDir string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runMain(m))
}

func runMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "quern-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: make a directory for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version="+testVersion,
		"-o", filepath.Join(dir, "quern"), "quern")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: build quern:", err)
		return 1
	}
	return m.Run()
}

func quernPath() string { return filepath.Join(binDir, "quern") }
