// Package watcher tells which files of some directory trees have changed, and
// loses no change: events are hints, the scan is the truth.
//
// A reader drains the operating system's events into a set of hints (settle.go).
// One goroutine, the reconciler (loop.go), takes the hints that have settled,
// looks at the file system (pass.go, scan.go), compares it with the table of what
// was last reported (tree.go), and puts the differences in a queue (queue.go) from
// which Next hands them out in batches. Every piece of work carries an epoch
// (ledger.go); Sync is a barrier that waits for all work of the epochs before it.
package watcher

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Op says what happened to a path.
type Op uint8

// Operations.
const (
	// Write: the regular file is new, or its content or place may differ
	// from what was last reported.
	Write Op = iota + 1
	// Remove: the file is gone, or is no longer one to index. A directory
	// that was skipped as unreadable is removed when it can be read again.
	Remove
	// Skip: the path is there but will not be indexed, for Change.Reason
	// (a FIFO, a socket, a device, a file that is too large, an unreadable directory).
	// It takes the place of a Write reported earlier.
	Skip
)

// String returns the operation's name.
func (o Op) String() string {
	switch o {
	case Write:
		return "write"
	case Remove:
		return "remove"
	case Skip:
		return "skip"
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// Info is a file's identity as the file system tells it.
type Info struct {
	Dev, Ino uint64 // zero where the platform has none
	Size     int64
	Modified time.Time
	Changed  time.Time // ctime, zero where the platform has none
}

// Change is one settled change.
type Change struct {
	Op     Op
	Path   string // absolute, clean
	Root   string // path of the innermost root that holds it
	Info   Info   // Write and Skip: as found; Remove: as last known
	Reason string // Skip only
}

// Filter decides what of a root is indexed. It is asked before a watch is
// added; rel is slash-separated and relative to the root. It must be safe for
// concurrent use.
type Filter interface {
	// Dir reports whether the directory may hold files to index.
	Dir(rel string) bool
	// File reports whether the file is to be indexed.
	File(rel string) bool
}

// Reloader is what a Filter implements whose rules are themselves files of the
// tree. Reload is called for every path that has an event and for every file
// that a scan lists, before the filter is asked about the names beside it; true
// means that the rules for the directory of rel and all below it have changed.
type Reloader interface {
	Reload(rel string) bool
}

// Lister is what a Filter may implement that would look for files in a directory
// when it is first asked about something in it. Listed tells it what a scan has
// listed there, after it was asked about the directory and that is watched, and before it
// is asked about the names; has is valid during the call.
type Lister interface {
	Listed(rel string, has func(name string) bool)
}

// Root is a directory tree to watch. A root may lie inside another: a file
// belongs to the innermost.
type Root struct {
	Path           string // absolute, clean
	Filter         Filter // nil: everything
	FollowSymlinks bool
	MaxFileSize    int64 // larger files are skipped; 0: no limit
	// Poll is the interval at which the whole tree is scanned. 0: events alone,
	// and directories without them (see Remote and RootState) are polled at a
	// bounded rate; negative: those are not either, but for Sync.
	Poll time.Duration
	// Device is the file system (Info.Dev) that held the tree's files when an
	// earlier watcher saw them, 0 if that is not known. A root that is empty and
	// on another one is taken for the place of one that is not mounted.
	Device uint64
}

// Options configure a Watcher. Zero values stand for the defaults.
type Options struct {
	// Settle is the quiet time after a file's last event before it is
	// reported; at the latest it is reported after 4 × Settle. Default 50 ms.
	Settle time.Duration
	// CookieDir is an existing directory of the daemon's own in which the
	// watcher writes the files that make Sync a barrier. Empty: Sync scans
	// every root instead. It is excluded as if named in Exclude.
	CookieDir string
	// Exclude are directories that are never reported nor watched: the
	// daemon's own data, log and socket directories.
	Exclude []string
	Log     *slog.Logger

	// BatchSize is the number of changes in a Batch, at most. Default 512.
	BatchSize int
	// DirBurst and TreeBurst bound the hints kept: more names with events in a
	// directory than DirBurst (default 128) are replaced by one listing of it;
	// more directories with events than TreeBurst (default 512) and than a
	// quarter of those known, by a scan of the tree.
	DirBurst, TreeBurst int
	// RootCheck is the interval at which the roots' identities are checked and
	// the audit goes on. Default 1 s.
	RootCheck time.Duration
	// OnCheck, if set, is called with each root check: what else is to be looked at
	// now and then costs no further wake-up there. It must not wait, nor call the
	// Watcher.
	OnCheck func()
	// AuditRate is the number of directory entries a second that the audit
	// compares with the table. Default 500; negative: no audit.
	AuditRate int
	// AuditPause is the time from the end of one audit sweep to the next. Default 10 min.
	AuditPause time.Duration
	// Retry is the interval at which unreadable and unwatchable directories are
	// tried again, and links to files looked at. Directories that cannot be
	// watched take a fiftieth of one processor's time at most: where they are
	// many, the interval is longer. Default 15 s.
	Retry time.Duration
	// CookieTimeout is the time a cookie's event may take. Default 2 s.
	CookieTimeout time.Duration
	// RebuildPause is the shortest time between two rebuilds after lost events;
	// it doubles, up to 64-fold, while they follow each other. Default 100 ms.
	RebuildPause time.Duration
	// Granularity is the file system's clock tick, at most: a file changed less
	// than this ago when it was looked at may change again without a trace, and
	// is reported once more later. Default 20 ms; 2 s for file systems whose
	// times are whole seconds.
	Granularity time.Duration

	// Tests replace the operating system's events and file systems.
	newSource func() (source, error)
	remote    func(path string) (kind string, is bool, err error)
	readDir   func(dir string) ([]fs.DirEntry, error)
	noGuard   bool // for then there may be no real events
}

// ErrClosed is returned by the methods of a closed Watcher.
var ErrClosed = errors.New("watcher: closed")

// Watcher watches directory trees. Its methods are safe for concurrent use.
type Watcher struct {
	o    Options
	log  *slog.Logger
	stat counters

	closing   chan struct{} // closed by Close; ends run and wakes Next and Sync
	closeOnce sync.Once
	done      chan struct{}  // closed when run has ended
	readers   sync.WaitGroup // one reader for each source, ended by the source's Close
	wake      chan struct{}  // capacity 1: there is work for run
	avail     chan struct{}  // capacity 1: there may be a batch for Next
	turned    chan struct{}  // capacity 1: see Turned
	cmds      chan func()    // run in the reconciler
	guarded   atomic.Pointer[[]string]
	doubt     atomic.Bool  // the roots are to be checked
	watches   atomic.Int64 // directories watched

	mu      sync.Mutex // guards the fields below
	ledger  ledger
	settler settler
	queue   queue
	roots   map[string]*rootState // replaced, never changed in place; written by run alone
	cookie  *cookie               // in flight
	waiting []chan struct{}       // syncs that need a cookie
	arrived []arrival             // cookies whose event came
	// cookieStale: the cookie directory's watch is one of another directory.
	cookieStale bool
	lost        lostState
	fresh       freshness

	rec reconciler // owned by run
}

// New returns a Watcher without roots. Close must be called to release it.
func New(o Options) (*Watcher, error) {
	o, err := withDefaults(o)
	if err != nil {
		return nil, err
	}
	w := &Watcher{
		o: o, log: o.Log,
		closing: make(chan struct{}), done: make(chan struct{}),
		wake: make(chan struct{}, 1), avail: make(chan struct{}, 1), turned: make(chan struct{}, 1),
		cmds:  make(chan func()),
		roots: map[string]*rootState{},
	}
	w.ledger.init()
	w.settler.init(&w.ledger, o)
	w.settler.treeOf = w.treeOf
	w.queue.init(&w.ledger)
	w.rec.init()
	w.excludeIDs()
	w.cleanCookies()
	w.open()
	go w.run() // ended by Close
	return w, nil
}

func withDefaults(o Options) (Options, error) {
	def(&o.Settle, 50*time.Millisecond)
	def(&o.RootCheck, time.Second)
	def(&o.AuditPause, 10*time.Minute)
	def(&o.Retry, 15*time.Second)
	def(&o.CookieTimeout, 2*time.Second)
	def(&o.RebuildPause, 100*time.Millisecond)
	def(&o.Granularity, 20*time.Millisecond)
	def(&o.BatchSize, 512)
	def(&o.DirBurst, 128)
	def(&o.TreeBurst, 512)
	if o.AuditRate == 0 {
		o.AuditRate = 500
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.noGuard = o.newSource != nil
	if o.newSource == nil {
		o.newSource = newFsnotify
	}
	if o.readDir == nil {
		o.readDir = os.ReadDir
	}
	if o.remote == nil {
		o.remote = remoteFS
	}
	o.Exclude = append([]string(nil), o.Exclude...)
	if o.CookieDir != "" {
		o.CookieDir = filepath.Clean(o.CookieDir)
		o.Exclude = append(o.Exclude, o.CookieDir)
	}
	for i, p := range o.Exclude {
		if !filepath.IsAbs(p) {
			return o, fmt.Errorf("watcher: excluded directory %q: not an absolute path", p)
		}
		o.Exclude[i] = filepath.Clean(p)
	}
	return o, nil
}

// def sets a value that is not positive to its default.
func def[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Close ends the Watcher, waits for its goroutines and wakes what waits in Next
// and Sync, which return ErrClosed.
func (w *Watcher) Close() error {
	w.closeOnce.Do(func() { close(w.closing) })
	<-w.done
	w.readers.Wait()
	return nil
}

// Touch says that the consumer found the file changed or gone while it was reading
// it: it is looked at and, if there, reported again once it has settled. The consumer
// should apply what it has read all the same, for Sync does not wait for a file
// that never rests.
func (w *Watcher) Touch(path string) {
	w.stat.add(cTouches, 1)
	w.hint(filepath.Clean(path), force, newEpoch)
}

// Rescan has everything at or below path reported again, changed or not.
func (w *Watcher) Rescan(path string) {
	path = filepath.Clean(path)
	w.stat.add(cRescans, 1)
	w.mu.Lock()
	for p := range w.roots {
		if p != path && under(p, path) {
			w.settler.add(p, force|deep, time.Now(), w.ledger.epoch)
		}
	}
	w.settler.add(path, force|deep, time.Now(), w.ledger.epoch)
	w.mu.Unlock()
	w.kick()
}

// Next waits for settled changes and returns a batch of them, in path order. A
// path is in one batch at a time: its next change waits for Done. It returns
// ctx's error or ErrClosed.
func (w *Watcher) Next(ctx context.Context) (*Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.mu.Lock()
		b := w.queue.take(w.o.BatchSize)
		more := w.queue.ready()
		w.mu.Unlock()
		if more {
			notify(w.avail)
		}
		if b != nil {
			return b, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.closing:
			return nil, ErrClosed
		case <-w.avail:
		}
	}
}

// Done says that the batch is applied. Calls after the first have no effect.
func (w *Watcher) Done(b *Batch) {
	w.mu.Lock()
	w.queue.finish(b)
	w.mu.Unlock()
	notify(w.avail)
}

// newEpoch stands for the current epoch in hint.
const newEpoch = ^uint64(0)

// hint makes a path dirty.
func (w *Watcher) hint(path string, f flags, epoch uint64) {
	w.mu.Lock()
	if epoch == newEpoch {
		epoch = w.ledger.epoch
	}
	w.settler.add(path, f, time.Now(), epoch)
	w.mu.Unlock()
	w.kick()
}

func (w *Watcher) kick() { notify(w.wake) }

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
