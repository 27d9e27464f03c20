package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// file makes a config file with a text and returns its path.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	write(t, path, text)
	return path
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAddFolderMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "config.toml")
	if err := AddFolder(path, DefaultFolder("/x/notes")); err != nil {
		t.Fatal(err)
	}
	// As quern init writes it: with every key explained.
	if got, want := read(t, path), string(Template([]Folder{DefaultFolder("/x/notes")})); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAddFolderWritesAllThatDiffers(t *testing.T) {
	f := Folder{Path: `/x/$HOME "q"\` + "\t/é", Name: "n", Include: []string{`a\*b`, "**"}, Exclude: []string{"x"},
		Hidden: true, FollowSymlinks: true, MaxFileSize: 1001, Poll: Poll{PollInterval, time.Minute}, WhenAbsent: AbsentHide}
	path := file(t, "")
	if err := AddFolder(path, f); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil || !reflect.DeepEqual(c.Folders, []Folder{f}) {
		t.Errorf("got %+v, %v, want %+v\n%s", c.Folders, err, f, read(t, path))
	}
}

func TestAddFolderTakesDefaultsForEmpty(t *testing.T) {
	path := file(t, "")
	if err := AddFolder(path, Folder{Path: "/x/y/", Gitignore: true}); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || !reflect.DeepEqual(c.Folders, []Folder{DefaultFolder("/x/y")}) {
		t.Errorf("got %+v, %v", c.Folders, err)
	}
}

func TestAListOfStopWordsMustBeReadable(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "words.txt")
	path := file(t, "# mine\n[analysis]\nstopwords = '"+list+"'\n")
	for _, want := range []string{"cannot read the list " + list + ": ", "not a regular file"} {
		var wrong *Error
		if _, err := Load(path); !errors.As(err, &wrong) || wrong.Line != 3 || wrong.Key != "analysis.stopwords" ||
			wrong.File != path || !strings.Contains(wrong.Message, want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err := os.MkdirAll(list, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, []byte("apple\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.Analysis.Stopwords != list {
		t.Errorf("%+v, %v", c.Analysis, err)
	}
}

const commented = `# My config

[[folder]] # first
# about a
path = "/a"   # the path
hidden = true

# belongs to what follows
[chunk]
max_words = 100 # [[folder]]

# about b
[[folder]]
path = '/b'
exclude = [
  "[[folder]]", # not a header
  """
[[folder]]
""",
]
# behind b

  [[ "folder" ]]
  path = "/c"
`

func TestRemoveFolder(t *testing.T) {
	for _, c := range []struct{ folder, cut string }{
		{"/a", "[[folder]] # first\n# about a\npath = \"/a\"   # the path\nhidden = true\n\n"},
		{"a", "[[folder]] # first\n# about a\npath = \"/a\"   # the path\nhidden = true\n\n"},
		{"b", commented[strings.Index(commented, "[[folder]]\npath = '/b'"):strings.Index(commented, "# behind b")]},
		{"/x/../b/", commented[strings.Index(commented, "[[folder]]\npath = '/b'"):strings.Index(commented, "# behind b")]},
		{"c", "\n  [[ \"folder\" ]]\n  path = \"/c\"\n"},
	} {
		for _, nl := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(commented, "\n", nl)
			want := strings.Replace(text, strings.ReplaceAll(c.cut, "\n", nl), "", 1)
			path := file(t, text)
			if err := RemoveFolder(path, c.folder); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != want || got == text {
				t.Errorf("without %s:\n%q\nwant\n%q", c.folder, got, want)
			}
		}
	}
}

func TestEditsRefuse(t *testing.T) {
	add := func(f Folder) func(string) error { return func(p string) error { return AddFolder(p, f) } }
	remove := func(s string) func(string) error { return func(p string) error { return RemoveFolder(p, s) } }
	a := "[[folder]]\npath = '/x/a'\n"
	inline := "\nfolder = [{path = '/x/a'}]\n"
	for _, c := range []struct {
		name, text string
		edit       func(string) error
		is         error
		says       string
	}{
		{"same path", a, add(Folder{Path: "/x/./a", Name: "other"}), ErrFolderExists, "/x/a"},
		{"same name", a, add(DefaultFolder("/y/a")), ErrFolderExists, "give /y/a another name"},
		{"relative", a, add(Folder{Path: "b"}), nil, "must be absolute"},
		{"not UTF-8", a, add(Folder{Path: "/\xff"}), nil, "not valid UTF-8"},
		{"bad glob", a, add(Folder{Path: "/b", Exclude: []string{"["}}), nil, "would not be valid"},
		{"bad name", a, add(Folder{Path: "/b", Name: "x/y"}), nil, "would not be valid"},
		{"inline add", inline, add(DefaultFolder("/b")), ErrInlineFolders, "line 2"},
		{"inline remove", inline, remove("a"), ErrInlineFolders, "line 2"},
		{"unknown", a, remove("b"), ErrFolderNotFound, "it has a"},
		{"none", "", remove("b"), ErrFolderNotFound, "it has none"},
		{"wrong already", "x = 1\n", add(DefaultFolder("/b")), nil, "config.toml:1: x: unknown key"},
		{"not TOML", "x = \n", remove("b"), nil, "config.toml:1: "},
	} {
		path := file(t, c.text)
		err := c.edit(path)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if got := read(t, path); got != c.text {
			t.Errorf("%s: the file is now %q", c.name, got)
		}
		if all, _ := os.ReadDir(filepath.Dir(path)); len(all) != 1 {
			t.Errorf("%s: files are left behind: %v", c.name, all)
		}
	}
}

func TestRemoveFromMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "config.toml")
	if err := RemoveFolder(path, "a"); !errors.Is(err, ErrFolderNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("a failed removal made a directory")
	}
}

func TestEditKeepsModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "quern.toml")
	link := filepath.Join(dir, "config.toml")
	if err := os.Mkdir(filepath.Dir(real), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Symlink("again", link),
		os.Symlink(filepath.Join("dotfiles", "quern.toml"), filepath.Join(dir, "again")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := AddFolder(link, DefaultFolder("/a")); err != nil { // through a dangling link
		t.Fatal(err)
	}
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := AddFolder(link, DefaultFolder("/b")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info, err)
	}
	if c, err := Load(real); err != nil || len(c.Folders) != 2 {
		t.Errorf("%+v, %v", c.Folders, err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if err := AddFolder(loop, DefaultFolder("/b")); err == nil {
		t.Error("a link to itself was edited")
	}
}

func TestEditLeavesForeignChanges(t *testing.T) {
	path := file(t, "# theirs")
	if err := replaceFile(path, []byte("# ours"), []byte("# new"), false); err == nil {
		t.Error("the change of someone else was overwritten")
	}
	if err := replaceFile(path, nil, []byte("# new"), true); err == nil {
		t.Error("a file made meanwhile was overwritten")
	}
	if got := read(t, path); got != "# theirs" {
		t.Errorf("the file is now %q", got)
	}
}

func TestConcurrentEdits(t *testing.T) {
	path := file(t, "")
	errs := make(chan error)
	names := strings.Split("abcdefgh", "")
	for _, n := range names {
		go func() { errs <- AddFolder(path, DefaultFolder("/"+n)) }()
	}
	for range names {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if c, err := Load(path); err != nil || len(c.Folders) != len(names) {
		t.Errorf("%d folders, %v", len(c.Folders), err)
	}
}

// configText draws a valid config: folders and tables in any order, spelled in
// any way, among comments that look like TOML.
func configText(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	noise := func() string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"", "", "# note", "  # [[folder]]", "#path = '/x'", "\t", "# \"\"\"", "# '''[", "#[chunk]",
		}), 0, 3).Draw(t, "noise"), "\n")
	}
	blocks := []string{
		pick("chunk", "[chunk]\nmax_words = 100 # x", "[chunk]\n\n# [[folder]]\noverlap = 3\n\"max_words\" = 99", "[ 'chunk' ]"),
		pick("rank", "[rank]\ntf = \"\"\"\nraw\"\"\"", "[rank]\nk1=2.0 #]", "[rank] # \"\nb = 0.5"),
		pick("daemon", "[daemon]\n\tsettle = '1s'\n", "[daemon]\nsocket = \"/s\\u0022[[folder]]\""),
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "folders") {
		name := string(rune('a' + i))
		blocks = append(blocks, pick("header", "[[folder]]", "  [[ folder ]] # x", "[[\"folder\"]]", "[['folder']]")+"\n"+
			noise()+"\n"+pick("path", "path = '/f/"+name+"'", "path=\"/f/"+name+"\" # c", "\"path\" = '''\n/f/"+name+"'''")+
			pick("more", "", "\nhidden = true", "\nexclude = [ # x\n 'a', \"\"\"\n[[folder]]\n\"\"\",\n]", "\n\n# y\ngitignore=false"))
	}
	blocks = rapid.Permutation(blocks).Draw(t, "blocks")
	var b strings.Builder
	b.WriteString(pick("start", "", "", byteOrderMark, "analysis.stemmer = 'none'\n"))
	for _, block := range blocks {
		b.WriteString(noise() + "\n" + block + "\n")
	}
	b.WriteString(noise())
	text := b.String()
	if rapid.Bool().Draw(t, "trim") {
		text = strings.TrimRight(text, " \t\n")
	}
	return strings.ReplaceAll(text, "\n", pick("nl", "\n", "\r\n"))
}

// Adding and removing are inverse, and neither touches anything else.
func TestEditProperties(t *testing.T) {
	path := file(t, "")
	rapid.Check(t, func(t *rapid.T) {
		text := configText(t)
		before, err := Parse(path, []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		load := func() (string, Config) {
			data, _ := os.ReadFile(path)
			c, err := Parse(path, data)
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			return string(data), c
		}
		do := func(err error) {
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		y, z := DefaultFolder("/new/y"), DefaultFolder("/new/$z")
		y.Hidden = true
		do(AddFolder(path, y))
		onlyY, c := load()
		if !strings.HasPrefix(onlyY, text) || !reflect.DeepEqual(c.Folders, append(slices.Clone(before.Folders), y)) {
			t.Fatalf("%q\nbecame %q", text, onlyY)
		}
		do(AddFolder(path, z))
		do(RemoveFolder(path, "/new/$z"))
		if got, _ := load(); got != onlyY {
			t.Fatalf("adding and removing turned %q\ninto %q", onlyY, got)
		}
		do(AddFolder(path, z))
		do(RemoveFolder(path, "y")) // from the middle
		do(RemoveFolder(path, "$z"))
		if got, _ := load(); got != text {
			t.Fatalf("adding and removing two turned %q\ninto %q", text, got)
		}
		if len(before.Folders) == 0 {
			return
		}
		i := rapid.IntRange(0, len(before.Folders)-1).Draw(t, "removed")
		do(RemoveFolder(path, before.Folders[i].Name))
		after, c := load()
		want := before
		want.Folders = slices.Delete(slices.Clone(before.Folders), i, i+1)
		if len(want.Folders) == 0 {
			want.Folders = c.Folders
		}
		if !reflect.DeepEqual(c, want) || len(c.Folders) != len(before.Folders)-1 {
			t.Fatalf("%q\nwithout %s is %q", text, before.Folders[i].Name, after)
		}
	})
}
