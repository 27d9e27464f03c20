package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"quern/config"
	"quern/index"
)

const (
	// rehashEvery is the time from one rehash of all files to the next.
	rehashEvery = 24 * time.Hour
	// rehashFirst is how long after the start the first one begins, for a daemon
	// may not run for a day.
	rehashFirst = time.Hour
	// rehashShare is the part of the time that a rehash takes: one in so many.
	rehashShare = 50
	// rehashRate bounds the bytes a second that it reads.
	rehashRate = 8 << 20
)

// rehasher reads all files again, slowly, and compares them with what the index
// was made from. It finds what leaves no trace in a stat: a store through a memory
// map, a write by who set the times back, a disk that lies.
type rehasher struct {
	every, first time.Duration
	found        atomic.Int64 // files that had changed
	ended        atomic.Int64 // when the last pass ended, Unix nanoseconds, 0 for never
}

func newRehasher(every time.Duration) *rehasher {
	switch {
	case every < 0:
		return nil
	case every == 0:
		return &rehasher{every: rehashEvery, first: rehashFirst}
	}
	return &rehasher{every: every, first: every}
}

// run returns when ctx is done.
func (r *rehasher) run(ctx context.Context, c *core) {
	for wait := r.first; ; wait = r.every {
		if sleep(ctx, wait); ctx.Err() != nil {
			return
		}
		for doc := range c.engine.Snapshot().Documents() {
			if !c.manners.awaitMains(ctx) {
				return
			}
			if !r.file(ctx, c, doc) {
				return
			}
		}
		r.ended.Store(time.Now().UnixNano())
	}
}

// file compares one file and has it read again if it differs; false means that
// ctx was done first.
func (r *rehasher) file(ctx context.Context, c *core, doc *index.DocumentInfo) bool {
	f := c.folderOf(doc.Path)
	note, ok := parseFingerprint(doc.Fingerprint)
	if !ok || f == nil || c.watch.Pending(doc.Path) {
		return ctx.Err() == nil
	}
	began, differs := time.Now(), false
	gently(true, func() {
		data, _, err := c.readFile(doc.Path, f.MaxFileSize, f.FollowSymlinks)
		differs = err == nil && note.digest != xxh3.Hash128(data)
	})
	now, still := c.engine.Snapshot().Document(doc.Path)
	if differs && still && now.Fingerprint == doc.Fingerprint && !c.watch.Pending(doc.Path) {
		r.found.Add(1)
		end := c.reread(doc.Path)
		err := c.barrier(ctx)
		end()
		if err != nil {
			return false
		}
	}
	took := time.Since(began)
	sleep(ctx, max((rehashShare-1)*took, time.Duration(float64(doc.Size)/rehashRate*float64(time.Second))))
	return ctx.Err() == nil
}

// awaitMains returns true once nothing speaks against work that can wait: no
// pause, and no battery unless on_battery is full.
func (m *manners) awaitMains(ctx context.Context) bool {
	for m.await(ctx) {
		m.mu.Lock()
		battery := m.mode != config.BatteryFull && m.onBattery()
		m.mu.Unlock()
		if !battery {
			return true
		}
		sleep(ctx, powerCheck)
	}
	return false
}
