package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"quern/ipc"
)

func TestSearchModesMatchTheGoldenFiles(t *testing.T) {
	tests := []struct {
		name    string
		columns int
		args    []string
	}{
		{"search-piped", 0, nil},
		{"search-terminal", 60, nil},
		{"search-narrow", 24, nil},
		{"search-no-text", 0, []string{"--no-text"}},
		{"search-json", 0, []string{"--json"}},
		{"search-jsonl", 0, []string{"--jsonl"}},
		{"search-vimgrep", 0, []string{"--vimgrep"}},
		{"search-files", 0, []string{"-l"}},
		{"search-nul", 0, []string{"-0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home(t)
			newFake(t)
			r := console{out: tt.columns}.run(t, append([]string{"search", "refund"}, tt.args...)...)
			r.want(t, ExitOK)
			golden(t, tt.name, r.out)
			if r.err != "" {
				t.Errorf("stderr: %s", r.err)
			}
		})
	}
}

func TestSearchWithoutColour(t *testing.T) {
	for _, variable := range []string{"NO_COLOR=1", "TERM=dumb"} {
		t.Run(variable, func(t *testing.T) {
			home(t)
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
			newFake(t)
			r := console{out: 80}.run(t, "search", "refund")
			r.want(t, ExitOK, "Refunds go back")
			if strings.Contains(r.out, "\x1b") {
				t.Errorf("escape sequences in %q", r.out)
			}
		})
	}
}

func TestSearchSendsItsFlags(t *testing.T) {
	home(t)
	f := newFake(t)
	run(t, "search", "-k", "3", "--offset", "2", "--path", "*.md", "--type", ".md,txt", "--since", "7d", "--before", "2026-01-01",
		"--model", "bm25", "--tf", "raw", "--collapse", "none", "--budget", "500", "--sync-timeout", "3s", "--explain",
		"--no-text", "--literal", "--duplicates", "show", "two", "words").want(t, ExitOK)
	no := false
	want := ipc.SearchParams{Query: "two words", K: 3, Offset: 2, Path: "*.md", Types: []string{"md", "txt"}, Since: "7d",
		Before: "2026-01-01", Model: "bm25", TF: "raw", Collapse: "none", Budget: 500, Sync: true, SyncTimeoutMS: 3000,
		Explain: true, Text: &no, Literal: true, Duplicates: "show"}
	if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSearchDefaults(t *testing.T) {
	home(t)
	f := newFake(t)
	run(t, "search", "word").want(t, ExitOK)
	yes := true
	want := ipc.SearchParams{Query: "word", K: 10, Collapse: "document", Sync: true, SyncTimeoutMS: 2000, Text: &yes, Duplicates: "fold"}
	if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSearchUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{}, {"  "}, {"-k", "0", "x"}, {"-k", "many", "x"}, {"--offset", "-1", "x"}, {"--budget", "-1", "x"},
		{"--sync-timeout", "0s", "x"}, {"--json", "--jsonl", "x"}, {"-0", "--vimgrep", "x"}, {"--nope", "x"},
		{"--folder", "no-such-folder", "x"}, {"--folder", "search_test.go", "x"}, {"-not"},
		{"--log-level", "loud", "x"}, {"--log-format", "xml", "x"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			home(t)
			newFake(t)
			r := run(t, append([]string{"search"}, args...)...)
			r.want(t, ExitUsage, "quern: ")
			if r.out != "" {
				t.Errorf("stdout: %s", r.out)
			}
		})
	}
}

func TestSearchErrorsOfTheDaemon(t *testing.T) {
	column := json.RawMessage(`{"column": 9}`)
	tests := []struct {
		name string
		err  error
		code int
		says string
	}{
		{"bad query", &ipc.Error{Code: ipc.CodeBadQuery, Message: "the phrase is not closed", Data: column}, ExitUsage,
			"bad query: the phrase is not closed\n  müller 界\"open\n           ^\n"},
		{"bad params", ipc.Errorf(ipc.CodeInvalidParams, "k: 5000 is over the limit"), ExitUsage, "over the limit"},
		{"busy", ipc.Errorf(ipc.CodeBusy, "too busy"), ExitFailure, "try again"},
		{"ending", ipc.Errorf(ipc.CodeShuttingDown, "shutting down"), ExitUnreachable, "shutting down"},
		{"internal", errors.New("the index is on fire"), ExitFailure, "on fire"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home(t)
			f := newFake(t)
			f.fail[ipc.MethodSearch] = tt.err
			run(t, "search", "müller 界\"open").want(t, tt.code, "quern: ", tt.says)
		})
	}
}

