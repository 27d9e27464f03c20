package daemon

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"quern/ipc"
)

// fileTable knows the files that are not in the index although they stand in a
// folder, each with its reason, and how far catching up has come. What is in the
// index the index knows itself.
type fileTable struct {
	mu       sync.Mutex // guards all fields below
	problems map[string]problem
	failed   int // problems whose state is ipc.FileFailed

	done      int   // files handled since the last time all was quiet
	bytes     int64 // and their size
	busySince time.Time
}

// problem says why a file is not in the index.
type problem struct {
	state  string // ipc.FileSkipped or ipc.FileFailed
	reason string
}

func newFileTable() *fileTable { return &fileTable{problems: map[string]problem{}} }

// set records why path is not in the index.
func (t *fileTable) set(path string, p problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(path)
	t.problems[path] = p
	if p.state == ipc.FileFailed {
		t.failed++
	}
}

// clear forgets path: it is indexed, or gone.
func (t *fileTable) clear(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(path)
}

func (t *fileTable) remove(path string) {
	if t.problems[path].state == ipc.FileFailed {
		t.failed--
	}
	delete(t.problems, path)
}

// forget clears the paths that are gone.
func (t *fileTable) forget(gone func(path string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for path := range t.problems {
		if gone(path) {
			t.remove(path)
		}
	}
}

func (t *fileTable) get(path string) (problem, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.problems[path]
	return p, ok
}

// counts returns how many files were skipped and how many failed.
func (t *fileTable) counts() (skipped, failed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.problems) - t.failed, t.failed
}

// list returns at most limit problems: failures before skips, then by path.
func (t *fileTable) list(limit int) []ipc.FileStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]ipc.FileStatus, 0, min(len(t.problems), 2*limit))
	cut := func() {
		slices.SortFunc(out, func(a, b ipc.FileStatus) int {
			return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Path, b.Path))
		})
		out = out[:min(limit, len(out))]
	}
	for path, p := range t.problems {
		if out = append(out, ipc.FileStatus{Path: path, State: p.state, Reason: p.reason}); len(out) == 2*limit {
			cut() // so that a hundred thousand skipped files cost little
		}
	}
	cut()
	return out
}

// handled counts a file that was read, skipped or removed.
func (t *fileTable) handled(bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busySince.IsZero() {
		t.busySince = time.Now()
	}
	t.done++
	t.bytes += bytes
}

// quiet begins the count anew: nothing is waiting.
func (t *fileTable) quiet() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.bytes, t.busySince = 0, 0, time.Time{}
}

// progress tells how far catching up has come, with pending files to go.
func (t *fileTable) progress(pending int) ipc.Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := ipc.Progress{Done: t.done, Total: t.done + pending, BytesDone: t.bytes}
	if elapsed := time.Since(t.busySince).Seconds(); t.done > 0 && elapsed > 0 {
		p.FilesPerSec = float64(t.done) / elapsed
		p.SecondsLeft = float64(pending) / p.FilesPerSec
	}
	return p
}
