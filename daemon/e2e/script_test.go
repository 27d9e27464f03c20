//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar. Besides testscript's own commands
// they have those of commands.
func TestScripts(t *testing.T) {
	const pattern = "testdata/script/*.txtar"
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s matches no script (%v)", pattern, err)
	}
	testscript.Run(t, testscript.Params{
		Files: files, Setup: setup, Condition: condition, Cmds: commands,
		RequireUniqueNames: true,
	})
}

// sandboxKey finds the sandbox among a script's values.
type sandboxKey struct{}

// setup gives a script its sandbox. The home directory is in the work directory,
// so that files of the archive can be in it.
func setup(env *testscript.Env) error {
	t, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("testscript runs without a testing.TB: %T", env.T())
	}
	s := makeSandbox(t, filepath.Join(env.WorkDir, "home"))
	env.Defer(s.close)
	for _, entry := range s.env {
		key, value := splitEntry(entry)
		env.Setenv(key, value)
	}
	env.Setenv("SOCKET", s.socket())
	env.Setenv("LOG", filepath.Join(s.home, ".cache", "quern", "daemon.log"))
	env.Setenv("CONFIG", filepath.Join(s.home, ".config", "quern", "config.toml"))
	env.Cd = s.home
	env.Values[sandboxKey{}] = s
	return nil
}

// condition knows [root]: no permission stops the user. [pty]: the script(1)
// command of Linux is there to run a program on a terminal.
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "pty":
		return exec.Command("script", "-qec", "true", os.DevNull).Run() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
