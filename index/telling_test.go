package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTelling(t *testing.T) {
	e := openEngine(t, plainOptions())
	var changes []Change
	for i, text := range []string{
		"alone whale whale sings to the sea", "the whale and the sea", "the sea", "the lava", "the lava",
	} {
		changes = append(changes, putText(fmt.Sprint("/", i, ".txt"), text))
	}
	if _, err := e.Apply(context.Background(), changes); err != nil {
		t.Fatal(err)
	}
	s := e.Snapshot()
	for _, c := range []struct {
		passages []string
		own      bool
		most     int
		want     string
	}{
		{[]string{"alone whale whale sings to the sea"}, true, 2, "whale whale sea"},
		{[]string{"alone whale whale sings to the sea"}, false, 3, "alone whale whale sings"},
		{[]string{"The LAVA, unheard of"}, false, 9, "LAVA"},
		{[]string{"the whale and the sea", "the sea"}, true, 9, "whale sea sea"},
		{nil, false, 9, ""},
	} {
		if got := strings.Join(s.Telling(c.passages, c.own, c.most), " "); got != c.want {
			t.Errorf("%q (own %v): got %q, want %q", c.passages, c.own, got, c.want)
		}
	}
	// A search for the words has the terms, and as often.
	words := s.Telling([]string{"whale sea whale"}, false, 9)
	if !slices.Equal(words, []string{"whale", "sea", "whale"}) {
		t.Errorf("got %q", words)
	}
}
