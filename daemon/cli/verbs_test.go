package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quern/config"
	"quern/ipc"
)

func TestVerbsMatchTheGoldenFiles(t *testing.T) {
	tests := []struct {
		name    string
		columns int
		args    []string
	}{
		{"status-piped", 0, []string{"status"}},
		{"status-terminal", 100, []string{"status"}},
		{"status-narrow", 40, []string{"status"}},
		{"folders-narrow", 60, []string{"folders", "list"}},
		{"explain-narrow", 60, []string{"explain", "billing refunds chargeback", "/home/u/help/guide.md#3"}},
		{"status-json", 0, []string{"status", "--json"}},
		{"status-file", 0, []string{"status", "--file", "/home/u/help/logo.png"}},
		{"status-file-json", 0, []string{"status", "--json", "--file", "/home/u/help/logo.png"}},
		{"show-piped", 0, []string{"show", "/home/u/help/guide.md"}},
		{"show-terminal", 80, []string{"show", "/home/u/help/guide.md"}},
		{"show-json", 0, []string{"show", "--json", "/home/u/help/guide.md"}},
		{"explain", 0, []string{"explain", "billing refunds chargeback", "/home/u/help/guide.md#3"}},
		{"explain-json", 0, []string{"explain", "--json", "billing", "/home/u/help/guide.md#3"}},
		{"folders", 0, []string{"folders", "list"}},
		{"folders-json", 0, []string{"folders", "list", "--json"}},
		{"help", 0, []string{"help"}},
		{"help-search", 0, []string{"help", "search"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home(t)
			f := newFake(t)
			f.folder = quiet().Folders
			r := console{out: tt.columns}.run(t, tt.args...)
			r.want(t, ExitOK)
			golden(t, tt.name, r.out)
			if r.err != "" {
				t.Errorf("stderr: %s", r.err)
			}
		})
	}
}

// Every verb that asks the daemon ends with 3 when there is none and none may
// be started, and with 2 when its arguments are wrong.
func TestExitCodesOfEveryVerb(t *testing.T) {
	home(t)
	for _, args := range [][]string{
		{"search", "x"}, {"status"}, {"show", "x"}, {"explain", "x", "y#0"}, {"folders", "list"}, {"folders", "add", "."},
		{"folders", "remove", "x"}, {"reindex", "x"}, {"reload"}, {"stop"},
	} {
		run(t, append([]string{"--no-start"}, args...)...).want(t, ExitUnreachable, "quern: no daemon is running: nothing answers at ")
	}
	for _, args := range [][]string{
		{}, {"nope"}, {"status", "x"}, {"status", "--watch", "--wait"}, {"show"}, {"show", "a", "b"}, {"explain", "x"},
		{"explain", "x", "no-number"}, {"explain", " ", "y#0"}, {"folders"}, {"folders", "nope"}, {"folders", "add"},
		{"folders", "add", "no-such-dir"}, {"folders", "remove"}, {"reindex"}, {"reload", "x"}, {"stop", "x"},
		{"init", "no-such-dir"}, {"completion"}, {"completion", "tcsh"}, {"version", "x"}, {"help", "nope"},
		{"--log-level", "loud", "version"}, {"serve", "x"},
	} {
		r := run(t, args...)
		if r.code != ExitUsage || r.err == "" || r.out != "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestAnUnknownVerbIsGuessed(t *testing.T) {
	run(t, "serch").want(t, ExitUsage, `quern: unknown verb "serch" (did you mean quern serve or quern search?)`)
}

func TestStatusWaitReturnsWhenQuiescent(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(1, 3), busyStatus(2, 3), quiet()}
	timeouts := 1
	f.fail[ipc.MethodSync] = ipc.Errorf(ipc.CodeTimeout, "timed out")
	f.onCall[ipc.MethodSync] = func() {
		if timeouts--; timeouts < 0 {
			delete(f.fail, ipc.MethodSync)
		}
	}
	console{err: 80}.run(t, "status", "--wait").want(t, ExitOK, "scanning: 2 of 3 files", "quiescent")
	want := []string{"status", "status", "status", "sync", "status", "sync", "status"}
	if got := f.called(); !reflect.DeepEqual(got, want) {
		t.Errorf("calls: %v", got)
	}
}

