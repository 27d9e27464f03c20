package query

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Dates says how dates are written.
const Dates = "a date is 2026-11-01, 2026-11, 2026, today, yesterday, monday, 7d, 2w, 3m, 1y, 36h, 30min or RFC 3339"

var errDate = errors.New("not a date")

// ParseDate reads a date, in the time zone of now. It is the beginning of a day
// (2026-11-01, today, yesterday, or a weekday: the last one before today), of a
// month (2026-11) or a year (2026); an instant (RFC 3339); or so long before now:
// minutes (30min), hours (36h), days (7d), weeks (2w), months (3m) or years (1y)
// of the calendar. The error says that it is none of these.
func ParseDate(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01", "2006"} {
		if t, err := time.ParseInLocation(layout, strings.ToUpper(s), now.Location()); err == nil {
			return t, nil
		}
	}
	word := strings.ToLower(s)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return now, nil
	case "today":
		return today, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), nil
	}
	for back := 1; back <= 7; back++ {
		if t := today.AddDate(0, 0, -back); word == strings.ToLower(t.Weekday().String()) {
			return t, nil
		}
	}
	if t, ok := ago(word, now); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is %w", s, errDate)
}

// maxAge is the highest number that an age may have: no date is so far back that
// it has no year.
const maxAge = 1_000_000

// ago reads an age, and gives the time that was so long before now.
func ago(s string, now time.Time) (time.Time, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n > maxAge {
		return time.Time{}, false
	}
	switch s[digits:] {
	case "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "m":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
