package cli

import (
	"fmt"
	"math"
	"time"

	"quern/ipc"
)

// progressLine is one line on a terminal that is written over and over; on
// anything else it writes nothing.
type progressLine struct {
	out   *output
	note  string // said at the end of the line
	shown bool
}

func newProgressLine(out *output, note string) *progressLine {
	return &progressLine{out: out, note: note}
}

// update shows how far the daemon has come.
func (p *progressLine) update(s *ipc.StatusResult) {
	if !p.out.terminal || dumb() {
		return
	}
	line := cut(progressText(s)+p.note, p.out.columns-1)
	p.out.printf("\r\x1b[K%s", line)
	_ = p.out.flush() // a lost progress line is no failure of the verb
	p.shown = true
}

// clear takes the line away.
func (p *progressLine) clear() {
	if !p.shown {
		return
	}
	p.out.printf("\r\x1b[K")
	_ = p.out.flush()
	p.shown = false
}

// progressText describes how far catching up has come.
func progressText(s *ipc.StatusResult) string {
	p := s.Progress
	text := s.State
	if p.Total > 0 {
		text += fmt.Sprintf(": %s of %s files", count(p.Done), count(p.Total))
	} else if s.Pending > 0 {
		text += ": " + plural(s.Pending, "change waiting", "changes waiting")
	}
	if p.FilesPerSec > 0 {
		text += fmt.Sprintf(", %s/s", rate(p.FilesPerSec))
	}
	if p.SecondsLeft > 0 {
		text += ", " + timeLeft(p.SecondsLeft) + " left"
	}
	return text
}

// rate writes files per second: whole above ten.
func rate(perSecond float64) string {
	if perSecond >= 10 {
		return count(int(math.Round(perSecond)))
	}
	return fmt.Sprintf("%.1f", perSecond)
}

// timeLeft writes seconds as people say them.
func timeLeft(seconds float64) string {
	d := time.Duration(math.Ceil(seconds)) * time.Second
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
