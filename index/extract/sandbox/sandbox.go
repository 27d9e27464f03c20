// Package sandbox has files read by child processes of the same program, which can
// reach nothing but the bytes that they are given and the pipe for their answer: no
// file, no network, no other program. On Linux, Landlock and seccomp see to that;
// elsewhere, and on kernels without them, a child is still bounded in memory and
// time. A child serves many files, one after the other; one that crashes, hangs or
// asks for too much is ended, and the file tried once more, alone, in a new one.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"quern/index/extract"
)

// Options configure a Sandbox.
type Options struct {
	// Command starts a worker: a program and its arguments, after which those of
	// WorkerArgs are added. Nil is this program itself.
	Command []string
	// Cache is a directory of the user's alone in which the compiled PDF reader is
	// kept; empty means none.
	Cache string
	// Wall bounds how long one file may take in all, Stall how long it may take
	// without getting on; 0 means 2 minutes, and 20 seconds.
	Wall, Stall time.Duration
	// Workers is how many files are read at once by each kind of worker; 0 means as
	// many as there are CPUs, up to 4.
	Workers int
	// Idle is how long a worker waits for its next file; 0 means 10 seconds.
	Idle time.Duration
	// Off reads files in this process, for comparison.
	Off bool
	Log *slog.Logger
}

// ErrClosed is returned once the sandbox is closed.
var ErrClosed = errors.New("the extraction sandbox is closed")

// Broken is the error for a file that ended its worker twice.
type Broken struct{ Reason string }

func (b *Broken) Error() string { return b.Reason }

// unavailable is the error when no worker can be started: the file is not to blame.
type unavailable struct{ err error }

func (u *unavailable) Error() string { return "no process can be started to read it: " + u.err.Error() }
func (u *unavailable) Unwrap() error { return u.err }

// IsUnavailable reports whether no worker could be started, which may pass.
func IsUnavailable(err error) bool {
	var u *unavailable
	return errors.As(err, &u)
}

// Sandbox is a set of workers. Its methods may be called from many goroutines.
type Sandbox struct {
	opts  Options
	pools map[extract.Effort]*pool
	alone sync.RWMutex // held to write while a file has the machine to itself

	mu     sync.Mutex // guards all fields below
	closed bool
	alive  map[*worker]bool
	lacks  []string // what the kernel has not, by the last worker
	known  bool     // lacks has been told
}

// New makes a sandbox. It starts no worker before the first file.
func New(o Options) *Sandbox {
	if o.Command == nil {
		o.Command = []string{self()}
	}
	if o.Workers == 0 {
		o.Workers = max(1, min(runtime.NumCPU(), 4))
	}
	for _, d := range []struct {
		set       *time.Duration
		otherwise time.Duration
	}{{&o.Wall, 2 * time.Minute}, {&o.Stall, 20 * time.Second}, {&o.Idle, 10 * time.Second}} {
		if *d.set == 0 {
			*d.set = d.otherwise
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sandbox{opts: o, alive: map[*worker]bool{}}
	s.pools = map[extract.Effort]*pool{extract.Complex: newPool(s, light), extract.PDF: newPool(s, heavy)}
	return s
}

// self is this program, also when its file has been replaced or removed meanwhile.
func self() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// Extract reads a file as extract.Extract does, in a worker unless its format is
// small; data must not change. What a worker had found when it had to be ended is
// the document, which then says that it is truncated. Errors are those of
// extract.Extract, *Broken, ErrClosed, ctx's, and what IsUnavailable knows.
func (s *Sandbox) Extract(ctx context.Context, name string, data []byte) (*extract.Document, error) {
	pool := s.pools[extract.EffortOf(name, data)]
	if pool == nil || s.opts.Off {
		return extract.Extract(name, data)
	}
	doc, err := s.by(ctx, pool, name, data)
	if errors.Is(err, extract.ErrNeedsPDF) {
		return s.by(ctx, s.pools[extract.PDF], name, data)
	}
	return doc, err
}

// by has a worker of a pool read a file.
func (s *Sandbox) by(ctx context.Context, p *pool, name string, data []byte) (*extract.Document, error) {
	return s.twice(ctx, name, func() (*extract.Document, error) { return p.extract(ctx, name, data) },
		func() (*extract.Document, error) { return p.extractFresh(ctx, name, data) })
}

// twice tries a file, and if that ends the worker, once more with nothing beside it.
func (s *Sandbox) twice(ctx context.Context, name string, first, fresh func() (*extract.Document, error)) (*extract.Document, error) {
	s.alone.RLock()
	doc, err := first()
	s.alone.RUnlock()
	var broken *Broken
	if !errors.As(err, &broken) {
		return doc, err
	}
	s.opts.Log.Warn("a file ended its extraction process and is tried once more", "file", name, "reason", broken.Reason)
	s.alone.Lock()
	defer s.alone.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	doc, err = fresh()
	if errors.As(err, &broken) && doc != nil {
		doc.Truncated = broken.Reason
		return doc, nil
	}
	return doc, err
}

// Lacks says what protection the workers have to do without on this system, once one
// has been started: empty when they have all.
func (s *Sandbox) Lacks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lacks
}

// Close ends all workers; files that are being read get ErrClosed.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.closed = true
	alive := make([]*worker, 0, len(s.alive))
	for w := range s.alive {
		alive = append(alive, w)
	}
	s.mu.Unlock()
	for _, w := range alive {
		w.end()
	}
}

// started notes a worker, unless the sandbox is closed.
func (s *Sandbox) started(w *worker) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.alive[w] = true
	return true
}

func (s *Sandbox) ended(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.alive, w)
}

// told notes what a worker says of its protection.
func (s *Sandbox) told(lacks []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known && len(lacks) > 0 {
		s.opts.Log.Warn("extraction processes are less confined than they could be", "lacks", fmt.Sprint(lacks))
	}
	s.lacks, s.known = lacks, true
}

func (s *Sandbox) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