// What changed while the wait was for something else is waited for too, but
// not for ever where something changes all the time.
func TestStatusWaitWaitsOnForLaterChanges(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{quiet(), busyStatus(1, 3), busyStatus(2, 3), quiet()}
	run(t, "status", "--wait").want(t, ExitOK, "quiescent")
	syncs := 0
	f.mu.Lock()
	f.calls = nil
	f.onCall[ipc.MethodSync] = func() { f.status = []ipc.StatusResult{busyStatus(1, 3), quiet(), quiet()}; syncs++ }
	f.mu.Unlock()
	run(t, "status", "--wait").want(t, ExitOK, "scanning: 1 of 3 files")
	if syncs != mostWaits {
		t.Errorf("waited %d times", syncs)
	}
}

func TestASocketThatOthersCouldReplaceIsExplainedOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := home(t)
	must(os.Mkdir(dir+"/open", 0o700))
	must(os.Chmod(dir+"/open", 0o777))
	r := run(t, "--no-start", "--socket", dir+"/open/q.sock", "status")
	r.want(t, ExitUnreachable, "quern: cannot reach the daemon: ", "writable by others", "chmod go-w")
	if strings.Contains(r.err, "runs for one user") {
		t.Errorf("stderr: %s", r.err)
	}
}

func TestStatusWaitEndsWhenInterrupted(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(1, 3)}
	ctx, cancel := context.WithCancel(t.Context())
	f.onCall[ipc.MethodStatus] = cancel
	console{ctx: ctx}.run(t, "status", "--wait").want(t, ExitFailure, "interrupted")
}

func TestStatusWatchShowsItAnewUntilInterrupted(t *testing.T) {
	home(t)
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	f.onCall[ipc.MethodStatus] = func() {
		if asked++; asked == 2 {
			cancel()
		}
	}
	r := console{ctx: ctx, out: 80}.run(t, "status", "--watch")
	r.want(t, ExitOK)
	if n := strings.Count(r.out, "\x1b[H\x1b[2J"); n < 1 {
		t.Errorf("drawn %d times", n)
	}
}

func TestStatusShowsABadConfig(t *testing.T) {
	home(t)
	f := newFake(t)
	s := quiet()
	s.ConfigError = "/c/config.toml:3: unknown key \"exclde\"\n/c/config.toml:9: bad value"
	f.status = []ipc.StatusResult{s}
	run(t, "status").want(t, ExitOK, "  error  /c/config.toml:3: unknown key \"exclde\"\n", "\n         /c/config.toml:9: bad value\n", "stays in force")
}

