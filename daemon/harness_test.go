package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quern/daemon"
	"quern/ipc"
	"quern/ipc/client"
)

// TestMain is also that of the daemon's extraction processes: the test binary itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == daemon.WorkerVerb {
		os.Exit(daemon.Worker(os.Args[2:]))
	}
	if os.Getenv(visitorVariable) != "" {
		os.Exit(visit())
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait; it is long because test machines are slow.
const patience = 60 * time.Second

// harness is a daemon in this process, with a client connected to its real
// socket, over a folder of the test's own.
type harness struct {
	t      testing.TB
	dir    string // everything is below it
	notes  string // the folder
	config string // path of the config file
	socket string
	client *client.Client
	done   chan error
	cancel func()
	ended  bool
}

// stop ends the daemon, if that has not been done.
func (h *harness) stop() {
	if h.ended {
		return
	}
	h.ended = true
	h.cancel()
	if h.client != nil {
		h.client.Close()
	}
	select {
	case err := <-h.done:
		if err != nil {
			h.t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		h.t.Error("the daemon does not end")
	}
}

// start runs a daemon over an empty folder, or over the one at notes. extra is
// added to the config after the folder's table.
func start(t *testing.T, extra string) *harness {
	t.Helper()
	dir := shortDir(t)
	notes := filepath.Join(dir, "notes")
	mkdir(t, notes)
	return startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n"+extra)
}

func startOn(t testing.TB, dir, notes, cfg string) *harness {
	t.Helper()
	return startWith(t, dir, notes, cfg, daemon.Options{})
}

// startWith is startOn with options of the daemon's beside the usual ones.
func startWith(t testing.TB, dir, notes, cfg string, o daemon.Options) *harness {
	t.Helper()
	h := &harness{
		t: t, dir: dir, notes: notes, config: filepath.Join(dir, "config", "config.toml"),
		socket: filepath.Join(dir, "run", "q.sock"), done: make(chan error, 1),
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("QUERN_DATA", filepath.Join(dir, "data"))
	mkdir(t, filepath.Dir(h.config))
	write(t, h.config, cfg)
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan struct{})
	go func() {
		o.ConfigPath, o.Socket, o.Version = h.config, h.socket, "test"
		o.Ready = func() { close(ready) }
		h.done <- daemon.Run(ctx, o)
	}()
	h.cancel = cancel
	t.Cleanup(h.stop)
	select {
	case <-ready:
	case err := <-h.done:
		h.done <- nil
		t.Fatalf("the daemon ended: %v", err)
	case <-time.After(patience):
		t.Fatal("the daemon is not ready")
	}
	var err error
	if h.client, err = client.Dial(ctx, h.socket); err != nil {
		t.Fatal(err)
	}
	return h
}

// call asks the daemon and fails the test on an error.
func call[R any](h *harness, method string, params any) R {
	h.t.Helper()
	result, err := try[R](h, method, params)
	if err != nil {
		h.t.Fatalf("%s %+v: %v", method, params, err)
	}
	return result
}

func try[R any](h *harness, method string, params any) (result R, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var raw json.RawMessage
	if err = h.client.Call(ctx, method, params, &raw); err != nil {
		return result, err
	}
	checkSchemas(h, method, params, raw)
	return result, json.Unmarshal(raw, &result)
}

// code is the protocol's code of an error, 0 for another kind of error.
func code(err error) int {
	var e *ipc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// search asks with sync, patiently.
func (h *harness) search(query string) ipc.SearchResult {
	h.t.Helper()
	r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{
		Query: query, K: 100, Sync: true, SyncTimeoutMS: int(patience.Milliseconds()),
	})
	if r.Stale {
		h.t.Fatalf("search %q: still stale after %v", query, patience)
	}
	return r
}

// rels are the paths of the hits within their folders.
func rels(r ipc.SearchResult) string {
	var out []string
	for _, hit := range r.Hits {
		out = append(out, hit.Rel)
	}
	return strings.Join(out, " ")
}

func (h *harness) sync() {
	h.t.Helper()
	call[ipc.SyncResult](h, ipc.MethodSync, ipc.SyncParams{TimeoutMS: int(patience.Milliseconds())})
}

// file is the state of one file, once all is quiet.
func (h *harness) file(name string) ipc.FileStatus {
	h.t.Helper()
	h.sync()
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{Path: h.path(name)})
	return *s.File
}

func (h *harness) path(name string) string { return filepath.Join(h.notes, name) }

func (h *harness) write(name, text string) {
	h.t.Helper()
	mkdir(h.t, filepath.Dir(h.path(name)))
	write(h.t, h.path(name), text)
}

// until polls the daemon's status until it satisfies cond.
func (h *harness) until(what string, cond func(ipc.StatusResult) bool) ipc.StatusResult {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
		if cond(s) {
			return s
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("never came: %s; status %+v", what, s)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// shortDir is a temporary directory whose path leaves room for a socket's.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "q")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
