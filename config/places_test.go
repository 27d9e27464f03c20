package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// places sets an environment in which nothing says where things are.
func bareEnv(t *testing.T) (temp string) {
	t.Helper()
	for _, k := range []string{
		"HOME", "USERPROFILE", "AppData", "LocalAppData", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"QUERN_CONFIG", "QUERN_DATA", "QUERN_SOCKET",
	} {
		t.Setenv(k, "")
	}
	temp = t.TempDir()
	if len(temp) > 60 { // leave room for a socket's name
		short, err := os.MkdirTemp("", "q")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(short) })
		temp = short
	}
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	return temp
}

func socketPath(t *testing.T, c Config, flag string) string {
	t.Helper()
	path, err := c.SocketPath(flag)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigPlace(t *testing.T) {
	temp := bareEnv(t)
	want := filepath.Join(temp, userTempName(), "config.toml")
	if got := FindConfig(""); got != want {
		t.Errorf("without a home: %s, want %s", got, want)
	}
	os.Unsetenv("HOME")
	if got := FindConfig(""); got != want {
		t.Errorf("without HOME: %s, want %s", got, want)
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(temp, "xdg"))
	if got, want := FindConfig(""), filepath.Join(temp, "xdg", "quern", "config.toml"); got != want {
		t.Errorf("XDG: %s, want %s", got, want)
	}
	t.Setenv("QUERN_CONFIG", filepath.Join(temp, "env.toml"))
	if got, want := FindConfig(""), filepath.Join(temp, "env.toml"); got != want {
		t.Errorf("QUERN_CONFIG: %s, want %s", got, want)
	}
	wd, _ := os.Getwd()
	if got, want := FindConfig("f.toml"), filepath.Join(wd, "f.toml"); got != want {
		t.Errorf("flag: %s, want %s", got, want)
	}
}

func TestRelativeXDGIsIgnored(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the platform's own places")
	}
	bareEnv(t)
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_CONFIG_HOME", "here")
	t.Setenv("XDG_CACHE_HOME", "here")
	if got := FindConfig(""); got != "/home/u/.config/quern/config.toml" {
		t.Error(got)
	}
	if got, err := Default().DataDir(); got != "/home/u/.cache/quern" || err != nil {
		t.Error(got, err)
	}
}

func TestDataPlace(t *testing.T) {
	temp := bareEnv(t)
	c := Default()
	check := func(want string) {
		t.Helper()
		if got, err := c.DataDir(); got != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	check(filepath.Join(temp, userTempName(), "data"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(temp, "cache"))
	check(filepath.Join(temp, "cache", "quern"))
	c.Daemon.DataDir = filepath.Join(temp, "config")
	check(c.Daemon.DataDir)
	t.Setenv("QUERN_DATA", filepath.Join(temp, "env"))
	check(filepath.Join(temp, "env"))
}

func TestSocketPlace(t *testing.T) {
	temp := bareEnv(t)
	c := Default()
	check := func(flag, want string) {
		t.Helper()
		if got := socketPath(t, c, flag); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	own := filepath.Join(temp, userTempName())
	check("", filepath.Join(own, "quern.sock"))
	if info, err := os.Stat(own); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's directory: %v, %v", info, err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "relative")
	check("", filepath.Join(own, "quern.sock"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(temp, "run"))
	check("", filepath.Join(temp, "run", "quern", "quern.sock"))
	c.Daemon.Socket = filepath.Join(temp, "c.sock")
	check("", c.Daemon.Socket)
	t.Setenv("QUERN_SOCKET", filepath.Join(temp, "e.sock"))
	check("", filepath.Join(temp, "e.sock"))
	check(filepath.Join(temp, "f.sock"), filepath.Join(temp, "f.sock"))
}

func TestLongSocketPath(t *testing.T) {
	temp := bareEnv(t)
	long := filepath.Join(temp, strings.Repeat("d", 100), "quern.sock")
	a := socketPath(t, Default(), long)
	if len(a) > maxSocketPath || filepath.Dir(a) != filepath.Join(temp, userTempName()) {
		t.Errorf("%s is replaced by %s", long, a)
	}
	t.Setenv("QUERN_SOCKET", long)
	if b := socketPath(t, Default(), ""); b != a {
		t.Errorf("daemon and client disagree: %s, %s", a, b)
	}
	if b := socketPath(t, Default(), long+"2"); b == a {
		t.Errorf("two sockets share %s", a)
	}
	if c, err := ShortSocketPath(long); c != a || err != nil {
		t.Errorf("ShortSocketPath = %s, %v", c, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	t.Setenv("TMPDIR", filepath.Join(temp, strings.Repeat("t", 100)))
	if c, err := ShortSocketPath(long); err != nil || !strings.HasPrefix(c, "/tmp/"+userTempName()+"/s-") {
		t.Errorf("with a long TMPDIR: %s, %v", c, err)
	}
}

func TestForeignTempFolderIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	temp := bareEnv(t)
	own := filepath.Join(temp, userTempName())
	refused := func(what string) {
		t.Helper()
		if path, err := Default().SocketPath(""); err == nil {
			t.Errorf("%s: SocketPath = %s", what, path)
		}
		if path, err := Default().DataDir(); err == nil {
			t.Errorf("%s: DataDir = %s", what, path)
		}
		if _, err := Load(FindConfig("")); err == nil {
			t.Errorf("%s: Load reads %s", what, FindConfig(""))
		}
	}
	reset := func() {
		if err := os.RemoveAll(own); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(dir string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	fill(own, 0o700)
	if _, err := Load(FindConfig("")); err != nil {
		t.Errorf("our own folder: %v", err)
	}
	fill(own, 0o755)
	refused("open to others")
	reset()
	elsewhere := filepath.Join(temp, "elsewhere")
	fill(elsewhere, 0o700)
	if err := os.Symlink(elsewhere, own); err != nil {
		t.Fatal(err)
	}
	refused("a link")
	reset()
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a file")
	reset()
	if os.Geteuid() == 0 {
		fill(own, 0o700)
		if err := os.Chown(own, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		refused("of another user")
	}
}