func TestStatusCutsALongListOfProblems(t *testing.T) {
	home(t)
	f := newFake(t)
	s := quiet()
	s.Problems = slices.Repeat(s.Problems[:1], 50)
	s.Files.Skipped, s.Files.Failed = 1500, 0
	f.status = []ipc.StatusResult{s}
	r := run(t, "status")
	r.want(t, ExitOK, "\n  skipped: 50 binary file, 1,450 more; quern status --json lists the first 50\n")
	if strings.Contains(r.out, "logo.png") {
		t.Errorf("problems are listed one by one")
	}
	// Failures and directories that cannot be read come first, one by one.
	s.Problems = nil
	for i := range 30 {
		path := fmt.Sprintf("/home/u/help/%d", i)
		s.Problems = append(s.Problems, ipc.FileStatus{Path: path, State: ipc.FileSkipped, Reason: fmt.Sprintf("binary: NUL byte at offset %d", i)})
	}
	s.Problems = append(s.Problems,
		ipc.FileStatus{Path: "/home/u/help/big", State: ipc.FileSkipped, Reason: "larger than max_file_size: 200 MiB, the limit is 64 MiB"},
		ipc.FileStatus{Path: "/home/u/help/locked", State: ipc.FileSkipped, Reason: "cannot be read: permission denied"},
		ipc.FileStatus{Path: "/home/u/help/bad", State: ipc.FileFailed, Reason: "input/output error"})
	s.Files.Skipped, s.Files.Failed = 32, 1
	f.mu.Lock()
	f.status = []ipc.StatusResult{s}
	f.mu.Unlock()
	run(t, "status").want(t, ExitOK, "problems\n  failed   /home/u/help/bad     input/output error\n"+
		"  skipped  /home/u/help/locked  cannot be read: permission denied\n"+
		"  skipped: 30 binary, 1 larger than max_file_size; quern status --json lists them\n")
	console{out: 40}.run(t, "status").want(t, ExitOK, "\n  skipped: 30 binary, 1 larger than\n  max_file_size; quern status --json\n  lists them\n")
}

func TestShowAsksForTheFileThatExists(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.WriteFile("c#1", nil, 0o600))
	f := newFake(t)
	one := 1
	for _, tt := range []struct {
		arg  string
		want ipc.PassagesParams
	}{
		{"a.md", ipc.PassagesParams{Path: dir + "/a.md"}},
		{"a.md#1", ipc.PassagesParams{Path: dir + "/a.md", N: &one}},
		{"c#1", ipc.PassagesParams{Path: dir + "/c#1"}},
		{"c#1#1", ipc.PassagesParams{Path: dir + "/c#1", N: &one}},
		{"notes#x", ipc.PassagesParams{Path: dir + "/notes#x"}},
		{"sub/../a.md", ipc.PassagesParams{Path: dir + "/a.md"}},
		{"bad\xffname", ipc.PassagesParams{Path: dir + "/bad\x00ffname"}},
	} {
		run(t, "show", tt.arg).want(t, ExitOK)
		if got := lastParams[ipc.PassagesParams](t, f, ipc.MethodPassages); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v", tt.arg, got)
		}
	}
}

func TestShowResolvesLinksWhenTheNameIsNotKnown(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.WriteFile("real.md", nil, 0o600))
	must(os.Symlink("real.md", "link.md"))
	f := newFake(t)
	f.fail[ipc.MethodPassages] = ipc.Errorf(ipc.CodeNotFound, "not in the index: skipped: binary file")
	f.onCall[ipc.MethodPassages] = func() {
		if f.params[ipc.MethodPassages].(ipc.PassagesParams).Path == dir+"/real.md" {
			delete(f.fail, ipc.MethodPassages)
		}
	}
	run(t, "show", "other.md").want(t, ExitFailure, "quern: cannot show it: not in the index: skipped: binary file")
	run(t, "show", "link.md").want(t, ExitOK, "Money")
}

func TestExplainSendsItsFlags(t *testing.T) {
	home(t)
	f := newFake(t)
	run(t, "explain", "--model", "bm25", "--tf", "raw", "--literal", "two", "words", "/x/y.md#4").want(t, ExitOK)
	want := ipc.ExplainParams{Query: "two words", Path: "/x/y.md", Passage: 4, Model: "bm25", TF: "raw", Literal: true}
	if got := lastParams[ipc.ExplainParams](t, f, ipc.MethodExplain); got != want {
		t.Errorf("%+v", got)
	}
	f.fail[ipc.MethodExplain] = ipc.Errorf(ipc.CodeBadQuery, "bad phrase")
	run(t, "explain", "x", "/x/y.md#4").want(t, ExitUsage, "bad query: bad phrase")
}

