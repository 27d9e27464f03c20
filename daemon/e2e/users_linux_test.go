package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// account is a user without a name, who runs the binary.
type account struct {
	uid, gid uint32
	others   []uint32
}

// machine is a daemon for all users.
type machine struct {
	*sandbox
	quernCopy string // which all may run
	config    string
}

// newMachine starts it over the folder share, or skips the test where there can be no
// other users.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become other users")
	}
	s := newSandbox(t)
	m := &machine{s, filepath.Join(s.dir, "quern"), filepath.Join(s.dir, "config.toml")}
	must(t, os.Chmod(s.dir, 0o755))
	data, err := os.ReadFile(quernPath())
	must(t, err)
	must(t, os.WriteFile(m.quernCopy, data, 0o755))
	must(t, os.Mkdir(m.share(""), 0o755))
	if out, err := m.command(account{2001, 3001, nil}, "version").CombinedOutput(); err != nil {
		t.Skipf("no other user can be had here: %v %s", err, out)
	}
	must(t, os.WriteFile(m.config, fmt.Appendf(nil, "[daemon]\nusers = \"all\"\nsocket = %q\ndata_dir = %q\n[[folder]]\npath = %q\n",
		m.systemSocket(), filepath.Join(s.dir, "cache"), m.share("")), 0o644))
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) share(name string) string { return filepath.Join(m.dir, "share", name) }
func (m *machine) systemSocket() string     { return filepath.Join(m.dir, "shared", "quern.sock") }

// put writes a file of an owner, a group and a mode.
func (m *machine) put(t *testing.T, name, text string, a account, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(m.share(name), []byte(text), 0o600))
	must(t, os.Chown(m.share(name), int(a.uid), int(a.gid)))
	must(t, os.Chmod(m.share(name), mode))
}

func (m *machine) command(a account, args ...string) *exec.Cmd {
	cmd := exec.Command(m.quernCopy, args...)
	cmd.Env = []string{"HOME=/nonexistent", "QUERN_SOCKET=" + m.systemSocket(), "XDG_CONFIG_HOME=/nonexistent", marker + "=" + m.dir}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.others}}
	return cmd
}

// as runs the binary as a user, and returns what it printed and its exit code.
func (m *machine) as(t *testing.T, a account, args ...string) (out string, code int) {
	t.Helper()
	cmd := m.command(a, args...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return both.String(), exit.ExitCode()
	}
	must(t, err)
	return both.String(), 0
}

// TestTwoUsers has two users ask the daemon of the machine.
func TestTwoUsers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	alice, bob := account{2001, 3001, nil}, account{2002, 3002, nil}
	m.put(t, "alice.md", "alice writes of zebras", alice, 0o600)
	m.put(t, "bob.md", "bob writes of zebras", bob, 0o640)
	m.put(t, "both.md", "both read of zebras", alice, 0o644)
	if _, err := m.serve(m.dir, m.env, "--config", m.config); err != nil {
		t.Fatal(err)
	}
	files := func(a account) string {
		out, code := m.as(t, a, "search", "-l", "zebras")
		if code == 1 {
			return "" // and a word on what to do
		}
		lines := strings.Fields(out)
		for i, l := range lines {
			lines[i] = strings.TrimSuffix(filepath.Base(l), ".md")
		}
		return strings.Join(lines, " ")
	}
	expect := func(what string, a account, want ...string) {
		t.Helper()
		if got := strings.Fields(files(a)); !sameSet(got, want) {
			t.Errorf("%s: found %q, want %q", what, got, want)
		}
	}
	expect("alice", alice, "alice", "both")
	expect("bob", bob, "bob", "both")
	expect("root", account{}, "alice", "bob", "both")
	expect("alice in bob's group", account{2001, 3001, []uint32{3002}}, "alice", "bob", "both")
	must(t, os.Chmod(m.share("both.md"), 0o600))
	expect("bob, when alice has closed her file", bob, "bob")
	must(t, os.Chown(m.share("alice.md"), 2002, 3002))
	expect("bob, who has been given a file", bob, "alice", "bob")
	must(t, os.Chmod(m.share(""), 0o700))
	expect("bob, before a closed door", bob)
	must(t, os.Chmod(m.share(""), 0o755))
	expect("bob, when it is open again", bob, "alice", "bob")

	if out, code := m.as(t, bob, "status", "--json"); code != 0 || !strings.Contains(out, `"passages": 2`) && !strings.Contains(out, `"passages":2`) {
		t.Errorf("status: code %d, %s", code, out)
	}
	for _, verb := range [][]string{{"stop"}, {"reload"}, {"pause"}, {"verify"}, {"folders", "add", "/etc"}, {"search", "--folder", "/etc", "x"}} {
		if out, code := m.as(t, bob, verb...); code != 4 || !strings.Contains(out, "owner of the daemon") {
			t.Errorf("quern %v by another user: code %d, %s", verb, code, out)
		}
	}
	if out, code := m.as(t, bob, "show", m.share("both.md")); code == 0 || strings.Contains(out, "read of") {
		t.Errorf("quern show of another's file: code %d, %s", code, out)
	}
	for _, path := range []string{"cache", "cache/users", "cache/index"} {
		info, err := os.Stat(filepath.Join(m.dir, path))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v", path, info.Mode())
		}
	}
	if out, code := m.as(t, account{}, "stop"); code != 0 {
		t.Errorf("quern stop by root: code %d, %s", code, out)
	}
}

func sameSet(got, want []string) bool {
	have := map[string]bool{}
	for _, g := range got {
		have[g] = true
	}
	for _, w := range want {
		if !have[w] {
			return false
		}
	}
	return len(got) == len(want)
}

// TestAllUsersNeedsRoot: who is not root cannot read what others may read.
func TestAllUsersNeedsRoot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	out, code := m.as(t, account{2001, 3001, nil}, "--config", m.config, "serve")
	if code != 4 || !strings.Contains(out, `users = "all" needs a daemon that runs as root on Linux`) {
		t.Errorf("code %d, %s", code, out)
	}
}
