package watcher

import (
	"sync"

	"github.com/fsnotify/fsnotify"
)

// fakeSource is a source whose events the test sends.
type fakeSource struct {
	events chan fsnotify.Event
	errs   chan error
	addErr func(dir string) error
	onAdd  func(s *fakeSource, dir string)

	mu     sync.Mutex
	added  map[string]bool
	closed chan struct{}
	once   sync.Once
	// Close waits for who sends.
	sending sync.RWMutex
}

func newFake() *fakeSource {
	return &fakeSource{events: make(chan fsnotify.Event), errs: make(chan error),
		added: map[string]bool{}, closed: make(chan struct{})}
}

func (s *fakeSource) Add(dir string) error {
	if s.addErr != nil {
		if err := s.addErr(dir); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.added[dir] = true
	s.mu.Unlock()
	if s.onAdd != nil {
		s.onAdd(s, dir)
	}
	return nil
}

func (s *fakeSource) Remove(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.added[dir] {
		return fsnotify.ErrNonExistentWatch
	}
	delete(s.added, dir)
	return nil
}

func (s *fakeSource) WatchList() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var l []string
	for d := range s.added {
		l = append(l, d)
	}
	return l
}

func (s *fakeSource) Events() <-chan fsnotify.Event { return s.events }
func (s *fakeSource) Errors() <-chan error          { return s.errs }

func (s *fakeSource) Close() error {
	s.once.Do(func() {
		close(s.closed)
		s.sending.Lock()
		defer s.sending.Unlock()
		close(s.events)
		close(s.errs)
	})
	return nil
}

// send delivers an event, fail an error, unless the source is closed.
func (s *fakeSource) send(e fsnotify.Event) { deliver(s, s.events, e) }
func (s *fakeSource) fail(err error)        { deliver(s, s.errs, err) }

func deliver[T any](s *fakeSource, c chan T, v T) {
	s.sending.RLock()
	defer s.sending.RUnlock()
	select {
	case <-s.closed:
		return
	default:
	}
	select {
	case c <- v:
	case <-s.closed:
	}
}

// sieve is a real source some of whose events and errors are kept back or added.
type sieve struct {
	source
	events chan fsnotify.Event
	errs   chan error
	done   sync.WaitGroup
}

// newSieve makes a source that passes on the events that keep lets through, and
// waits while gate is locked.
func newSieve(keep func(fsnotify.Event) bool, gate *sync.RWMutex) (*sieve, error) {
	real, err := newFsnotify()
	if err != nil {
		return nil, err
	}
	s := &sieve{source: real, events: make(chan fsnotify.Event), errs: make(chan error)}
	s.done.Go(func() { // ended by Close of the real source
		defer close(s.events)
		defer close(s.errs)
		events, errs := real.Events(), real.Errors()
		for events != nil {
			waitFor(gate)
			select {
			case e, ok := <-events:
				if !ok {
					events = nil
				} else if keep(e) {
					s.events <- e
				}
			case err, ok := <-errs:
				if !ok {
					errs = nil
				} else {
					s.errs <- err
				}
			}
		}
	})
	return s, nil
}

func (s *sieve) Events() <-chan fsnotify.Event { return s.events }
func (s *sieve) Errors() <-chan error          { return s.errs }

func (s *sieve) Close() error {
	err := s.source.Close()
	go func() { // the reader may have gone already
		for range s.events {
		}
	}()
	go func() {
		for range s.errs {
		}
	}()
	s.done.Wait()
	return err
}

// waitFor waits while the gate is locked.
func waitFor(gate *sync.RWMutex) {
	gate.RLock()
	defer gate.RUnlock()
}
