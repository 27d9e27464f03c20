package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"quern/config"
	"quern/ipc"
	"quern/ipc/server"
)

// fake is a daemon that answers what a test wants.
type fake struct {
	socket  string
	version string // what hello says

	mu     sync.Mutex // guards all fields below
	calls  []string   // the methods called, hello left out
	search ipc.SearchParams
	status []ipc.StatusResult // answered one after the other; the last one stays
	result ipc.SearchResult
	folder []ipc.FolderStatus
	fail   map[string]error // by method
	// covered makes folders.add find that a folder holds the directory already.
	covered bool
	// filtered tells whether a search finds nothing.
	filtered func(ipc.SearchParams) bool
	onCall   map[string]func()
	params   map[string]any // the last params by method
	ended    chan struct{}  // closed by shutdown
}

// newFake starts a daemon at the default socket of the test's environment.
func newFake(t *testing.T) *fake {
	t.Helper()
	socket, err := config.Default().SocketPath("")
	if err != nil {
		t.Fatal(err)
	}
	f := newFakeState(socket)
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := f.server()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }() // ends with Shutdown
	stop := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(srv.Shutdown(ctx), <-served); err != nil {
			t.Errorf("the fake daemon: %v", err)
		}
	})
	done := make(chan struct{})
	go func() { // ends with the test
		select {
		case <-f.ended:
			stop()
		case <-done:
		}
	}()
	t.Cleanup(func() {
		close(done)
		stop()
	})
	return f
}

func newFakeState(socket string) *fake {
	return &fake{
		socket: socket, result: billing(), status: []ipc.StatusResult{quiet()},
		fail: map[string]error{}, onCall: map[string]func(){}, params: map[string]any{},
		ended: make(chan struct{}),
	}
}

func (f *fake) server() *server.Server {
	s := server.New(server.Options{})
	handle(f, s, ipc.MethodHello, func(ipc.HelloParams) ipc.HelloResult {
		return ipc.HelloResult{Server: "quern", Protocol: ipc.ProtocolVersion, Version: f.version}
	})
	handle(f, s, ipc.MethodSearch, f.answerSearch)
	handle(f, s, ipc.MethodStatus, f.answerStatus)
	handle(f, s, ipc.MethodPassages, func(ipc.PassagesParams) ipc.PassagesResult { return passages() })
	handle(f, s, ipc.MethodExplain, func(ipc.ExplainParams) ipc.Explanation { return explanation() })
	handle(f, s, ipc.MethodSync, func(ipc.SyncParams) ipc.SyncResult { return ipc.SyncResult{Generation: 7} })
	handle(f, s, ipc.MethodReindex, func(ipc.ReindexParams) ipc.ReindexResult { return ipc.ReindexResult{Generation: 8} })
	handle(f, s, ipc.MethodReload, func(ipc.Empty) ipc.Empty { return ipc.Empty{} })
	handle(f, s, ipc.MethodFoldersList, func(ipc.Empty) ipc.FoldersResult { return ipc.FoldersResult{Folders: f.folder} })
	handle(f, s, ipc.MethodFoldersAdd, f.addFolder)
	handle(f, s, ipc.MethodFoldersRemove, func(ipc.FolderParams) ipc.FoldersResult { return ipc.FoldersResult{} })
	handle(f, s, ipc.MethodShutdown, func(ipc.Empty) ipc.Empty {
		close(f.ended)
		return ipc.Empty{}
	})
	return s
}

// handle answers a method, unless the test has it fail.
func handle[P, R any](f *fake, s *server.Server, method string, answer func(P) R) {
	server.Handle(s, method, func(_ context.Context, p P) (R, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if method != ipc.MethodHello {
			f.calls = append(f.calls, method)
		}
		f.params[method] = p
		if hook := f.onCall[method]; hook != nil {
			hook()
		}
		if err := f.fail[method]; err != nil {
			return *new(R), err
		}
		return answer(p), nil
	})
}

func (f *fake) answerSearch(p ipc.SearchParams) ipc.SearchResult {
	f.search = p
	r := f.result
	r.Query = p.Query
	if f.filtered != nil && f.filtered(p) {
		r.Hits, r.Total = []ipc.Hit{}, 0
	}
	if p.Text != nil && !*p.Text {
		hits := make([]ipc.Hit, len(r.Hits))
		for i, h := range r.Hits {
			h.Text, h.Highlights = "", nil
			hits[i] = h
		}
		r.Hits = hits
	}
	return r
}

func (f *fake) answerStatus(p ipc.StatusParams) ipc.StatusResult {
	s := f.status[0]
	if len(f.status) > 1 {
		f.status = f.status[1:]
	}
	if p.Path != "" {
		s.File = &ipc.FileStatus{Path: p.Path, State: ipc.FileSkipped, Reason: "binary file"}
	}
	return s
}

func (f *fake) addFolder(p ipc.FolderParams) ipc.FoldersResult {
	if f.covered {
		return ipc.FoldersResult{Folders: f.folder}
	}
	name := p.Name
	if name == "" {
		name = filepath.Base(p.Path)
	}
	f.folder = append(f.folder, ipc.FolderStatus{Name: name, Path: p.Path, Temporary: p.Temporary, State: "watching"})
	return ipc.FoldersResult{Folders: f.folder}
}

// called returns the methods called so far.
func (f *fake) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

// lastParams returns the last params of a method.
func lastParams[P any](t *testing.T, f *fake, method string) P {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.params[method].(P)
	if !ok {
		t.Fatalf("%s was not called", method)
	}
	return p
}

