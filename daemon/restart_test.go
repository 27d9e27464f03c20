package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern/daemon"
	"quern/index/segment/vfs"
	"quern/ipc"
)

// again ends the daemon and starts another on the same files, index and config,
// after change has been done while none ran.
func (h *harness) again(change func()) *harness {
	h.t.Helper()
	h.stop()
	change()
	cfg, err := os.ReadFile(h.config)
	if err != nil {
		h.t.Fatal(err)
	}
	return startOn(h.t, h.dir, h.notes, string(cfg))
}

func (h *harness) generation() uint64 {
	return call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{}).Generation
}

func TestARestartFindsWhatHasChanged(t *testing.T) {
	h := start(t, "")
	for name, text := range map[string]string{
		"kept.txt": "apple", "edited.txt": "banana", "removed.txt": "cherry", "moved.txt": "date",
		"dir/inner.txt": "elder", "ignored.txt": "fig", "type.txt": "# Grape\n\ngrape",
	} {
		h.write(name, text)
	}
	h.sync()
	h = h.again(func() {
		h.write("edited.txt", "bananas and more")
		h.write("new.txt", "huckleberry")
		h.write(".gitignore", "ignored.txt\n")
		for from, to := range map[string]string{"moved.txt": "renamed.txt", "dir": "other", "type.txt": "type.md"} {
			if err := os.Rename(h.path(from), h.path(to)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(h.path("removed.txt")); err != nil {
			t.Fatal(err)
		}
	})
	for query, want := range map[string]string{
		"apple": "kept.txt", "more": "edited.txt", "cherry": "", "date": "renamed.txt", "elder": "other/inner.txt",
		"fig": "", "huckleberry": "new.txt", "grape": "type.md",
	} {
		if got := rels(h.search(query)); got != want {
			t.Errorf("%s is found in %q, not in %q", query, got, want)
		}
	}
	compare(t, h)
}

// A restart with nothing changed writes nothing and reads no file.
func TestAQuietRestartChangesNothing(t *testing.T) {
	h := start(t, "")
	for i := range 50 {
		h.write(fmt.Sprintf("f%d.txt", i), fmt.Sprintf("apple number %d", i))
	}
	h.sync()
	h.until("the files to have rested", func(ipc.StatusResult) bool { // their stat then proves them
		return call[ipc.ReindexResult](h, ipc.MethodReindex, ipc.ReindexParams{Path: h.notes}).Generation > 0 && rested(t, h)
	})
	h = h.again(func() {})
	h.sync()
	before := h.generation()
	h = h.again(func() {})
	h.sync()
	if after := h.generation(); after != before {
		t.Errorf("generation %d after %d", after, before)
	}
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	if s.Files.Indexed != 50 || s.Index.DiskBytes == 0 {
		t.Errorf("status %+v", s)
	}
}

// rested reports whether the newest of the files is older than any clock's tick.
func rested(t *testing.T, h *harness) bool {
	t.Helper()
	info, err := os.Stat(h.path("f49.txt"))
	if err != nil {
		t.Fatal(err)
	}
	probe := filepath.Join(h.dir, "clock")
	write(t, probe, "")
	now, err := os.Stat(probe)
	if err != nil {
		t.Fatal(err)
	}
	return now.ModTime().Sub(info.ModTime()).Milliseconds() > 100
}

// A folder that cannot be reached at the start keeps what was indexed of it, and
// loses what has gone meanwhile once it is back.
func TestAFolderAwayAtTheStart(t *testing.T) {
	dir := shortDir(t)
	notes := filepath.Join(dir, "drive", "notes")
	mkdir(t, notes)
	h := startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	h.write("a.txt", "apple")
	h.write("b.txt", "apple")
	h.sync()
	h = h.again(func() {
		if err := os.Rename(filepath.Join(dir, "drive"), filepath.Join(dir, "away")); err != nil {
			t.Fatal(err)
		}
	})
	if r := h.search("apple"); len(r.Hits) != 2 {
		t.Errorf("apple is found in %q", rels(r))
	}
	if err := os.Remove(filepath.Join(dir, "away", "notes", "b.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "drive")); err != nil {
		t.Fatal(err)
	}
	h.until("the removal", func(ipc.StatusResult) bool { return rels(h.search("apple")) == "a.txt" })
}

func TestAFolderRemovedFromTheConfigWhileAway(t *testing.T) {
	h := start(t, "")
	other := filepath.Join(h.dir, "other")
	mkdir(t, other)
	write(t, filepath.Join(other, "b.txt"), "banana")
	call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: other})
	h.write("a.txt", "banana")
	h.sync()
	h = h.again(func() { write(t, h.config, "[[folder]]\npath = \""+h.notes+"\"\n") })
	if got := rels(h.search("banana")); got != "a.txt" {
		t.Errorf("banana is found in %q", got)
	}
}

// Random changes while the daemon runs and while it does not: the answers are
// those of a fresh index all the same.
func TestStormsOverRestarts(t *testing.T) {
	h := start(t, "")
	s := &storm{t: t, root: h.notes, r: rand.New(rand.NewPCG(11, 1))}
	steps := func() {
		for range 60 {
			s.step()
		}
	}
	for range 4 {
		steps()
		h.sync()
		h = h.again(steps)
		steps()
		compare(t, h)
	}
}

// Bytes of the index that have changed on disk are found, what they held is
// indexed again, and the answers are right.
func TestADamagedIndexIsMended(t *testing.T) {
	h := start(t, "")
	for i := range 30 {
		h.write(fmt.Sprintf("f%d.txt", i), fmt.Sprintf("apple number %d and %d", i, i*i))
	}
	h.sync()
	damaged := 0
	h = h.again(func() {
		segments, err := filepath.Glob(filepath.Join(h.dir, "data", "index", "*", "*.seg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range segments {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := len(data) / 3; i < len(data)/2; i++ {
				data[i] ^= 0x55
			}
			write(t, path, string(data))
			damaged++
		}
	})
	if damaged == 0 {
		t.Fatal("there is no segment to damage")
	}
	h.until("all documents", func(ipc.StatusResult) bool { return h.search("apple").Total == 30 })
	compare(t, h)
	if r := call[ipc.VerifyResult](h, ipc.MethodVerify, ipc.VerifyParams{}); r.Index != "" || len(r.Differences) != 0 || r.Documents != 30 {
		t.Errorf("verify: %+v", r)
	}
}

func TestTwoDaemonsDoNotShareData(t *testing.T) {
	h := start(t, "")
	err := daemon.Run(context.Background(), daemon.Options{ConfigPath: h.config, Socket: filepath.Join(h.dir, "run2", "q.sock")})
	if !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), "data") {
		t.Errorf("the second daemon ended with %v", err)
	}
}