func TestFoldersAddAndRemove(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.Mkdir("notes", 0o700))
	f := newFake(t)
	run(t, "folders", "add", "--name", "n", "notes").want(t, ExitOK, "watching "+dir+"/notes\n")
	want := ipc.FolderParams{Path: dir + "/notes", Name: "n"}
	if got := lastParams[ipc.FolderParams](t, f, ipc.MethodFoldersAdd); got != want {
		t.Errorf("added %+v", got)
	}
	run(t, "folders", "remove", "notes/sub").want(t, ExitFailure, "it lies in the folder n")
	for _, arg := range []string{"n", "notes", dir + "/notes/"} {
		run(t, "folders", "remove", arg).want(t, ExitOK, "no longer watching "+dir+"/notes\n")
		if got := lastParams[ipc.FolderParams](t, f, ipc.MethodFoldersRemove); got.Path != dir+"/notes" {
			t.Errorf("removed %+v", got)
		}
	}
}

func TestReindexAndReload(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	f := newFake(t)
	run(t, "reindex", "a.md").want(t, ExitOK, "read anew: "+dir+"/a.md (generation 8)\n")
	run(t, "reload").want(t, ExitOK, "reloaded\n")
	f.fail[ipc.MethodReindex] = ipc.Errorf(ipc.CodeNotFound, "in no folder")
	run(t, "reindex", "a.md").want(t, ExitFailure, "in no folder")
	f.fail[ipc.MethodReload] = ipc.Errorf(ipc.CodeInvalidParams, "config.toml:3: unknown key")
	run(t, "reload").want(t, ExitFailure, "config.toml:3: unknown key", "stays in force")
}

func TestStopWaitsUntilTheDaemonHasGone(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status[0].PID = os.Getpid() // which does not end
	run(t, "stop").want(t, ExitOK, "stopped\n")
	if _, err := os.Stat(f.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	run(t, "stop").want(t, ExitUnreachable, "nothing to stop")
}

func TestADaemonOfAnotherProtocolIsRefused(t *testing.T) {
	if err := compatible(ipc.HelloResult{Protocol: "2.0", Version: "9"}); exitCode(err) != ExitFailure ||
		!strings.Contains(err.Error(), "quern stop") {
		t.Error(err)
	}
	if err := compatible(ipc.HelloResult{Protocol: "1.9"}); err != nil {
		t.Error(err)
	}
}

func TestInitWritesAConfigOnce(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.MkdirAll("my notes", 0o700))
	must(os.MkdirAll("x/docs", 0o700))
	must(os.MkdirAll("y/docs", 0o700))
	file := filepath.Join(dir, "c/quern/config.toml")
	run(t, "init", "x/docs", "y/docs").want(t, ExitUsage, "docs")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("a config that does not load was written")
	}
	run(t, "init", "my notes", "x/docs").want(t, ExitOK, "wrote "+file, "quern search", "quern serve")
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Folders) != 2 || c.Folders[0].Path != dir+"/my notes" || c.Folders[1].Name != "docs" {
		t.Errorf("folders: %+v", c.Folders)
	}
	before, _ := os.ReadFile(file)
	run(t, "init").want(t, ExitFailure, "exists already", "quern folders add")
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("the config was overwritten")
	}
	other := filepath.Join(dir, "other.toml")
	run(t, "--config", other, "init").want(t, ExitOK, "wrote "+other, "  quern --config "+other+" folders add FOLDER\n",
		"  quern --config "+other+" search \"words to find\"\n", "  quern --config "+other+" status\n")
	run(t, "--config", "it's mine.toml", "init").want(t, ExitOK, `  quern --config 'it'\''s mine.toml' status`)
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestABadConfigDoesNotKeepClientsFromARunningDaemon(t *testing.T) {
	dir := home(t)
	must(os.MkdirAll(dir+"/c/quern", 0o700))
	must(os.WriteFile(dir+"/c/quern/config.toml", []byte("[chunk]\nstrategy = \"sentence\"\n"), 0o600))
	run(t, "search", "x").want(t, ExitFailure, "config.toml:2", "strategy")
	newFake(t)
	run(t, "search", "x").want(t, ExitOK)
}

