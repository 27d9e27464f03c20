package daemon

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"quern/config"
)

const (
	// gentleAfter is how long a first index goes on at the usual priority: a
	// small one is over by then, and nobody minds.
	gentleAfter = 2 * time.Second
	// bulkChanges is the size from which on a batch of changes is more than
	// somebody's saving of files, and slowed down on battery.
	bulkChanges = 16
	// powerCheck is how often the power supply is looked at, while there is work.
	powerCheck = 10 * time.Second
	// pausedPatience is how long a barrier waits while indexing is paused: what
	// needs no indexing is there by then.
	pausedPatience = 250 * time.Millisecond
)

// errPaused is returned by barriers that wait for what is not indexed at present.
var errPaused = errors.New("indexing is paused (quern resume ends that)")

// manners say when the daemon holds itself back for the sake of others: it works
// through a first index with the least priority, at half speed or not at all on
// battery, and not at all while its owner wants a pause.
type manners struct {
	power string                               // directory of the power supplies
	file  string                               // where a pause is kept, "" for nowhere
	sleep func(context.Context, time.Duration) // waits, or until ctx is done

	mu      sync.Mutex // guards all fields below
	mode    string     // [daemon] on_battery: slow, pause or full
	pause   pause
	changed chan struct{} // closed when one of them changes
	checked time.Time     // when the power supply was looked at
	battery bool          // what was seen then
}

// pause is what quern pause asks for.
type pause struct {
	on    bool
	until time.Time // zero: until quern resume
}

func newManners(power, file, mode string) *manners {
	m := &manners{power: power, file: file, mode: mode, sleep: sleep, changed: make(chan struct{})}
	if file != "" {
		m.pause = loadPause(file)
	}
	return m
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// setMode changes what is done on battery.
func (m *manners) setMode(mode string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mode != mode {
		m.mode = mode
		m.wake()
	}
}

// setPause begins or ends a pause. It returns the error of keeping it for the next start.
func (m *manners) setPause(p pause) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = p
	m.wake()
	if m.file == "" {
		return nil
	}
	return savePause(m.file, p)
}

func (m *manners) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Reasons for a pause.
const (
	pausedByOwner   = "asked for"
	pausedByBattery = "on battery"
)

// paused tells whether nothing is to be indexed at present, why, until when if
// that is known, and what to wait for.
func (m *manners) paused() (reason string, until time.Time, changed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pause.on && !m.pause.until.IsZero() && !time.Now().Before(m.pause.until) {
		m.pause = pause{}
		if m.file != "" {
			_ = savePause(m.file, m.pause) // a time that is over is over after a restart too
		}
	}
	switch {
	case m.pause.on:
		return pausedByOwner, m.pause.until, m.changed
	case m.mode == config.BatteryPause && m.onBattery():
		return pausedByBattery, time.Time{}, m.changed
	}
	return "", time.Time{}, m.changed
}

// onBattery looks at the power supply, not too often. m.mu must be held.
func (m *manners) onBattery() bool {
	if now := time.Now(); m.checked.IsZero() || now.Sub(m.checked) >= powerCheck {
		m.checked, m.battery = now, onBattery(m.power)
	}
	return m.battery
}

// await returns true once indexing may go on, and false when ctx is done first.
func (m *manners) await(ctx context.Context) bool {
	for {
		reason, until, changed := m.paused()
		if reason == "" {
			return ctx.Err() == nil
		}
		wait := powerCheck
		if reason == pausedByOwner {
			wait = time.Until(until)
		}
		var end <-chan time.Time
		if reason == pausedByBattery || !until.IsZero() {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			end = timer.C
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		case <-end:
		}
	}
}

// rest waits as long as the work on many changes took, on battery.
func (m *manners) rest(ctx context.Context, changes int, took time.Duration) {
	m.mu.Lock()
	slow := m.mode == config.BatterySlow && changes >= bulkChanges && m.onBattery()
	m.mu.Unlock()
	if slow {
		m.sleep(ctx, took)
	}
}

// gently does the work with the least priority where gentle, and returns when it
// is done.
func gently(gentle bool, work func()) {
	if !gentle {
		work()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread ends with its goroutine, since no thread that gave its
		// priority up gets it back. The runtime makes no other from this one.
		runtime.LockOSThread()
		if lowerPriority() != nil {
			runtime.UnlockOSThread()
		}
		work()
	}()
	<-done
}
