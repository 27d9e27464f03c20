package daemon_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"testing"

	"quern/ipc"
)

// zipped is a zip archive of files: names and contents by turns.
func zipped(files ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// tarred is a tar archive, compressed by gzip.
func tarred(files ...string) string {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))}); err != nil {
			panic(err)
		}
		fmt.Fprint(w, files[i+1])
	}
	w.Close()
	g.Close()
	return b.String()
}

func TestMembersAreDocuments(t *testing.T) {
	h := start(t, `exclude = ["**/private/**"]`+"\n")
	inner := zipped("deep.md", "# Head\n\nthe numbat sleeps\n")
	h.write("a.zip", zipped("x/quoll.txt", "the quoll runs", "pic.png", "\x89PNG\r\n\x1a\n", "in.zip", inner, "private/q.txt", "quoll", ".env", "quoll=1"))
	h.write("b.tar.gz", tarred("bilby.txt", "the bilby digs"))
	h.write("log.txt.gz", gzipped("the wombat walks"))
	for query, want := range map[string]string{
		"quoll": "a.zip!/x/quoll.txt", "numbat": "a.zip!/in.zip!/deep.md", "bilby": "b.tar.gz!/bilby.txt", "wombat": "log.txt.gz",
	} {
		if got := rels(h.search(query)); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	hit := h.search("wombat").Hits[0]
	if hit.Origin != "extracted" || hit.Type != "txt" || hit.Bytes != [2]int{0, 16} {
		t.Errorf("%+v", hit)
	}
	shown := call[ipc.PassagesResult](h, ipc.MethodPassages, ipc.PassagesParams{Path: h.path("a.zip!/in.zip!/deep.md")})
	if len(shown.Passages) != 1 || shown.Passages[0].Text != "the numbat sleeps" || shown.Type != "md" {
		t.Errorf("%+v", shown)
	}
	for name, want := range map[string]string{
		"a.zip": "indexed ", "a.zip!/x/quoll.txt": "indexed ", "a.zip!/pic.png": "skipped a PNG image: no text to read",
		"a.zip!/private/q.txt": `skipped folder a.zip!/private: excluded by exclude = "**/private/**"`,
		"a.zip!/no.txt":        "unknown not in " + h.path("a.zip"), "a.zip!/in.zip!/deep.md": "indexed ",
		"c.zip!/x": "unknown no such file or directory",
	} {
		if s := h.file(name); s.State+" "+s.Reason != want {
			t.Errorf("%s: %s %s, want %s", name, s.State, s.Reason, want)
		}
	}
	if s := h.file("a.zip!/.env"); s.State != "skipped" {
		t.Errorf("a private file in an archive: %+v", s)
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	fmt.Fprint(g, text)
	g.Close()
	return b.String()
}

// Members come, change and go with their file, over restarts, and verify agrees.
func TestMembersFollowTheirFile(t *testing.T) {
	h := start(t, "")
	check := func(step, want string) {
		t.Helper()
		if got := rels(h.search("apple")); got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
		v := call[ipc.VerifyResult](h, ipc.MethodVerify, ipc.VerifyParams{})
		if len(v.Differences) > 0 || v.Index != "" {
			t.Errorf("%s: verify: %+v", step, v)
		}
	}
	h.write("a.zip", zipped("1.txt", "apple", "2.txt", "apple pie", "3.txt", "pear"))
	check("new", "a.zip!/1.txt a.zip!/2.txt")
	h.write("a.zip", zipped("2.txt", "apple pie", "3.txt", "apple"))
	check("edited", "a.zip!/3.txt a.zip!/2.txt")
	if err := os.Rename(h.path("a.zip"), h.path("b.zip")); err != nil {
		t.Fatal(err)
	}
	check("renamed", "b.zip!/3.txt b.zip!/2.txt")
	restart := func(meanwhile func() error) {
		h.stop()
		if err := meanwhile(); err != nil {
			t.Fatal(err)
		}
		h = startOn(t, h.dir, h.notes, "[[folder]]\npath = \""+h.notes+"\"\n")
	}
	restart(func() error { return nil })
	check("restarted", "b.zip!/3.txt b.zip!/2.txt")
	restart(func() error { return os.Rename(h.path("b.zip"), h.path("c.zip")) })
	check("renamed while away", "c.zip!/3.txt c.zip!/2.txt")
	restart(func() error { return os.Remove(h.path("c.zip")) })
	check("removed while away", "")
	h.write("c.zip", zipped("1.txt", "apple"))
	check("back", "c.zip!/1.txt")
	h.write("c.zip", "apple in plain words")
	check("text now", "c.zip")
	h.write("c.zip", zipped("1.txt", "apple"))
	check("an archive again", "c.zip!/1.txt")
	if err := os.Remove(h.path("c.zip")); err != nil {
		t.Fatal(err)
	}
	check("removed", "")
}

// New rules of a folder hold for members, too.
func TestMembersFollowTheRules(t *testing.T) {
	h := start(t, "")
	h.write("a.zip", zipped("x/1.txt", "apple", "y/2.txt", "apple"))
	if got := rels(h.search("apple")); got != "a.zip!/x/1.txt a.zip!/y/2.txt" {
		t.Fatal(got)
	}
	for exclude, want := range map[string]string{`["**/x/**"]`: "a.zip!/y/2.txt", `[]`: "a.zip!/x/1.txt a.zip!/y/2.txt"} {
		write(t, h.config, "[[folder]]\npath = \""+h.notes+"\"\nexclude = "+exclude+"\n")
		call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
		h.until("exclude = "+exclude, func(ipc.StatusResult) bool { return rels(h.search("apple")) == want })
	}
}

// A file that ends its reader is quarantined until it changes, over a restart.
func TestQuarantine(t *testing.T) {
	h := start(t, "")
	h.stop()
	h.write("a.zip", zipped("1.txt", "apple"))
	info, err := os.Stat(h.path("a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf(`{%q: {"size": %d, "modified": %d, "version": 1, "reason": "it hung"}}`, fmt.Sprintf("%q", h.path("a.zip")), info.Size(), info.ModTime().UnixNano())
	write(t, h.dir+"/data/quarantine.json", list)
	h = startOn(t, h.dir, h.notes, "[[folder]]\npath = \""+h.notes+"\"\n")
	if s := h.file("a.zip"); s.State != ipc.FileFailed || s.Reason != "it hung" {
		t.Errorf("%+v", s)
	}
	h.write("a.zip", zipped("1.txt", "apple", "2.txt", "apple"))
	if got := rels(h.search("apple")); got != "a.zip!/1.txt a.zip!/2.txt" {
		t.Errorf("after a change: %q", got)
	}
}
