//go:build unix

package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"quern/ipc/internal/sock"
)

func mustListen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestListenMakesPrivatePlaces(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(shortDir(t), "a", "b", "quern.sock")
	l := mustListen(t, path)
	for name, want := range map[string]os.FileMode{
		filepath.Dir(filepath.Dir(path)): os.ModeDir | 0o700,
		filepath.Dir(path):               os.ModeDir | 0o700,
		path:                             os.ModeSocket | 0o600,
		path + ".lock":                   0o600,
	} {
		if fi, err := os.Lstat(name); err != nil || fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, fi.Mode(), want, err)
		}
	}
	if got := syscall.Umask(0); got != 0 {
		t.Errorf("the umask is left at %#o", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if exists(path) {
		t.Error("Close leaves the socket")
	}
	mustListen(t, path)
}

// TestSocketIsNeverOpenToOthers watches the socket come into being.
func TestSocketIsNeverOpenToOthers(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(shortDir(t), "s")
	stop, worst := make(chan struct{}), make(chan os.FileMode)
	go func() {
		var seen os.FileMode
		for {
			select {
			case <-stop:
				worst <- seen
				return
			default:
			}
			if fi, err := os.Lstat(path); err == nil {
				seen |= fi.Mode().Perm()
			}
		}
	}()
	for range 60 {
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if seen := <-worst; seen&0o077 != 0 {
		t.Errorf("the socket was seen with mode %o", seen)
	}
}

// TestUmaskSurvivesRacingListens has many calls change the umask at once.
func TestUmaskSurvivesRacingListens(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := shortDir(t)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			l, err := Listen(filepath.Join(dir, string(rune('A'+i))))
			if err != nil {
				t.Error(err)
				return
			}
			_ = l.Close()
		})
	}
	wg.Wait()
	if got := syscall.Umask(0o027); got != 0o027 {
		t.Errorf("the umask is left at %#o", got)
	}
}

func TestLiveSocketIsNotTouched(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	foreign, err := net.Listen("unix", path) // takes no lock, as a socket that a service manager made
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the live socket is gone: %v", err)
	}
	_ = c.Close()
}

func TestSecondListenIsRefused(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	mustListen(t, path)
	if _, err := Listen(path); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "by process") {
		t.Errorf("got %v", err)
	}
	if !exists(path) {
		t.Error("the socket is gone")
	}
}

func makeStale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	makeStale(t, path)
	l := mustListen(t, path)
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// TestKilledDaemonLeavesTheWayFree kills a process that holds the socket.
func TestKilledDaemonLeavesTheWayFree(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHold+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Errorf("the helper says %q", line)
	}
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if !exists(path) {
		t.Fatal("the test needs a stale socket")
	}
	mustListen(t, path)
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	dir := shortDir(t)
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, make := range map[string]func(path string) error{
		"file":      func(p string) error { return os.WriteFile(p, []byte("precious"), 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"symlink":   func(p string) error { return os.Symlink(target, p) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		path := filepath.Join(dir, kind)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "is not a socket") {
			t.Errorf("%s: got %v", kind, err)
		}
		if !exists(path) {
			t.Errorf("the %s is gone", kind)
		}
	}
}

func TestCloseLeavesAnothersSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := mustListen(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if !exists(path) {
		t.Error("Close removes a socket that is not its own")
	}
}

func TestRacingListens(t *testing.T) {
	for round := range 100 {
		path := filepath.Join(shortDir(t), "s")
		if round%2 == 1 {
			makeStale(t, path)
		}
		const racers = 4
		start, results := make(chan struct{}), make(chan net.Listener, racers)
		for range racers {
			go func() {
				<-start
				l, err := Listen(path)
				if err != nil && !errors.Is(err, ErrInUse) {
					t.Error(err)
				}
				results <- l
			}()
		}
		close(start)
		var won []net.Listener
		for range racers {
			if l := receive(t, "a result", results); l != nil {
				won = append(won, l)
			}
		}
		if len(won) != 1 {
			t.Fatalf("round %d: %d of %d hold the socket", round, len(won), racers)
		}
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatalf("round %d: the winner does not answer: %v", round, err)
		}
		_ = c.Close()
		_ = won[0].Close()
	}
}

func TestUntrustedDirectories(t *testing.T) {
	dir := shortDir(t)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(open, "s")); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("writable by the group: got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(dir, "file", "s")); err == nil {
		t.Error("a file as the directory")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make files of another user")
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(shortDir(t), link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{foreign, link} {
		if err := os.Lchown(name, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(filepath.Join(name, "s")); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Errorf("%s of another user: got %v", name, err)
		}
	}
}

func TestLongPath(t *testing.T) {
	dir := shortDir(t)
	fits := filepath.Join(dir, strings.Repeat("x", sock.MaxPath-len(dir)-1))
	if l, err := Listen(fits); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	} else {
		_ = l.Close()
	}
	if _, err := Listen(fits + "x"); err == nil || !strings.Contains(err.Error(), "the system's limit is") {
		t.Errorf("got %v", err)
	}
}

// TestPeerOfAnotherUser makes the socket open to all, so that only the peer
// credentials keep the other user out.
func TestPeerOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	f := serve(t, Options{})
	dir := filepath.Dir(f.path)
	for name, mode := range map[string]os.FileMode{dir: 0o755, f.path: 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "helper")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = []string{envDial + "=" + f.path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("cannot act as another user here: %v: %s", err, out)
	}
	if !strings.Contains(string(out), "-32003") || !strings.Contains(string(out), "65534") {
		t.Errorf("user 65534 gets %s", out)
	}
}

func TestActivated(t *testing.T) {
	if _, ok, err := Activated(); ok || err != nil {
		t.Errorf("without a service manager: %v, %v", ok, err)
	}
	path := filepath.Join(shortDir(t), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	passed, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envActivated+"=1", "LISTEN_FDS=1")
	cmd.ExtraFiles = []*os.File{passed}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request1("1", "echo", `{"text":"hi"}`)+"\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := bufio.NewReader(c).ReadString('\n'); !strings.Contains(got, `"hi"`) {
		t.Errorf("got %q", got)
	}
	if got, _ := bufio.NewReader(out).ReadString('\n'); got != "again: false\n" {
		t.Errorf("got %q", got)
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !exists(path) {
		t.Error("the service manager's socket is removed")
	}
}
