package watcher

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// TestNames: names are bytes. Those that differ in case or Unicode form alone are
// different files where the file system says so, and any byte may stand in one.
func TestNames(t *testing.T) {
	root := t.TempDir()
	_, c := start(t, Options{}, Root{Path: root})
	for _, names := range [][2]string{
		{"readme", "README"},
		{"caf\u00e9", "cafe\u0301"}, // composed and decomposed
		{"two\nlines", "tab\tand\rreturn"},
		{"broken\xff\xfe\x80", "\xc3("},
		{" ", "*?[a]"},
		{"-rf", "a\\b"},
	} {
		a, b := root+"/"+names[0], root+"/"+names[1]
		if err := os.WriteFile(a, []byte("1"), 0o600); err != nil {
			if runtime.GOOS == "linux" {
				t.Fatal(err)
			}
			continue // the file system does not take the name
		}
		c.expect(root)
		for _, way := range [][2]string{{a, b}, {b, a}, {a, b}} {
			must(t, os.Rename(way[0], way[1]))
			c.expect(root)
		}
		write(t, a, "22")
		c.expect(root)
		// Both names as directories, with something in them.
		must(t, os.RemoveAll(a))
		must(t, os.RemoveAll(b))
		write(t, a+"/in/"+names[1], "333")
		must(t, os.Rename(a, b))
		write(t, b+"/in/"+names[0], "4444")
		c.expect(root)
		must(t, os.RemoveAll(b))
		c.expect(root)
	}
}

// TestSlowCopy: a file that comes in pieces, and a log that is added to, are told
// of in the end as they are, though they may have been told of before.
func TestSlowCopy(t *testing.T) {
	root := t.TempDir()
	w, c := start(t, Options{Settle: 5 * time.Millisecond}, Root{Path: root})
	f, err := os.Create(root + "/copy")
	must(t, err)
	defer f.Close()
	text := ""
	for i := range 30 {
		_, err := f.WriteString("piece ")
		must(t, err)
		if text += "piece "; i%10 == 9 {
			eventually(t, "it is told of while it grows", func() bool { return len(c.table()[root+"/copy"]) > 0 })
		}
	}
	must(t, f.Sync())
	eventually(t, "it is told of as it is", func() bool { return c.table()[root+"/copy"] == text })
	c.expect(root)
	if w.State().Pending < 0 {
		t.Error("tokens do not add up")
	}
}