// programHooks are the hooks of a test binary that behaves as quern; the mode
// chooses the daemon's behaviour.
func programHooks(mode string) Hooks {
	return Hooks{Version: "1.2.3", InUse: server.ErrInUse, Serve: func(ctx context.Context, o ServeOptions) error {
		o.Log.Info("starting", "config", o.ConfigPath, "idle", o.IdleExit)
		if mode == "broken" {
			fmt.Fprintln(os.Stderr, "first line\nthe disk is on fire")
			return errors.New("no index can be made")
		}
		cfg, err := config.Load(o.ConfigPath)
		if err != nil {
			cfg = config.Default()
		}
		socket, err := cfg.SocketPath(o.Socket)
		if err != nil {
			return err
		}
		l, err := server.Listen(socket)
		if err != nil {
			return err
		}
		return serveFake(ctx, l, socket, o.ConfigPath)
	}}
}

func serveFake(ctx context.Context, l net.Listener, socket, file string) error {
	f := newFakeState(socket)
	s := quiet()
	s.PID, s.Config = os.Getpid(), file
	f.status = []ipc.StatusResult{s}
	srv := f.server()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }() // ends with Shutdown
	// A test that fails must not leave its daemon behind.
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	select {
	case <-f.ended:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(srv.Shutdown(grace), <-served)
}

func quiet() ipc.StatusResult {
	return ipc.StatusResult{
		State: ipc.StateQuiescent, Version: "1.2.3", PID: 42, Started: "2026-11-29T10:00:00Z", Generation: 12,
		Config: "/home/u/.config/quern/config.toml", Socket: "/run/user/1000/quern/quern.sock",
		Folders: []ipc.FolderStatus{
			{Name: "help", Path: "/home/u/help", State: "watching", Documents: 1200, Passages: 3456},
			{Name: "scratch", Path: "/tmp/scratch", State: "suspended", Reason: "no such directory", Temporary: true},
		},
		Files:    ipc.FileCounts{Indexed: 1200, Skipped: 2, Failed: 1},
		Passages: 3456, Terms: 98765, Index: ipc.IndexStatus{Segments: 3, Dead: 12, DiskBytes: 1536 << 10, Committed: 11, CommittedAt: "2026-11-29T10:00:02Z"}, Model: "tfidf", Memory: 45 << 20,
		Problems: []ipc.FileStatus{
			{Path: "/home/u/help/logo.png", State: ipc.FileSkipped, Reason: "binary file"},
			{Path: "/home/u/help/pipe\x1b]0;owned\a", State: ipc.FileSkipped, Reason: "not a regular file"},
			{Path: "/home/u/help/secret.md", State: ipc.FileFailed, Reason: "permission denied"},
		},
		Warnings: []string{"the folder scratch is missing"},
	}
}

// billing is a search result with a bit of everything.
func billing() ipc.SearchResult {
	long := "The card that paid is the card that is paid back. "
	for range 12 {
		long += "Nothing of interest stands in this sentence at all. "
	}
	long += "How long does a refund take? A refund takes five days once billing approves it. "
	for range 12 {
		long += "Nothing of interest stands in this sentence either. "
	}
	return ipc.SearchResult{
		Model: "tfidf", Generation: 12, Passages: 4, Total: 2, TookUS: 180,
		Hits: []ipc.Hit{
			{Score: 0.39222113, Path: "/home/u/help/refunds.txt", Folder: "help", Rel: "refunds.txt", Lines: [2]int{1, 1},
				Bytes: [2]int{0, 66}, Heading: []string{}, Type: "txt", Modified: "2026-11-29T10:00:00Z",
				Text:       "Refunds go back to the original card after billing approves them.",
				Highlights: [][2]int{{0, 7}, {43, 50}}},
			{Score: 0.24720001, Path: "/home/u/help/guide.md", Folder: "help", Rel: "guide.md", Passage: 3, Lines: [2]int{10, 14},
				Bytes: [2]int{500, 500 + len(long)}, Heading: []string{"Money", "Getting it back"}, Type: "md",
				Modified: "2026-11-29T10:00:00Z", Text: long, Highlights: marksOf(long, "refund", "billing")},
		},
	}
}

// marksOf finds the words in text, in order.
func marksOf(text string, words ...string) (marks [][2]int) {
	for i := range text {
		for _, w := range words {
			if len(text)-i >= len(w) && text[i:i+len(w)] == w {
				marks = append(marks, [2]int{i, i + len(w)})
			}
		}
	}
	return marks
}

func passages() ipc.PassagesResult {
	return ipc.PassagesResult{
		Path: "/home/u/help/guide.md", Folder: "help", Rel: "guide.md", Type: "md",
		Passages: []ipc.Passage{
			{Passage: 0, Lines: [2]int{1, 3}, Heading: []string{"Money"}, Terms: 7, Text: "Money is\n\n\tgood to have.\n"},
			{Passage: 1, Lines: [2]int{5, 5}, Heading: []string{"Money", "Getting it back"}, Terms: 1, Text: "\x1b[2JAsk."},
		},
	}
}

func explanation() ipc.Explanation {
	return ipc.Explanation{
		Model: "tfidf", TF: "log", Score: 0.75, Passages: 4, QueryNorm: 2.25, PassageNorm: 5.5, Length: 11,
		Terms: []ipc.TermExplain{
			{Term: "billing", QueryTF: 1, TF: 1, DF: 4, IDF: 1, QueryWeight: 1, PassageWeight: 1, Contribution: 0.25},
			{Term: "refunds", QueryTF: 1, TF: 2, DF: 1, IDF: 1.9162907318741551, QueryWeight: 1.9162907318741551,
				PassageWeight: 3.24455, Contribution: 0.5},
		},
		Dropped: []string{"chargeback"},
	}
}
