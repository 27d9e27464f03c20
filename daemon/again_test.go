package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestAgain(t *testing.T) {
	a := newAgain()
	now := time.Now()
	for n := range 20 { // the wait doubles, up to its limit
		a.add("f", now)
		wait := min(againFirst<<n, againMost)
		if got := a.due(now.Add(wait - 1)); len(got) != 0 {
			t.Fatalf("after %d failures %v are due early", n+1, got)
		}
		now = now.Add(wait)
		if got := a.due(now); !slices.Equal(got, []string{"f"}) {
			t.Fatalf("after %d failures %v are due", n+1, got)
		}
	}
	a.forget("f")
	if got := a.due(now.Add(againMost)); len(got) != 0 {
		t.Errorf("%v are due though forgotten", got)
	}
}

// What no event will tell the end of is tried again, and nothing else.
func TestWhatIsReadAgain(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errChanged: false, errVanished: false, errNotRegular: false, errTooLarge: false,
		&fs.PathError{Op: "open", Err: syscall.EACCES}: false,
		&fs.PathError{Op: "open", Err: syscall.EMFILE}: true,
		&fs.PathError{Op: "read", Err: syscall.EIO}:    true,
		errors.New("unknown"):                          true,
		fmt.Errorf("read: %w", errChanged):             false,
	} {
		p := newPipeline(nil, nil)
		p.noteRead("f", err)
		if got := len(p.again.due(time.Now().Add(againMost))) == 1; got != want {
			t.Errorf("%v: read again %v, want %v", err, got, want)
		}
	}
}
