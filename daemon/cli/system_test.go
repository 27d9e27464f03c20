package cli

import (
	"os"
	"path/filepath"
	"testing"

	"quern/ipc"
)

// TestTheMachinesDaemon: who has neither a config nor a daemon asks the one for all
// users, and no other is started.
func TestTheMachinesDaemon(t *testing.T) {
	dir := home(t)
	f := newFake(t)
	f.result = ipc.SearchResult{Query: "x", Passages: 1, Total: 1, Hits: []ipc.Hit{{Score: 1, Path: "/srv/a.md", Folder: "srv", Rel: "a.md"}}}
	was := systemSocket
	systemSocket = f.socket
	defer func() { systemSocket = was }()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "elsewhere"))
	run(t, "--no-start", "search", "-l", "x").want(t, ExitOK, "/srv/a.md")

	f.fail = map[string]error{ipc.MethodSearch: ipc.Errorf(ipc.CodeNotPermitted, "that is for the owner")}
	run(t, "--no-start", "search", "x").want(t, ExitFailure, "that is for the owner (quern init writes a config for a daemon of your own)")

	// A socket or a config of one's own is another daemon's.
	run(t, "--no-start", "--socket", filepath.Join(dir, "own.sock"), "search", "x").want(t, ExitUnreachable, "no daemon is running")
	own := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "quern", "config.toml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "--no-start", "search", "x").want(t, ExitUnreachable, "no daemon is running")
}
