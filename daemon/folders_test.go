package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern/ipc"
)

func TestConfigIsReadAgainWhenItChanges(t *testing.T) {
	h := start(t, "")
	other := filepath.Join(h.dir, "other")
	mkdir(t, other)
	write(t, filepath.Join(other, "b.txt"), "banana")
	h.write("a.txt", "apple banana")
	h.sync()

	good, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.config, string(good)+"[[folder]]\npath = \""+other+"\"\n[rank]\nmodel = \"bm25\"\n")
	h.until("the second folder", func(s ipc.StatusResult) bool { return len(s.Folders) == 2 && s.Model == "bm25" })
	if r := h.search("banana"); len(r.Hits) != 2 || r.Model != "bm25" {
		t.Errorf("found in %q by %s", rels(r), r.Model)
	}

	write(t, h.config, string(good)+"[chunk]\nmin_word = 3\n")
	s := h.until("the error", func(s ipc.StatusResult) bool { return s.ConfigError != "" })
	if !strings.Contains(s.ConfigError, h.config+":4") || !strings.Contains(s.ConfigError, "min_word") {
		t.Errorf("the error names no place: %s", s.ConfigError)
	}
	if len(s.Folders) != 2 || s.Model != "bm25" {
		t.Error("the old config is not in force")
	}
	if _, err := try[ipc.Empty](h, ipc.MethodReload, ipc.Empty{}); code(err) != ipc.CodeInvalidParams {
		t.Errorf("reload of a bad config: %v", err)
	}

	write(t, h.config, string(good))
	h.until("the first config", func(s ipc.StatusResult) bool { return s.ConfigError == "" && len(s.Folders) == 1 })
	if got := rels(h.search("banana")); got != "a.txt" {
		t.Errorf("banana is found in %q", got)
	}
}

// The index is built anew beside the old one, which answers until then.
func TestAnotherIndexConfigTakesOver(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "Refunds take long")
	if got := rels(h.search("refund")); got != "a.txt" {
		t.Fatalf("with a stemmer, refund is found in %q", got)
	}
	before := call[ipc.SyncResult](h, ipc.MethodSync, ipc.SyncParams{}).Generation
	good, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.config, string(good)+"[analysis]\nstemmer = \"none\"\n")
	call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
	last := before
	h.until("the new index", func(ipc.StatusResult) bool {
		r := h.search("refund")
		if r.Generation < last || r.Generation == before && len(r.Hits) == 0 {
			t.Errorf("generation %d after %d, %d hits", r.Generation, last, len(r.Hits))
		}
		last = r.Generation
		return len(r.Hits) == 0
	})
	if got := rels(h.search("refunds")); got != "a.txt" {
		t.Errorf("refunds is found in %q", got)
	}
	h.write("b.txt", "more refunds")
	if r := h.search("refunds"); len(r.Hits) != 2 {
		t.Errorf("the new index does not follow the files: %q", rels(r))
	}
}

func TestFoldersAreAddedAndRemoved(t *testing.T) {
	h := start(t, "# a comment\n")
	other := filepath.Join(h.dir, "other")
	mkdir(t, other)
	write(t, filepath.Join(other, "b.txt"), "banana")
	r := call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: other})
	if len(r.Folders) != 2 || r.Folders[1].Temporary {
		t.Fatalf("folders %+v", r.Folders)
	}
	if got := rels(h.search("banana")); got != "b.txt" {
		t.Errorf("banana is found in %q", got)
	}
	text, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "# a comment") || !strings.Contains(string(text), other) {
		t.Errorf("the config is now\n%s", text)
	}
	if _, err := try[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: other}); code(err) != ipc.CodeInvalidParams {
		t.Errorf("added twice: %v", err)
	}
	r = call[ipc.FoldersResult](h, ipc.MethodFoldersRemove, ipc.FolderParams{Path: "other"})
	if len(r.Folders) != 1 || rels(h.search("banana")) != "" {
		t.Errorf("after removal: %+v, banana in %q", r.Folders, rels(h.search("banana")))
	}
	for _, p := range []ipc.FolderParams{{Path: "relative"}, {Path: "/nowhere/at/all"}, {Path: h.config}} {
		if _, err := try[ipc.FoldersResult](h, ipc.MethodFoldersAdd, p); err == nil {
			t.Errorf("%+v was added", p)
		}
	}
}