func TestANamedConfigMustExist(t *testing.T) {
	home(t)
	served := Hooks{Serve: func(context.Context, ServeOptions) error { return nil }}
	c := console{hooks: served}
	refused := func() {
		t.Helper()
		for _, args := range [][]string{
			{"search", "x"}, {"status"}, {"show", "x"}, {"explain", "x", "y#0"}, {"folders", "list"}, {"folders", "add", "."},
			{"folders", "remove", "x"}, {"reindex", "x"}, {"reload"}, {"stop"}, {"serve"},
		} {
			c.run(t, append([]string{"--config", "/nowhere/none.toml"}, args...)...).want(t, ExitFailure, "/nowhere/none.toml")
		}
	}
	refused()
	newFake(t) // a daemon that runs makes no difference
	refused()
	c.run(t, "--config", "/nowhere/none.toml", "version").want(t, ExitOK)
	c.run(t, "--config", "/nowhere/none.toml", "completion", "bash").want(t, ExitOK)
	c.run(t, "--config", "/nowhere/none.toml", "help", "search").want(t, ExitOK)
}

// A daemon with another config would answer about other folders.
func TestADaemonWithAnotherConfigIsRefused(t *testing.T) {
	dir := home(t)
	mine := filepath.Join(dir, "mine.toml")
	must(os.WriteFile(mine, nil, 0o600))
	must(os.WriteFile(filepath.Join(dir, "other.toml"), nil, 0o600))
	must(os.Symlink("mine.toml", filepath.Join(dir, "link.toml")))
	f := newFake(t)
	f.status[0].Config = filepath.Join(dir, "other.toml")
	f.status[0].PID = os.Getpid()
	want := "quern: the daemon at " + f.socket + " uses another config (" + dir + "/other.toml); stop it, or give a second one its own --socket and QUERN_DATA\n"
	for _, args := range [][]string{{"search", "x"}, {"status"}, {"folders", "list"}, {"reload"}} {
		run(t, append([]string{"--config", mine}, args...)...).want(t, ExitFailure, want)
	}
	run(t, "search", "x").want(t, ExitOK) // what was found by default may be any
	t.Setenv("QUERN_CONFIG", mine)
	run(t, "search", "x").want(t, ExitFailure, want)
	f.mu.Lock()
	f.status[0].Config = filepath.Join(dir, "link.toml")
	f.mu.Unlock()
	run(t, "search", "x").want(t, ExitOK)
	f.mu.Lock()
	f.status[0].Config = filepath.Join(dir, "other.toml")
	f.mu.Unlock()
	run(t, "stop").want(t, ExitOK) // as the message asks for
}

func TestADaemonOfAnotherVersionIsNamed(t *testing.T) {
	home(t)
	f := newFake(t)
	f.version = "1.2.3"
	if r := run(t, "search", "x"); r.err != "" {
		t.Errorf("stderr: %s", r.err)
	}
	f.version = "1.2.2"
	want := "quern: the running daemon is another version (1.2.2, this is 1.2.3): quern stop ends it, and the next command starts the new one\n"
	if r := run(t, "search", "--json", "x"); r.err != want || r.code != ExitOK {
		t.Errorf("code %d, stderr: %s", r.code, r.err)
	}
}

func TestStopWaitsForTheProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the socket alone tells here")
	}
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Skip("no process to wait for:", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := awaitEnd(short, sleeper.Process.Pid); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a process that runs: %v", err)
	}
	must(sleeper.Process.Kill())
	if runtime.GOOS == "linux" { // elsewhere one that nobody waits for counts as running
		if err := awaitEnd(t.Context(), sleeper.Process.Pid); err != nil {
			t.Error(err)
		}
	}
	_ = sleeper.Wait() // killed
	if err := awaitEnd(t.Context(), sleeper.Process.Pid); err != nil {
		t.Error(err)
	}
}

