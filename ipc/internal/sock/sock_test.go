//go:build linux || darwin || freebsd

package sock

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// pair is both ends of one connection.
func pair(t *testing.T) (client, server *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = s.Close() })
	return c.(*net.UnixConn), s.(*net.UnixConn)
}

func TestPeerOnBothEnds(t *testing.T) {
	client, server := pair(t)
	for name, c := range map[string]net.Conn{"client": client, "server": server} {
		cred, err := Peer(c)
		if err != nil || cred.UID != Self() || cred.PID != 0 && cred.PID != os.Getpid() {
			t.Errorf("seen by the %s: %+v, %v", name, cred, err)
		}
	}
	if _, err := Peer(nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestHungUp(t *testing.T) {
	client, server := pair(t)
	if HungUp(server) {
		t.Error("an open connection is gone")
	}
	if _, err := client.Write([]byte("unread")); err != nil {
		t.Fatal(err)
	}
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if HungUp(server) {
		t.Error("a half-closed connection is gone")
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if !HungUp(server) {
		t.Error("a closed connection is not gone")
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if !HungUp(server) {
		t.Error("a connection closed here is not gone")
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(dir, Self()); err != nil {
		t.Error(err)
	}
	if err := CheckDir(filepath.Join(dir, "none"), Self()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := CheckDir(dir, Self()+1); err == nil {
		t.Error("another user's directory passes")
	}
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777 | os.ModeSticky} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckDir(dir, Self()); err == nil {
			t.Errorf("mode %v passes", mode)
		}
	}
}