func TestTemporaryFolders(t *testing.T) {
	h := start(t, "")
	h.write("sub/a.txt", "apple")
	h.write(".git/x.txt", "apple inside")
	add := func(path string) []ipc.FolderStatus {
		return call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: path, Temporary: true}).Folders
	}
	if f := add(h.path("sub")); len(f) != 1 {
		t.Errorf("a folder that is watched already was added: %+v", f)
	}
	// A folder that the rules of the outer one leave out is indexed when asked for.
	if f := add(h.path(".git")); len(f) != 2 || !f[1].Temporary {
		t.Errorf("folders %+v", f)
	}
	if r := h.search("inside"); len(r.Hits) != 1 || r.Hits[0].Rel != "x.txt" {
		t.Errorf("found %+v", r.Hits)
	}
	call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
	if f := call[ipc.FoldersResult](h, ipc.MethodFoldersList, ipc.Empty{}).Folders; len(f) != 2 {
		t.Errorf("a reload lost the temporary folder: %+v", f)
	}
	text, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), ".git") {
		t.Error("a temporary folder was written into the config")
	}
	if f := call[ipc.FoldersResult](h, ipc.MethodFoldersRemove, ipc.FolderParams{Path: h.path(".git")}).Folders; len(f) != 1 {
		t.Errorf("folders %+v", f)
	}
}

// A file belongs to the innermost folder that holds it.
func TestNestedFolders(t *testing.T) {
	h := start(t, "")
	h.write("inner/a.txt", "apple")
	if r := h.search("apple"); r.Hits[0].Folder != "notes" {
		t.Fatalf("hit %+v", r.Hits[0])
	}
	call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: h.path("inner"), Name: "deep"})
	if r := h.search("apple"); len(r.Hits) != 1 || r.Hits[0].Folder != "deep" || r.Hits[0].Rel != "a.txt" {
		t.Errorf("hits %+v", r.Hits)
	}
	// Who searches the outer folder means all that is below it.
	h.write("outer.txt", "apple pear")
	h.sync()
	for folder, want := range map[string]string{
		"notes": "a.txt outer.txt", h.notes: "a.txt outer.txt", h.dir: "a.txt outer.txt", "deep": "a.txt", h.path("inner"): "a.txt", h.path("in"): "",
	} {
		r := call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple", Folders: []string{folder}})
		if rels(r) != want {
			t.Errorf("in %s: %q, want %q", folder, rels(r), want)
		}
	}
	if err := os.Remove(h.path("outer.txt")); err != nil {
		t.Fatal(err)
	}
	call[ipc.FoldersResult](h, ipc.MethodFoldersRemove, ipc.FolderParams{Path: "deep"})
	if r := h.search("apple"); len(r.Hits) != 1 || r.Hits[0].Folder != "notes" || r.Hits[0].Rel != "inner/a.txt" {
		t.Errorf("hits %+v", r.Hits)
	}
}

// A folder that is not there is reported, and indexed when it appears; one that
// vanishes keeps its passages.
func TestMissingFolder(t *testing.T) {
	dir := shortDir(t)
	notes := filepath.Join(dir, "drive", "notes")
	h := startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	if s.Folders[0].State != "suspended" || !strings.Contains(s.Folders[0].Reason, "no such file") || len(s.Warnings) == 0 {
		t.Errorf("status %+v", s.Folders)
	}
	h.write("a.txt", "apple")
	h.until("the folder", func(s ipc.StatusResult) bool { return s.Folders[0].Documents == 1 })
	if err := os.Rename(filepath.Join(dir, "drive"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	h.until("suspension", func(s ipc.StatusResult) bool { return s.Folders[0].State == "suspended" })
	if got := rels(h.search("apple")); got != "a.txt" {
		t.Errorf("apple is found in %q while the folder is away", got)
	}
	if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "drive")); err != nil {
		t.Fatal(err)
	}
	h.until("resumption", func(s ipc.StatusResult) bool { return s.Folders[0].State == "watching" })
	h.write("b.txt", "banana")
	if got := rels(h.search("banana")); got != "b.txt" {
		t.Errorf("banana is found in %q", got)
	}
}

func TestFolderRenamedInTheConfig(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	h.sync()
	write(t, h.config, "[[folder]]\npath = \""+h.notes+"\"\nname = \"other\"\n")
	call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
	if r := h.search("apple"); len(r.Hits) != 1 || r.Hits[0].Folder != "other" {
		t.Errorf("hits %+v", r.Hits)
	}
}

// A config that reads well and yet cannot be used leaves the old one in force,
// and is not forgotten.
func TestConfigThatCannotBeUsed(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "apple")
	good, err := os.ReadFile(h.config)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(h.dir, "words")
	write(t, h.config, string(good)+"[analysis]\nstopwords = \""+list+"\"\n[rank]\nmodel = \"bm25\"\n")
	for range 2 {
		if _, err := try[ipc.Empty](h, ipc.MethodReload, ipc.Empty{}); code(err) != ipc.CodeInvalidParams {
			t.Fatalf("reload without the list of stop words: %v", err)
		}
	}
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	if !strings.Contains(s.ConfigError, list) || s.Model != "best" || rels(h.search("apple")) != "a.txt" {
		t.Errorf("status %+v", s)
	}
	write(t, list, "apple\n")
	call[ipc.Empty](h, ipc.MethodReload, ipc.Empty{})
	h.until("the new index", func(s ipc.StatusResult) bool { return rels(h.search("apple")) == "" })
	if s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{}); s.ConfigError != "" || s.Model != "bm25" {
		t.Errorf("status %+v", s)
	}
}

