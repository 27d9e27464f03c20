package index

import (
	"fmt"
	"log/slog"
	"runtime"

	"quern/index/segment"
	"quern/index/segment/vfs"
)

// fill sets defaults and opens the directory.
func (o *Options) fill() error {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MemoryBudget <= 0 {
		o.MemoryBudget = defaultBudget
	}
	if o.CommitEvery <= 0 {
		o.CommitEvery = defaultCommit
	}
	if o.PurgeAfter <= 0 {
		o.PurgeAfter = defaultPurge
	}
	o.CommitEvery = min(o.CommitEvery, o.PurgeAfter/purgeParts)
	if o.maxima == (segment.Maxima{}) {
		o.maxima, o.visitAll = segment.DefaultMaxima, visitAll
	}
	if o.selectiveShare == 0 {
		o.eagerChecks, o.selectiveShare = eagerChecks, selectiveShare
	}
	if o.Run == nil {
		o.Run = func(work func()) { work() }
	}
	if o.OnDamage == nil {
		o.OnDamage = func(error) {}
	}
	if o.FS == nil && o.Dir != "" {
		fs, err := vfs.NewOS(o.Dir)
		if err != nil {
			return fmt.Errorf("open %s: %w", o.Dir, err)
		}
		o.FS = fs
	}
	return nil
}
