package cli

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quern/config"
	"quern/ipc"
	"quern/ipc/server"
)

// background makes clients of this test start the test binary as daemon; it
// is stopped at the end.
func background(t *testing.T, mode string) (dir string) {
	t.Helper()
	dir = home(t)
	t.Setenv(asProgram, mode)
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if r := (console{ctx: context.Background()}).run(t, "stop"); r.code != ExitOK && r.code != ExitUnreachable {
			t.Errorf("stop: %+v", r)
		}
	})
	return dir
}

// daemonPID asks the running daemon for its process.
func daemonPID(t *testing.T, r result) int {
	t.Helper()
	var s ipc.StatusResult
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	return s.PID
}

func TestAClientStartsADaemonInTheBackground(t *testing.T) {
	dir := background(t, "serve")
	run(t, "search", "refund").want(t, ExitOK, "Refunds go back")
	first := daemonPID(t, run(t, "status", "--json"))
	if first == os.Getpid() || first == 0 {
		t.Errorf("pid %d", first)
	}
	if again := daemonPID(t, run(t, "--no-start", "status", "--json")); again != first {
		t.Errorf("a second daemon: %d and %d", first, again)
	}
	log := filepath.Join(dir, "k/quern/daemon.log")
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "idle=10m0s") {
		t.Errorf("log: %v\n%s", err, text)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the log: %v %v", info.Mode(), err)
	}
	ownSession(t, first)
}

func TestClientsThatStartAtOnceEndWithOneDaemon(t *testing.T) {
	background(t, "serve")
	pids := map[int]bool{}
	var mu sync.Mutex // guards pids
	var clients sync.WaitGroup
	for range 6 {
		clients.Go(func() {
			r := run(t, "status", "--json")
			r.want(t, ExitOK)
			mu.Lock()
			defer mu.Unlock()
			pids[daemonPID(t, r)] = true
		})
	}
	clients.Wait()
	if len(pids) != 1 {
		t.Errorf("daemons: %v", pids)
	}
}

func TestADaemonThatDiesShowsItsLastWords(t *testing.T) {
	background(t, "broken")
	r := run(t, "search", "refund")
	r.want(t, ExitUnreachable, "quern: cannot start the daemon: it ended with code 4; it said:\n", "the disk is on fire",
		"no index can be made", "daemon.log")
}

// A daemon that is just ending still holds the lock: its successor is started
// again once the lock is free.
func TestAStartSurvivesADaemonThatIsJustEnding(t *testing.T) {
	background(t, "serve")
	socket, err := config.Default().SocketPath("")
	must(err)
	l, err := server.Listen(socket)
	must(err)
	must(os.Remove(socket))
	release := time.AfterFunc(1500*time.Millisecond, func() { l.Close() })
	defer release.Stop()
	run(t, "search", "refund").want(t, ExitOK, "Refunds go back")
}

func TestRelativePathsMeanTheSameToTheDaemon(t *testing.T) {
	dir := background(t, "serve")
	t.Chdir(dir)
	must(os.Mkdir("s", 0o700))
	t.Setenv("QUERN_SOCKET", "s/x.sock")
	t.Setenv("QUERN_DATA", "d")
	run(t, "search", "refund").want(t, ExitOK)
	for _, name := range []string{"s/x.sock", "d/daemon.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	run(t, "stop").want(t, ExitOK)
	must(os.WriteFile("my.toml", nil, 0o600))
	run(t, "--config", "my.toml", "--socket", "s/y.sock", "search", "refund").want(t, ExitOK)
	log, _ := os.ReadFile("d/daemon.log")
	if !strings.Contains(string(log), "config="+dir+"/my.toml") {
		t.Errorf("log: %s", log)
	}
	run(t, "--socket", "s/y.sock", "stop").want(t, ExitOK)
}

// As with go run, whose binary is removed when the client has ended.
func TestTheDaemonOutlivesItsProgramFile(t *testing.T) {
	dir := background(t, "serve")
	program := filepath.Join(dir, "quern")
	copyFile(t, os.Args[0], program)
	out, err := exec.Command(program, "search", "refund").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Refunds go back") {
		t.Fatalf("%v: %s", err, out)
	}
	must(os.Remove(program))
	run(t, "--no-start", "search", "refund").want(t, ExitOK, "Refunds go back")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	must(err)
	_, err = io.Copy(out, in)
	must(err)
	must(out.Close())
}

func TestALongLogIsShortenedAtTheStart(t *testing.T) {
	dir := background(t, "serve")
	log := filepath.Join(dir, "k/quern/daemon.log")
	must(os.MkdirAll(filepath.Dir(log), 0o700))
	must(os.WriteFile(log, []byte(strings.Repeat("an old line of the log\n", 200_000)), 0o600))
	run(t, "search", "refund").want(t, ExitOK)
	if info, err := os.Stat(log); err != nil || info.Size() > logLimit/2 {
		t.Errorf("%v %v", info.Size(), err)
	}
}

func TestTheLogStaysWithinItsLimit(t *testing.T) {
	file, err := openLog(filepath.Join(t.TempDir(), "a/daemon.log"))
	must(err)
	defer file.Close()
	log := newBoundedLog(file)
	line := strings.Repeat("x", 999) + "\n"
	for range 3 * logLimit / len(line) {
		if _, err := log.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Write([]byte("the newest line\n")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file.Name())
	must(err)
	if len(text) > logLimit || !strings.HasSuffix(string(text), "\nthe newest line\n") || !strings.HasPrefix(string(text), line) {
		t.Errorf("%d bytes, ending in %q", len(text), text[max(0, len(text)-40):])
	}
}
