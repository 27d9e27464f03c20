package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quern/ipc"
)

// forever is what the file of a pause says that has no end.
const forever = "until resumed"

// loadPause reads the pause that an earlier daemon left. A file that cannot be
// understood means one without end: to go on indexing is the greater surprise.
func loadPause(file string) pause {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return pause{}
	}
	until, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b)))
	if err != nil {
		return pause{on: true}
	}
	return pause{on: true, until: until}
}

// savePause writes the pause, in one step, for the next daemon.
func savePause(file string, p pause) error {
	if !p.on {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text := forever
	if !p.until.IsZero() {
		text = p.until.UTC().Format(time.RFC3339Nano)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// pauseIndexing has nothing indexed for a time, or until it is resumed.
func (d *Daemon) pauseIndexing(_ context.Context, p ipc.PauseParams) (ipc.PauseResult, error) {
	if p.Seconds < 0 {
		return ipc.PauseResult{}, ipc.Errorf(ipc.CodeInvalidParams, "seconds: %g is negative", p.Seconds)
	}
	asked := pause{on: true}
	if p.Seconds > 0 {
		const most = 10 * 365 * 24 * 60 * 60
		asked.until = time.Now().Add(time.Duration(min(p.Seconds, most) * float64(time.Second)))
	}
	if err := d.manners.setPause(asked); err != nil {
		d.log.Warn("the pause will not outlast this daemon", "err", err)
	}
	return ipc.PauseResult{Paused: d.pauseStatus()}, nil
}

// resumeIndexing ends a pause that was asked for.
func (d *Daemon) resumeIndexing(context.Context, ipc.Empty) (ipc.PauseResult, error) {
	if err := d.manners.setPause(pause{}); err != nil {
		d.log.Warn("the pause that has ended may be back with the next daemon", "err", err)
	}
	return ipc.PauseResult{Paused: d.pauseStatus()}, nil
}

// pauseStatus is the pause as the protocol has it, nil for none.
func (d *Daemon) pauseStatus() *ipc.Paused {
	reason, until, _ := d.manners.paused()
	if reason == "" {
		return nil
	}
	out := &ipc.Paused{Reason: reason}
	if !until.IsZero() {
		out.Until = timestamp(until)
	}
	return out
}