// A list of stop words is followed like the config that names it, wherever it is.
func TestStopWordsEdited(t *testing.T) {
	for _, where := range []string{"words", "lists/words"} { // beside the config, and elsewhere
		t.Run(where, func(t *testing.T) {
			h := start(t, "")
			h.write("a.txt", "apple banana")
			good, err := os.ReadFile(h.config)
			if err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(h.dir, where)
			mkdir(t, filepath.Dir(list))
			write(t, list, "apple\n")
			write(t, h.config, string(good)+"[analysis]\nstopwords = \""+list+"\"\n")
			found := func(query string) bool { return rels(h.search(query)) == "a.txt" }
			h.until("the list", func(ipc.StatusResult) bool { return !found("apple") && found("banana") })
			write(t, list, "banana\n")
			h.until("the new list", func(ipc.StatusResult) bool { return found("apple") && !found("banana") })
		})
	}
}

// The socket may stand in a folder, or beside one.
func TestFolderHoldsTheSocket(t *testing.T) {
	dir := shortDir(t)
	notes := filepath.Join(dir, "run") // where startOn puts the socket
	mkdir(t, notes)
	h := startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	h.write("a.txt", "apple")
	if got := rels(h.search("apple")); got != "a.txt" {
		t.Errorf("apple is found in %q", got)
	}
}

// A temporary folder gives way to one of the config, and does not come back.
func TestTemporaryFolderBecomesConfigured(t *testing.T) {
	h := start(t, "")
	other := filepath.Join(h.dir, "other")
	namesake := filepath.Join(h.dir, "deep", "notes")
	mkdir(t, other)
	mkdir(t, namesake)
	for _, path := range []string{other, namesake} {
		call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: path, Temporary: true})
	}
	f := call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: other}).Folders
	if len(f) != 3 || f[1].Path != other || f[1].Temporary || f[2].Name != "notes-2" {
		t.Errorf("folders %+v", f)
	}
	f = call[ipc.FoldersResult](h, ipc.MethodFoldersRemove, ipc.FolderParams{Path: other}).Folders
	if len(f) != 2 {
		t.Errorf("folders after the removal %+v", f)
	}
}

// A config kept elsewhere and linked to its place is read again too when the
// file itself is edited there.
func TestLinkedConfigIsReadAgain(t *testing.T) {
	dir := shortDir(t)
	notes, real := filepath.Join(dir, "notes"), filepath.Join(dir, "dotfiles", "quern.toml")
	mkdir(t, notes)
	mkdir(t, filepath.Dir(real))
	mkdir(t, filepath.Join(dir, "config"))
	if err := os.Symlink(real, filepath.Join(dir, "config", "config.toml")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	folder := "[[folder]]\npath = \"" + notes + "\"\n"
	h := startOn(t, dir, notes, folder) // writes through the link
	write(t, real, folder+"[rank]\nmodel = \"bm25\"\n")
	h.until("the model", func(s ipc.StatusResult) bool { return s.Model == "bm25" })
}

// Ignore rules that stand outside of the folder, where no watch shows them, are
// in force for the next question that waits for changes, and soon for others.
func TestRulesFromOutsideTheFolder(t *testing.T) {
	dir := shortDir(t)
	notes := filepath.Join(dir, "repository", "notes")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, "repository", name)
		mkdir(t, filepath.Dir(path))
		write(t, path, text)
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write(".gitignore", "*.log\n")
	write("notes/a.txt", "apple")
	write("notes/b.log", "apple")
	h := startOn(t, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	if got := rels(h.search("apple")); got != "a.txt" {
		t.Errorf("apple is found in %q", got)
	}
	for range 20 {
		write(".gitignore", "*.txt\n")
		if got := rels(h.search("apple")); got != "b.log" {
			t.Fatalf("with other rules above the folder, apple is found in %q", got)
		}
		write(".gitignore", "*.log\n*.x\n")
		if got := rels(h.search("apple")); got != "a.txt" {
			t.Fatalf("with the first rules again, apple is found in %q", got)
		}
	}
	write(".git/info/exclude", "a.*\n")
	h.until("the rules of info/exclude", func(ipc.StatusResult) bool {
		return len(call[ipc.SearchResult](h, ipc.MethodSearch, ipc.SearchParams{Query: "apple"}).Hits) == 0
	})
}
