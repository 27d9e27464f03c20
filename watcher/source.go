package watcher

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// source is the part of fsnotify.Watcher that the watcher uses. Events and errors
// must be delivered in the order in which they happened.
type source interface {
	Add(dir string) error
	Remove(dir string) error
	WatchList() []string
	Events() <-chan fsnotify.Event // closed by Close
	Errors() <-chan error          // closed by Close
	Close() error
}

type fsnotifySource struct{ *fsnotify.Watcher }

func (s fsnotifySource) Events() <-chan fsnotify.Event { return s.Watcher.Events }
func (s fsnotifySource) Errors() <-chan error          { return s.Watcher.Errors }

func newFsnotify() (source, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fsnotifySource{w}, nil
}

// noSource stands in when the operating system gives no more event queues: every
// directory is polled, and each rebuild tries for a real one.
type noSource struct{ err error }

func (s noSource) Add(string) error              { return s.err }
func (s noSource) Remove(string) error           { return nil }
func (s noSource) WatchList() []string           { return nil }
func (s noSource) Events() <-chan fsnotify.Event { return nil }
func (s noSource) Errors() <-chan error          { return nil }
func (s noSource) Close() error                  { return nil }

// read drains a source into the hints until it is closed. It looks at nothing and
// waits for nothing, for the kernel's queue forgives a stall of some 100 ms only.
func (w *Watcher) read(s source) {
	defer w.readers.Done()
	events, errs := s.Events(), s.Errors()
	for events != nil || errs != nil {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.event(e)
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.sourceError(err)
		}
	}
}

func (w *Watcher) event(e fsnotify.Event) {
	w.stat.add(cEvents, 1)
	path := e.Name
	if strings.HasPrefix(path, sep+sep) { // below the file system's root
		path = path[1:]
	}
	var f flags
	if e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		f = structural
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh.event = now
	if w.isCookie(path) {
		w.cookieEvent(path, f)
		return
	}
	if root, _ := w.treeOf(path); root == "" {
		return
	}
	first := w.settler.n == 0
	w.settler.add(path, f, now, w.ledger.epoch)
	if first { // run knows when this one is due, and later ones are due later
		w.kick()
	}
}

// sourceError takes note that events may have been lost.
func (w *Watcher) sourceError(err error) {
	if errors.Is(err, syscall.EINVAL) {
		// fsnotify removed the watch of a directory that was moved and then
		// deleted, of which the kernel had disposed already.
		w.stat.add(cHarmless, 1)
		return
	}
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		w.stat.add(cOverflows, 1)
	} else {
		w.stat.add(cErrors, 1)
	}
	w.log.Warn("watcher: events may have been lost, scanning again", "error", err)
	w.mu.Lock()
	w.markLost()
	w.mu.Unlock()
	w.kick()
}
