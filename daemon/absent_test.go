package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"quern/ipc"
)

// A folder that goes away keeps, hides or drops its passages, as the config says,
// and has them again when it is back; so it is over a restart.
func TestWhenAbsent(t *testing.T) {
	for _, mode := range []string{"keep", "hide", "drop"} {
		t.Run(mode, func(t *testing.T) {
			dir := shortDir(t)
			drive := filepath.Join(dir, "drive")
			vault := filepath.Join(drive, "vault")
			mkdir(t, vault)
			other := filepath.Join(dir, "other")
			mkdir(t, other)
			write(t, filepath.Join(other, "o.txt"), "apple")
			h := startOn(t, dir, vault, "[[folder]]\npath = \""+vault+"\"\nwhen_absent = \""+mode+"\"\n[[folder]]\npath = \""+other+"\"\n")
			h.write("v.txt", "apple secret")
			h.write("logo.png", "\x89PNG\x00")
			if got := rels(h.search("apple")); got != "o.txt v.txt" {
				t.Fatalf("found %q", got)
			}
			expectAway := func() {
				t.Helper()
				want := map[string]string{"keep": "o.txt v.txt", "hide": "o.txt", "drop": "o.txt"}[mode]
				// Without sync: what is gone is not told even in the instant after.
				r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple"})
				if got := rels(r); got != want {
					t.Errorf("away: found %q, want %q", got, want)
				}
				_, err := try[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("v.txt")})
				if told := err == nil; told != (mode == "keep") {
					t.Errorf("away: its passages are told: %t (%v)", told, err)
				}
				_, err = try[ipc.Explanation](h, ipc.MethodExplain, ipc.ExplainParams{Query: "apple", Path: h.path("v.txt")})
				if told := err == nil; told != (mode == "keep") {
					t.Errorf("away: its scores are told: %t (%v)", told, err)
				}
				documents := map[string]int{"keep": 2, "hide": 2, "drop": 1}[mode]
				s := h.until("as many documents as there should be", func(s ipc.StatusResult) bool { return s.Files.Indexed == documents })
				if mode != "keep" && len(s.Problems) > 0 {
					t.Errorf("away: problems %+v", s.Problems)
				}
				if f := h.file("v.txt"); (f.State == ipc.FileIndexed) != (mode == "keep") {
					t.Errorf("away: the file is %+v", f)
				}
			}
			expectBack := func() {
				t.Helper()
				h.until("the folder is there", func(s ipc.StatusResult) bool { return s.Folders[0].State == "watching" && s.Pending == 0 })
				if got := rels(h.search("apple")); got != "o.txt v.txt" {
					t.Errorf("back: found %q", got)
				}
				if v := call[ipc.VerifyResult](h, ipc.MethodVerify, ipc.VerifyParams{}); len(v.Differences) > 0 || v.Documents != 2 {
					t.Errorf("back: %+v", v)
				}
			}
			away := filepath.Join(dir, "away")
			move := func(from, to string) {
				t.Helper()
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			move(drive, away)
			expectAway()
			move(away, drive)
			expectBack()
			h = h.again(func() { move(drive, away) })
			expectAway()
			move(away, drive)
			expectBack()
		})
	}
}

// What moved while no daemon ran is known again by its identity and content: it is
// read, and nothing of it is extracted.
func TestMovedWhileDown(t *testing.T) {
	h := start(t, "")
	for _, name := range []string{"a/1.txt", "a/b/2.txt", "a/b/3.txt", "4.txt", "5.txt"} {
		h.write(name, "apple "+name)
	}
	h.sync()
	h = h.again(func() {
		for _, move := range [][2]string{{"a", "z"}, {"4.txt", "z/b/4.txt"}} {
			if err := os.Rename(h.path(move[0]), h.path(move[1])); err != nil {
				t.Fatal(err)
			}
		}
	})
	h.sync()
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	// 5.txt may be read again: it may not have rested before.
	if c := s.Counters; c["moved"] != 4 || c["extracted"]+c["unchanged"] != 1 {
		t.Errorf("moved %d, extracted %d, unchanged %d", c["moved"], c["extracted"], c["unchanged"])
	}
	if got := rels(h.search("4")); got != "z/b/4.txt" {
		t.Errorf("found %q", got)
	}
	compare(t, h)
}

