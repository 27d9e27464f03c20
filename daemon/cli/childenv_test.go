package cli

import (
	"path/filepath"
	"testing"
)

// The daemon reads the same paths from the environment as the client that
// starts it from another directory: ~ is a name like any other there.
func TestChildEnvMakesPathsAbsolute(t *testing.T) {
	got, err := childEnv([]string{"QUERN_DATA=data", "QUERN_CONFIG=~/x", "QUERN_SOCKET=", "HOME=rel", "ODD"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	tilde, err := filepath.Abs("~/x")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"QUERN_DATA=" + data, "QUERN_CONFIG=" + tilde, "QUERN_SOCKET=", "HOME=rel", "ODD"} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
}
