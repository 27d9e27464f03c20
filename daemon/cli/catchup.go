package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"quern/ipc"
)

const (
	// muchPending is the number of waiting changes from which a search on a
	// terminal shows progress instead of leaving the wait to sync.
	muchPending = 100

	firstPoll = 10 * time.Millisecond
	longPoll  = 250 * time.Millisecond
)

// errAnswerNow means that the person at the terminal does not want to wait.
var errAnswerNow = errors.New("interrupted while waiting")

// catchUp waits while the daemon has much to index. A first indexing is
// waited for to its end; later ones only on a terminal, where progress shows
// and an interrupt has the search answer from what is there.
func (a *app) catchUp(ctx context.Context, c *conn, f *searchFlags, first bool) error {
	s, err := status(ctx, c, "")
	if err != nil {
		return err
	}
	first = first || s.FirstIndexing
	if !behind(s, f.params.Folders, first) || !first && !a.msg.terminal {
		return nil
	}
	wait, harden := a.intr.softly(ctx)
	defer harden()
	if f.timeoutSet {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(wait, f.syncTimeout)
		defer cancel()
	}
	err = a.awaitQuiet(wait, c, answersNow, func(s *ipc.StatusResult) bool {
		return behind(s, f.params.Folders, first)
	})
	if errors.Is(err, errAnswerNow) && ctx.Err() == nil {
		return a.answerNow(ctx, c, f)
	}
	return err
}

// answerNow makes the search take what is there, and says so.
func (a *app) answerNow(ctx context.Context, c *conn, f *searchFlags) error {
	f.params.Sync, f.params.SyncTimeoutMS = false, 0
	s, err := status(ctx, c, "")
	if err != nil {
		return err
	}
	a.say("the answer is incomplete: %s", progressText(s))
	return nil
}

// behind tells whether the daemon has so much to index, in the given folders
// or in all when none are given, that its answers would be incomplete.
func behind(s *ipc.StatusResult, folders []string, first bool) bool {
	for _, f := range s.Folders {
		if f.State == "scanning" && concerns(folders, f, s.Folders) {
			return true
		}
	}
	if s.State == ipc.StateQuiescent {
		return false
	}
	return first || s.Pending >= muchPending || s.Progress.Total-s.Progress.Done >= muchPending
}

// concerns tells whether a search in what is wanted (names of folders among all,
// or absolute paths; nothing: everywhere) looks into a folder: whether one of
// them lies in the other.
func concerns(wanted []string, folder ipc.FolderStatus, all []ipc.FolderStatus) bool {
	path := fromWire(folder.Path)
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool {
		if w == folder.Name {
			return true
		}
		w = fromWire(w)
		for _, f := range all {
			if f.Name == w {
				w = fromWire(f.Path)
			}
		}
		if !filepath.IsAbs(w) {
			return false
		}
		_, above := inside(w, path)
		_, below := inside(path, w)
		return above || below
	})
}

// awaitQuiet polls the status until busy says no. Progress shows on a
// terminal. When ctx ends it returns errAnswerNow.
func (a *app) awaitQuiet(ctx context.Context, c *conn, note [2]string, busy func(*ipc.StatusResult) bool) error {
	line := newProgressLine(a.msg, note)
	defer line.clear()
	for pause := firstPoll; ; pause = min(pause*2, longPoll) {
		s, err := status(ctx, c, "")
		switch {
		case ctx.Err() != nil:
			return errAnswerNow
		case err != nil:
			return err
		case !busy(s):
			return nil
		}
		line.update(s)
		sleep(ctx, pause)
	}
}

// status asks for the daemon's state, or with a path for that file's.
func status(ctx context.Context, c *conn, path string) (*ipc.StatusResult, error) {
	var s ipc.StatusResult
	if err := c.Call(ctx, ipc.MethodStatus, ipc.StatusParams{Path: path}, &s); err != nil {
		return nil, err
	}
	return &s, nil
}
