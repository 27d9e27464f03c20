package extract

import (
	"bytes"
	"regexp"
)

// parseSubtitles reads SRT, WebVTT, ASS and their like: the text stays as it is,
// and sections of some cues each have the time of the first as their heading.
func parseSubtitles(d *Document) error {
	var marks []place
	r := lineReader{text: d.Text}
	number := -1 // where a cue's number stands, which belongs to the cue
	for {
		l, ok := r.read()
		if !ok {
			break
		}
		if time := cueTime.FindSubmatch(l.content[:min(len(l.content), maxCue)]); time != nil {
			start := l.start
			if number >= 0 {
				start = number
			}
			marks = append(marks, place{at: start, path: []string{string(bytes.Join(time[1:], nil))}})
		}
		number = -1
		if n := bytes.TrimSpace(l.content); len(n) > 0 && len(n) < 8 && len(bytes.Trim(n, "0123456789")) == 0 {
			number = l.start
		}
	}
	d.Sections = group(len(d.Text), marks, cueBytes, firstOnly)
	return nil
}

// cueBytes is the least length of a section of cues, maxCue how much of a line is
// looked at for a time.
const (
	cueBytes = 600
	maxCue   = 200
)

// cueTime finds the time at which a cue begins, without its fraction, as SRT and
// WebVTT, ASS, and lyrics write it.
var cueTime = regexp.MustCompile(`^\s*((?:\d{1,2}:)?\d{1,2}:\d{2})(?:[.,]\d{1,3})?\s*-->|^Dialogue:[^,]*,(\d{1,2}:\d{2}:\d{2})[.,]|^\[(\d{1,2}:\d{2})[.:]\d{1,3}\]`)