func TestSearchWithoutHits(t *testing.T) {
	home(t)
	f := newFake(t)
	f.result.Hits = []ipc.Hit{}
	r := run(t, "search", "chargeback")
	r.want(t, ExitNoHits)
	if r.out+r.err != "" {
		t.Errorf("piped, no hits must be silent: %+v", r)
	}
	console{err: 80}.run(t, "search", "chargeback").want(t, ExitNoHits, "no hits among 4 passages")
	run(t, "search", "--json", "chargeback").want(t, ExitNoHits, `"hits":[]`)
	f.mu.Lock()
	f.result.Passages = 0
	f.mu.Unlock()
	run(t, "search", "chargeback").want(t, ExitNoHits, "nothing is indexed", "quern init")
}

func TestSearchSuggestsOtherQueries(t *testing.T) {
	home(t)
	f := newFake(t)
	f.result.Hits, f.result.Total, f.result.Suggestions = []ipc.Hit{}, 0, []string{"refunds", "re funds"}
	r := run(t, "search", "--type", "md", "refnds")
	r.want(t, ExitNoHits, "quern: no hits; did you mean: refunds? or: re funds?\n")
	if strings.Contains(r.err, "refnds") {
		t.Errorf("stderr: %s", r.err)
	}
}

func TestSearchFoldsDuplicates(t *testing.T) {
	home(t)
	f := newFake(t)
	for _, path := range []string{"/a.txt", "/b.txt", "/c.txt", "/d.txt"} {
		f.result.Hits[0].Duplicates = append(f.result.Hits[0].Duplicates, ipc.Duplicate{Path: path, Lines: [2]int{3, 5}})
	}
	run(t, "search", "refund").want(t, ExitOK, "  same as /a.txt:3-5, /b.txt:3-5, /c.txt:3-5 and 1 more\n")
	for _, places := range []string{"--files", "--vimgrep"} {
		run(t, "search", places, "refund").want(t, ExitOK)
		if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch); got.Duplicates != "" {
			t.Errorf("%s: duplicates %q", places, got.Duplicates)
		}
	}
}

func TestTheDaemonsSnippetIsShown(t *testing.T) {
	home(t)
	f := newFake(t)
	h := &f.result.Hits[1]
	at := strings.LastIndex(h.Text, "either")
	h.Snippet = &[2]int{at, at + 6}
	r := run(t, "search", "refund")
	r.want(t, ExitOK, "sentence either.")
	if strings.Contains(r.out, "How long") {
		t.Errorf("the part with the most marks is shown: %s", r.out)
	}
}

func TestSearchSaysThatTheAnswerIsStale(t *testing.T) {
	home(t)
	f := newFake(t)
	f.result.Stale, f.result.Pending = true, 12
	r := run(t, "search", "refund")
	r.want(t, ExitOK, "Refunds go back")
	if !strings.HasPrefix(r.err, "quern: the answer may be stale: 12 changes are not yet searchable") {
		t.Errorf("stderr: %s", r.err)
	}
}

func busyStatus(done, total int) ipc.StatusResult {
	s := quiet()
	s.State, s.Pending = ipc.StateScanning, total-done
	s.Progress = ipc.Progress{Done: done, Total: total, FilesPerSec: 310, SecondsLeft: 75}
	return s
}

