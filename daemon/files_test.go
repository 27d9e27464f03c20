package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

// Files that cannot be indexed as they are: each is named with its reason, and
// none disturbs the others.
func TestBadFiles(t *testing.T) {
	h := start(t, "max_file_size = \"1MiB\"\n")
	h.write("good.txt", "apple")
	h.write("invalid.txt", "caf\xe9 apple")
	h.write("binary.txt", "apple\x00\x01\x02")
	h.write("empty.txt", "")
	h.write("key.pem", "apple")
	h.write("node_modules/x.txt", "apple")
	h.write(".hidden.txt", "apple")
	big, err := os.Create(h.path("big.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(200 << 20); err != nil {
		t.Fatal(err)
	}
	big.Close()
	mkdir(t, h.path("loop"))
	if err := os.Symlink("..", h.path("loop/again")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	makeFIFO(t, h.path("pipe.txt"))

	if got := rels(h.search("apple")); got != "good.txt invalid.txt" && got != "invalid.txt good.txt" {
		t.Errorf("apple is found in %q", got)
	}
	p := call[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("invalid.txt")})
	if len(p.Passages) != 1 || p.Passages[0].Text != "café apple" {
		t.Errorf("a legacy encoding is shown as %+v", p.Passages)
	}
	for name, want := range map[string]struct{ state, reason string }{
		"good.txt":           {ipc.FileIndexed, ""},
		"empty.txt":          {ipc.FileIndexed, ""},
		"binary.txt":         {ipc.FileSkipped, "binary"},
		"big.txt":            {ipc.FileSkipped, "large"},
		"pipe.txt":           {ipc.FileSkipped, "FIFO"},
		"key.pem":            {ipc.FileSkipped, "secret"},
		".hidden.txt":        {ipc.FileSkipped, "hidden"},
		"node_modules/x.txt": {ipc.FileSkipped, "built-in"},
		"nosuch.txt":         {ipc.FileUnknown, "no such file"},
		"loop/again":         {ipc.FileSkipped, "symbolic link"},
		"../elsewhere.txt":   {ipc.FileUnknown, "in no folder"},
	} {
		if got := h.file(name); got.State != want.state || !strings.Contains(got.Reason, want.reason) {
			t.Errorf("%s: %s (%s), want %s (…%s…)", name, got.State, got.Reason, want.state, want.reason)
		}
	}
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	if s.State != ipc.StateQuiescent || s.Files.Indexed != 3 || s.Files.Skipped != 3 || s.Files.Failed != 0 {
		t.Errorf("status %+v", s)
	}

	// What was refused is indexed as soon as it can be.
	h.write("binary.txt", "banana")
	if err := os.Remove(h.path("pipe.txt")); err != nil {
		t.Fatal(err)
	}
	h.write("pipe.txt", "banana")
	if got := h.search("banana"); len(got.Hits) != 2 {
		t.Errorf("banana is found in %q", rels(got))
	}
	// And what was indexed goes as soon as it cannot be.
	h.write("good.txt", "apple\x00")
	if got := rels(h.search("apple")); got != "invalid.txt" {
		t.Errorf("apple is found in %q", got)
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	if err := os.Chmod(h.path("a.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if got := h.file("a.txt"); got.State != ipc.FileFailed || !strings.Contains(got.Reason, "permission denied") {
		t.Errorf("%+v", got)
	}
	if err := os.Chmod(h.path("a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := rels(h.search("apple")); got != "a.txt" {
		t.Errorf("apple is found in %q", got)
	}
}

func TestFollowedSymlinks(t *testing.T) {
	dir := shortDir(t)
	notes, other := filepath.Join(dir, "notes"), filepath.Join(dir, "other")
	mkdir(t, notes)
	mkdir(t, other)
	write(t, filepath.Join(other, "a.txt"), "apple")
	for link, target := range map[string]string{"link": other, "self": ".", "file.txt": filepath.Join(other, "a.txt")} {
		if err := os.Symlink(target, filepath.Join(notes, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	h := startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\nfollow_symlinks = true\n")
	if r := h.search("apple"); len(r.Hits) != 2 {
		t.Errorf("apple is found in %q", rels(r))
	}
}

func TestRenamesKeepTheIndexRight(t *testing.T) {
	h := start(t, "")
	h.write("dir/a.txt", "apple")
	h.write("dir/b.md", "# Pear\n\npear text")
	h.sync()
	if err := os.Rename(h.path("dir"), h.path("moved")); err != nil {
		t.Fatal(err)
	}
	if got := rels(h.search("apple pear")); got != "moved/a.txt moved/b.md" && got != "moved/b.md moved/a.txt" {
		t.Errorf("found in %q", got)
	}
	// Another ending asks for another format.
	if err := os.Rename(h.path("moved/b.md"), h.path("moved/b.txt")); err != nil {
		t.Fatal(err)
	}
	r := h.search("pear")
	if rels(r) != "moved/b.txt" || len(r.Hits[0].Heading) != 0 || r.Hits[0].Type != "txt" {
		t.Errorf("found %+v", r.Hits)
	}
}

// A file that looks like another one renamed (number, size, time) is read all the
// same: its content may differ.
func TestWhatOnlyLooksLikeARename(t *testing.T) {
	h := start(t, "")
	old := time.Now().Add(-time.Hour)
	h.write("a.txt", "apple")
	if err := os.Chtimes(h.path("a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	h.sync()
	if err := os.Rename(h.path("a.txt"), h.path("b.txt")); err != nil {
		t.Fatal(err)
	}
	h.write("b.txt", "peach")
	if err := os.Chtimes(h.path("b.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	if got := rels(h.search("peach")); got != "b.txt" {
		t.Errorf("peach is found in %q", got)
	}
	if got := rels(h.search("apple")); got != "" {
		t.Errorf("apple is found in %q", got)
	}
}