// Everything in the data directory is for its owner alone, and back-ups are told
// to leave it out.
func TestTheDataIsPrivate(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	h.stop()
	tagged := false
	err := filepath.WalkDir(filepath.Join(h.dir, "data"), func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		tagged = tagged || e.Name() == "CACHEDIR.TAG"
		return nil
	})
	if err != nil || !tagged {
		t.Errorf("CACHEDIR.TAG is there: %v, %v", tagged, err)
	}
}

// The text of a document that is gone is gone from the disk within purge_after.
func TestDeletedTextLeavesTheDisk(t *testing.T) {
	h := start(t, "[daemon]\npurge_after = \"1s\"\n")
	secret := "xyzzyplugh"
	h.write("a.txt", secret+" apple")
	h.write("b.txt", "banana")
	h.sync()
	onDisk := func() bool {
		found := false
		_ = filepath.WalkDir(filepath.Join(h.dir, "data"), func(path string, e os.DirEntry, err error) error {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(secret)) {
				found = true
			}
			return nil
		})
		return found
	}
	h.until("the text on disk", func(ipc.StatusResult) bool { return onDisk() })
	if err := os.Remove(h.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	h.sync()
	h.until("the purge", func(ipc.StatusResult) bool { return !onDisk() })
}

// A folder that was away at the start and then leaves the config, or comes back
// with other content, is in the answers as it is once sync has answered.
func TestSyncWaitsForFoldersAwayAtTheStart(t *testing.T) {
	for name, then := range map[string]func(h *harness, drive string){
		"removed from the config": func(h *harness, _ string) {
			write(t, h.config, "[[folder]]\npath = \""+h.notes+"\"\n")
			call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
		},
		"back with other content": func(h *harness, drive string) {
			mkdir(t, drive)
			write(t, filepath.Join(drive, "c.txt"), "banana")
			h.until("the folder", func(s ipc.StatusResult) bool { return s.Folders[1].State == "watching" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, "")
			drive := filepath.Join(h.dir, "drive")
			mkdir(t, drive)
			write(t, filepath.Join(drive, "b.txt"), "banana")
			call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: drive})
			h.write("a.txt", "banana")
			h.sync()
			h = h.again(func() {
				if err := os.RemoveAll(drive); err != nil {
					t.Fatal(err)
				}
			})
			h.sync()
			then(h, drive)
			h.sync()
			if got := rels(call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "banana", K: 9})); strings.Contains(got, "b.txt") {
				t.Errorf("banana is found in %q", got)
			}
		})
	}
}

// An index that is no longer used goes in one step: one that a crash left half
// removed is not taken for a damaged one.
func TestAnOldIndexIsRemovedWhole(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	index := filepath.Join(h.dir, "data", "index")
	h = h.again(func() {
		mkdir(t, filepath.Join(index, "0123456789abcdef"))
		mkdir(t, filepath.Join(index, "0123456789abcdef.gone"))
		write(t, filepath.Join(index, "0123456789abcdef", "MANIFEST"), "x")
		write(t, filepath.Join(index, "0123456789abcdef.gone", "MANIFEST"), "x")
	})
	h.sync()
	entries, err := os.ReadDir(index)
	if err != nil || len(entries) != 1 {
		t.Errorf("the index directory has %v: %v", entries, err)
	}
}
