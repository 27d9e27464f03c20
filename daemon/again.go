package daemon

import (
	"context"
	"sync"
	"time"
)

const (
	// againFirst and againMost bound the wait before a file that could not be
	// read is read again; it doubles from one failure to the next.
	againFirst, againMost = 2 * time.Second, 5 * time.Minute
)

// again holds the files that could not be read for a reason that may pass without
// an event, such as too many open files or an error of the disk.
type again struct {
	wake  chan struct{} // capacity 1: there is something to wait for
	mu    sync.Mutex    // guards files
	files map[string]attempt
}

func newAgain() again {
	return again{wake: make(chan struct{}, 1), files: map[string]attempt{}}
}

// attempt says when a file is read again, and how long it has waited for that.
type attempt struct {
	at   time.Time
	wait time.Duration
}

// add notes that the file could not be read at now.
func (a *again) add(path string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := againFirst
	if before, ok := a.files[path]; ok {
		wait = min(2*before.wait, againMost)
	}
	a.files[path] = attempt{now.Add(wait), wait}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// empty reports whether no file waits.
func (a *again) empty() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.files) == 0
}

// forget is called when the file has been read, or is not to be read any more.
func (a *again) forget(path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.files, path)
}

// due returns the files to read again at now.
func (a *again) due(now time.Time) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for path, x := range a.files {
		if !x.at.After(now) {
			out = append(out, path)
		}
	}
	return out
}

// retry has files that could not be read reported again when their time has come.
// It returns when ctx is done.
func (p *pipeline) retry(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.again.wake:
		}
		for !p.again.empty() {
			if sleep(ctx, againFirst); ctx.Err() != nil {
				return
			}
			for _, path := range p.again.due(time.Now()) {
				p.core.watch.Touch(path)
			}
		}
	}
}
