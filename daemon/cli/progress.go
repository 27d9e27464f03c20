package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"quern/ipc"
)

// answersNow says what an interrupt does while a search waits: at length, and
// in few columns.
var answersNow = [2]string{" (Ctrl-C answers from what is there)", " (Ctrl-C answers now)"}

// smoothing is the time over which the time left is averaged.
const smoothing = 5 * time.Second

// progressLine is one line on a terminal that is written over and over; on
// anything else it writes nothing.
type progressLine struct {
	out   *output
	note  [2]string // said at the end of the line: at length, and shortly
	shown bool
	left  float64   // the time left in seconds, averaged, as of last
	last  time.Time // zero before the first update
}

func newProgressLine(out *output, note [2]string) *progressLine {
	return &progressLine{out: out, note: note}
}

// update shows how far the daemon has come.
func (p *progressLine) update(s *ipc.StatusResult) {
	if !p.out.terminal || dumb() {
		return
	}
	smooth := *s
	smooth.Progress.SecondsLeft = p.average(s.Progress.SecondsLeft, time.Now())
	p.out.printf("\r\x1b[K%s", progressFit(&smooth, p.note, p.out.columns-1))
	_ = p.out.flush() // a lost progress line is no failure of the verb
	p.shown = true
}

// average lets the time left run down as time passes, and pulls it slowly to
// what the daemon says now.
func (p *progressLine) average(seconds float64, now time.Time) float64 {
	if seconds <= 0 || p.left <= 0 {
		p.left, p.last = seconds, now
		return seconds
	}
	passed := now.Sub(p.last)
	share := 1 - math.Exp(-passed.Seconds()/smoothing.Seconds())
	expected := max(0, p.left-passed.Seconds())
	p.left, p.last = max(expected+share*(seconds-expected), 0.001), now
	return p.left
}

// write shows a text of the caller's own.
func (p *progressLine) write(text string) {
	if !p.out.terminal || dumb() {
		return
	}
	p.out.printf("\r\x1b[K%s", cut(text, p.out.columns-1))
	_ = p.out.flush() // as in update
	p.shown = true
}

// progressFit is the fullest account of the progress that fits. What an
// interrupt does is said before all else.
func progressFit(s *ipc.StatusResult, note [2]string, columns int) string {
	brief := *s
	brief.Progress.FilesPerSec = 0
	_, fields, _ := strings.Cut(progressText(&brief), ": ")
	tight := s.State
	if p := s.Progress; p.Total > 0 {
		tight = count(p.Done) + "/" + count(p.Total)
	}
	if fields == "" {
		fields = tight
	}
	texts := []string{progressText(s) + note[0], progressText(s) + note[1], progressText(&brief) + note[1], fields + note[1]}
	if s.Progress.SecondsLeft > 0 {
		texts = append(texts, tight+", "+timeLeft(s.Progress.SecondsLeft)+note[1])
	}
	for _, text := range append(texts, tight+note[1]) {
		if displayWidth(text) <= columns {
			return text
		}
	}
	return cut(strings.TrimSpace(strings.Trim(note[1], " ()")+" "+tight), columns)
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