func TestServePassesItsOptionsOn(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	var got ServeOptions
	serve := func(_ context.Context, o ServeOptions) error {
		o.Log.Debug("a detail", "key", "value")
		o.Ready()
		got = o
		return nil
	}
	r := console{hooks: Hooks{Serve: serve}}.run(t, "serve", "--log-level", "debug", "--log-format", "json", "--socket", "s.sock")
	r.want(t, ExitOK, `"msg":"a detail","key":"value"`, `"msg":"ready"`)
	if got.Socket != dir+"/s.sock" || got.ConfigPath != dir+"/c/quern/config.toml" || got.Version != "1.2.3" || got.IdleExit != 0 {
		t.Errorf("%+v", got)
	}
	console{hooks: Hooks{Serve: serve}}.run(t, "serve", "--background").want(t, ExitOK)
	if got.IdleExit != 10*time.Minute || got.Socket != "" {
		t.Errorf("%+v", got)
	}
}

func TestServeFailsWithTheDaemonsError(t *testing.T) {
	home(t)
	inUse := errors.New("the socket is in use")
	hooks := Hooks{InUse: inUse, Serve: func(context.Context, ServeOptions) error { return errors.Join(inUse) }}
	console{hooks: hooks}.run(t, "serve").want(t, ExitFailure, "quern: cannot serve: the socket is in use")
	console{hooks: hooks}.run(t, "serve", "--background").want(t, exitTaken)
}

func TestServeEndsWhenInterrupted(t *testing.T) {
	home(t)
	hooks := Hooks{Serve: func(ctx context.Context, _ ServeOptions) error {
		interruptSelf(t)
		<-ctx.Done()
		return nil
	}}
	console{hooks: hooks}.run(t, "serve").want(t, ExitOK)
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version", "-v"} {
		r := run(t, arg)
		r.want(t, ExitOK, "quern 1.2.3\nprotocol "+ipc.ProtocolVersion+"\n")
		if r.err != "" || strings.Count(r.out, "\n") != 3 {
			t.Errorf("%s: %+v", arg, r)
		}
	}
}

func TestCompletions(t *testing.T) {
	dir := home(t)
	t.Chdir(dir)
	must(os.MkdirAll("notes", 0o700))
	run(t, "init", "notes").want(t, ExitOK)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"se", []string{"serve", "search"}},
		{"search --mod", []string{"--model"}},
		{"search --model ", []string{"tfidf", "bm25", "best"}},
		{"search --collapse ", []string{"document", "none"}},
		{"search --tf ", []string{"log", "raw"}},
		{"search --folder ", []string{"notes"}},
		{"folders ", []string{"list", "add", "remove"}},
		{"folders remove ", []string{"notes"}},
		{"search -- -ty", []string{"-type:"}},
		{"search he", []string{"heading:"}},
		{"search folder:n", []string{"folder:notes"}},
		{"completion ", []string{"bash", "zsh", "fish", "powershell"}},
		{"help st", []string{"status", "stop"}},
		{"--log-level ", []string{"debug", "info", "warn", "error"}},
	} {
		r := run(t, append([]string{"__complete"}, strings.Split(tt.args, " ")...)...)
		r.want(t, ExitOK)
		var got []string
		for line := range strings.Lines(r.out) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if !strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q completes to %q, want %q", tt.args, got, tt.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		run(t, "completion", shell).want(t, ExitOK, "quern")
	}
}

func TestJSONOfStatusIsTheProtocols(t *testing.T) {
	home(t)
	newFake(t)
	var got ipc.StatusResult
	if err := json.Unmarshal([]byte(run(t, "status", "--json").out), &got); err != nil || !reflect.DeepEqual(got, quiet()) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, quiet())
	}
}