func TestSearchShowsProgressOnATerminalOnly(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(120, 9000), busyStatus(8000, 9000), quiet()}
	r := console{err: 200}.run(t, "search", "refund")
	r.want(t, ExitOK, "scanning: 8,000 of 9,000 files, 310/s, 1 min 15 s left (Ctrl-C")
	if !strings.HasSuffix(r.err, "\r\x1b[K") {
		t.Errorf("the progress line stays: %q", r.err)
	}
	f.mu.Lock()
	f.status = []ipc.StatusResult{busyStatus(120, 9000), quiet()}
	f.calls = nil
	f.mu.Unlock()
	if r = run(t, "search", "refund"); r.err != "" {
		t.Errorf("piped: %q", r.err)
	}
	if got := f.called(); !reflect.DeepEqual(got, []string{"status", "search"}) {
		t.Errorf("piped, a daemon that is behind is not waited for beyond sync: %v", got)
	}
}

func TestSearchWaitsForAFirstIndexingEvenWhenPiped(t *testing.T) {
	home(t)
	f := newFake(t)
	first := busyStatus(120, 9000)
	first.FirstIndexing = true
	f.status = []ipc.StatusResult{first, busyStatus(8999, 9000), quiet()}
	run(t, "search", "refund").want(t, ExitOK)
	if got := f.called(); !reflect.DeepEqual(got, []string{"status", "status", "status", "search"}) {
		t.Errorf("calls: %v", got)
	}
}

func TestSearchWithoutSyncAsksAtOnce(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(1, 2)}
	run(t, "search", "--sync=false", "refund").want(t, ExitOK)
	if got := f.called(); !reflect.DeepEqual(got, []string{"search"}) {
		t.Errorf("calls: %v", got)
	}
	if lastParams[ipc.SearchParams](t, f, ipc.MethodSearch).Sync {
		t.Error("sync was sent")
	}
}

func TestAnExplicitSyncTimeoutBoundsTheWholeWait(t *testing.T) {
	home(t)
	f := newFake(t)
	first := busyStatus(1, 9000)
	first.FirstIndexing = true
	f.status = []ipc.StatusResult{first}
	run(t, "search", "--sync-timeout", "30ms", "refund").want(t, ExitOK, "the answer is incomplete: scanning: 1 of 9,000 files")
}

func TestAnInterruptedWaitAnswersFromWhatIsThere(t *testing.T) {
	home(t)
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(1, 9000)}
	asked := 0
	f.onCall[ipc.MethodStatus] = func() {
		if asked++; asked == 3 {
			interruptSelf(t)
		}
	}
	r := console{err: 80}.run(t, "search", "refund")
	r.want(t, ExitOK, "Refunds go back", "the answer is incomplete")
	if lastParams[ipc.SearchParams](t, f, ipc.MethodSearch).Sync {
		t.Error("the search waited again")
	}
}

func interruptSelf(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAnInterruptedRunSaysSo(t *testing.T) {
	home(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newFake(t)
	for _, args := range [][]string{{"search", "x"}, {"stop"}, {"status"}} {
		console{ctx: ctx}.run(t, args...).want(t, ExitFailure, "quern: interrupted")
	}
}

func TestSearchInAFolderByNameOrPath(t *testing.T) {
	dir := home(t)
	notes := filepath.Join(dir, "my notes")
	must(os.Mkdir(notes, 0o700))
	must(os.Symlink(notes, filepath.Join(dir, "link")))
	f := newFake(t)
	f.folder = []ipc.FolderStatus{{Name: "notes", Path: notes}, {Name: "other", Path: dir + "/other"}}
	t.Chdir(dir)
	for _, arg := range []string{"notes", notes, "my notes", "./my notes/", "link"} {
		run(t, "search", "--folder", arg, "refund").want(t, ExitOK)
		if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch).Folders; !reflect.DeepEqual(got, []string{"notes"}) {
			t.Errorf("--folder %q: %v", arg, got)
		}
	}
	run(t, "search", "--folder", "notes", "--folder", "other", "refund").want(t, ExitOK)
	if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch).Folders; !reflect.DeepEqual(got, []string{"notes", "other"}) {
		t.Errorf("two folders: %v", got)
	}
	if slices.Contains(f.called(), ipc.MethodFoldersAdd) {
		t.Error("a watched folder was added")
	}
}