// A pause gathers changes, is told to those who wait, outlasts the daemon and ends.
func TestPause(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	if r := call[ipc.PauseResult](h, ipc.MethodPause, ipc.PauseParams{}); r.Paused == nil || r.Paused.Until != "" {
		t.Fatalf("paused: %+v", r)
	}
	h.sync() // nothing waits
	h.write("b.txt", "apple")
	h.until("the change is seen", func(s ipc.StatusResult) bool { return s.Pending > 0 })
	if _, err := try[ipc.SyncResult](h, ipc.MethodSync, ipc.SyncParams{}); code(err) != ipc.CodeTimeout {
		t.Errorf("sync: %v", err)
	}
	r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple", Sync: true, SyncTimeoutMS: 60000})
	if !r.Stale || rels(r) != "a.txt" {
		t.Errorf("stale %t, found %q", r.Stale, rels(r))
	}
	h = h.again(func() {})
	s := h.until("the change is seen", func(s ipc.StatusResult) bool { return s.Pending > 0 })
	if s.Paused == nil || len(s.Warnings) == 0 {
		t.Errorf("after a restart: %+v", s)
	}
	if r := call[ipc.PauseResult](h, ipc.MethodResume, ipc.Empty{}); r.Paused != nil {
		t.Errorf("resumed: %+v", r)
	}
	if got := rels(h.search("apple")); got != "a.txt b.txt" {
		t.Errorf("found %q", got)
	}
	h = h.again(func() {})
	if got := rels(h.search("apple")); got != "a.txt b.txt" {
		t.Errorf("after another restart: found %q", got)
	}
	call[ipc.PauseResult](h, ipc.MethodPause, ipc.PauseParams{Seconds: 0.05})
	h.write("c.txt", "apple")
	h.until("it ends by itself", func(s ipc.StatusResult) bool { return s.Paused == nil && s.Files.Indexed == 3 })
	if _, err := try[ipc.PauseResult](h, ipc.MethodPause, ipc.PauseParams{Seconds: -1}); code(err) != ipc.CodeInvalidParams {
		t.Errorf("a negative pause: %v", err)
	}
}

// A subscriber is told of no file in a folder that is hidden or dropped while it is
// away, whether it subscribed before or after: it is told to ask anew.
func TestSubscribeWhenAbsent(t *testing.T) {
	for _, mode := range []string{"hide", "drop"} {
		t.Run(mode, func(t *testing.T) {
			dir := shortDir(t)
			vault, other := filepath.Join(dir, "drive", "vault"), filepath.Join(dir, "other")
			mkdir(t, vault)
			mkdir(t, other)
			h := startOn(t, dir, vault, "[[folder]]\npath = \""+vault+"\"\nwhen_absent = \""+mode+"\"\n[[folder]]\npath = \""+other+"\"\n")
			h.sync()
			early := h.listener().subscribe(ipc.SubscribeParams{})
			h.write("v.txt", "apple secret")
			h.sync()
			if err := os.Rename(filepath.Join(dir, "drive"), filepath.Join(dir, "away")); err != nil {
				t.Fatal(err)
			}
			if got := rels(h.search("apple")); got != "" {
				t.Fatalf("away: found %q", got)
			}
			late := h.listener()
			late.subscribe(ipc.SubscribeParams{Since: &early.Generation, Instance: early.Instance})
			select {
			case n := <-late.notices:
				if !n.FreshStart || len(n.Added)+len(n.Modified)+len(n.Removed) > 0 {
					t.Errorf("told %+v", n)
				}
			case <-time.After(patience):
				t.Error("no notice")
			}
		})
	}
}