func TestSearchInADirectoryInsideAFolder(t *testing.T) {
	dir := home(t)
	must(os.MkdirAll(filepath.Join(dir, "notes/work"), 0o700))
	f := newFake(t)
	f.folder = []ipc.FolderStatus{{Name: "notes", Path: dir + "/notes"}}
	f.covered = true
	t.Chdir(dir)
	run(t, "search", "--folder", "notes/work", "refund").want(t, ExitOK)
	if got := lastParams[ipc.SearchParams](t, f, ipc.MethodSearch).Folders; !reflect.DeepEqual(got, []string{dir + "/notes/work"}) {
		t.Errorf("searched %v", got)
	}
}

func TestSearchAddsAFolderForTheDaemonsLife(t *testing.T) {
	dir := home(t)
	must(os.Mkdir(filepath.Join(dir, "new"), 0o700))
	f := newFake(t)
	f.status = []ipc.StatusResult{busyStatus(1, 2), busyStatus(1, 2), quiet()}
	t.Chdir(dir)
	run(t, "search", "--folder", "new", "refund").want(t, ExitOK)
	want := ipc.FolderParams{Path: filepath.Join(dir, "new"), Temporary: true}
	if got := lastParams[ipc.FolderParams](t, f, ipc.MethodFoldersAdd); got != want {
		t.Errorf("added %+v", got)
	}
	if got := f.called(); !reflect.DeepEqual(got, []string{"folders.list", "folders.add", "status", "status", "status", "search", "folders.list"}) {
		t.Errorf("calls: %v", got)
	}
}

// brokenWriter fails as a pipe without a reader, or as a full disk.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestOutputThatCannotBeWritten(t *testing.T) {
	home(t)
	newFake(t)
	for _, tt := range []struct {
		err  error
		code int
		says string
	}{
		{&os.PathError{Op: "write", Err: syscall.EPIPE}, ExitOK, ""},
		{io.ErrClosedPipe, ExitOK, ""},
		{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, ExitFailure, "quern: cannot write the output: "},
	} {
		for _, args := range [][]string{{"search", "refund"}, {"status"}, {"show", "x"}, {"completion", "bash"}, {"help"}} {
			var msg strings.Builder
			std := Streams{Out: brokenWriter{tt.err}, Err: &msg, Terminal: func(io.Writer) (int, bool) { return 0, false }}
			code := Main(t.Context(), args, std, Hooks{})
			if code != tt.code || !strings.HasPrefix(msg.String(), tt.says) || tt.says == "" && msg.Len() > 0 {
				t.Errorf("%v: %v: code %d, stderr %q", args, tt.err, code, msg.String())
			}
		}
	}
}

func TestVimgrepNamesTheWholeLineOfTheFile(t *testing.T) {
	dir := home(t)
	f := newFake(t)
	file := filepath.Join(dir, "a.txt")
	text := "first line\nthe passage starts here and\nends in the middle of this line\nlast\n"
	must(os.WriteFile(file, []byte(text), 0o600))
	from, to := strings.Index(text, "starts"), strings.Index(text, " of this")
	hit := ipc.Hit{Path: file, Lines: [2]int{2, 3}, Bytes: [2]int{from, to}, Text: text[from:to]}
	set := func(word string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		hit.Highlights = marksOf(hit.Text, word)
		f.result.Hits = []ipc.Hit{hit}
	}
	set("here")
	run(t, "search", "--vimgrep", "x").want(t, ExitOK, file+":2:20:the passage starts here and\n")
	set("in no line: the heading matched")
	run(t, "search", "--vimgrep", "x").want(t, ExitOK, file+":2:1:the passage starts here and\n")
	set("middle")
	run(t, "search", "--vimgrep", "x").want(t, ExitOK, file+":3:13:ends in the middle of this line\n")
	must(os.WriteFile(file, []byte("changed"+text), 0o600))
	run(t, "search", "--vimgrep", "x").want(t, ExitOK, file+":3:13:ends in the middle\n")
}
