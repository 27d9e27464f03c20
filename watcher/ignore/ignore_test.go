package ignore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern/watcher"
)

var _ watcher.Filter = (*Filter)(nil)

// folder makes a folder and its filter.
func folder(t *testing.T, o Options, files map[string]string) *Filter {
	t.Helper()
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	plant(t, o.Root, files)
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReasons has a line for each rule: what it keeps out, what it says, and
// what it lets through. A path that ends in a slash is a directory.
func TestReasons(t *testing.T) {
	const signature = cacheSignature + "\n"
	secretReason := func(p string) string {
		return "looks like a secret (built-in " + p + "); name it in include to index it"
	}
	tests := []struct {
		name  string
		opts  Options
		files map[string]string
		want  map[string]string // path → reason, "" for indexed
	}{
		{name: "defaults", want: map[string]string{
			"a.txt": "", "d/": "", "d/e/f.md": "", "/abs": "outside the folder", "../up": "outside the folder", "d/../../x": "outside the folder"}},
		{name: "hidden", want: map[string]string{
			".notes": "hidden file", ".d/": "hidden folder", ".d/a.txt": "folder .d: hidden folder"}},
		{name: "hidden allowed", opts: Options{Hidden: true}, want: map[string]string{
			".notes": "", ".d/": "", ".d/a.txt": "", ".git/config": "folder .git: built-in: version control", ".a.txt.swp": "built-in: editor's swap, backup, autosave or lock file"}},
		{name: "hidden named in include", opts: Options{Include: []string{"**", ".github/**", "**/.[en]*"}}, want: map[string]string{
			".github/": "", ".github/workflows/ci.yml": "", ".github/.x": "hidden file", ".gitlab/": "hidden folder", ".notes": "", "d/.notes": "", ".xnotes": "hidden file"}},
		{name: "version control", opts: Options{Hidden: true}, want: map[string]string{
			".git/": "built-in: version control", "a/.HG/x": "folder a/.HG: built-in: version control", ".svn/": "built-in: version control", ".jj/": "built-in: version control", ".gitignore": ""}},
		{name: "dependencies", want: map[string]string{
			"node_modules/": "built-in: dependency folder", "a/node_modules/b/c.js": "folder a/node_modules: built-in: dependency folder", "node_modules.md": "", "__pycache__/": "built-in: build folder"}},
		{name: "dependencies named in include", opts: Options{Include: []string{"**", "node_modules/mine/**"}}, want: map[string]string{
			"node_modules/": "", "node_modules/mine/a.js": "", "node_modules/other/": "folder node_modules: built-in: dependency folder", "a/node_modules/": "built-in: dependency folder"}},
		{name: "cache tag", files: map[string]string{
			"c/CACHEDIR.TAG": signature, "d/CACHEDIR.TAG": "Signature: other", "e/CACHEDIR.TAG/": ""},
			want: map[string]string{"c/": "built-in: cache (it has a CACHEDIR.TAG)", "c/a/b": "folder c: built-in: cache (it has a CACHEDIR.TAG)", "d/": "", "d/a": "", "e/": ""}},
		{name: "marked directories", files: map[string]string{
			"go/vendor/modules.txt": "", "php/vendor/autoload.php": "", "shop/vendor/prices.txt": "", "m/pom.xml": "", "m/target/": "", "n/target/": "", "py/myenv/pyvenv.cfg": "", "c/build-x/CMakeCache.txt": ""},
			want: map[string]string{"go/vendor/": "built-in: dependency folder", "php/vendor/": "built-in: dependency folder", "shop/vendor/": "", "shop/vendor/prices.txt": "",
				"m/target/": "built-in: build folder", "n/target/": "", "py/myenv/": "built-in: dependency folder", "c/build-x/": "built-in: build folder", "environment/": ""}},
		{name: "editors and downloads", opts: Options{Hidden: true}, want: map[string]string{
			"a~": editors, ".a.swp": editors, "a.swx": "", ".a.swx": editors, ".#a": editors, "#a#": editors, "#a": "", ".~lock.a.odt#": editors, "~$a.docx": editors,
			"4913": editors, "49130": "", "a.tmp": editors, "a.TMP": editors, "a.part": "built-in: partial download", "a.crdownload": "built-in: partial download", "part": "", "a.parts": "",
			"x.download/": "built-in: partial download", "Thumbs.db": "built-in: kept by the system", "a~/": ""}},
		{name: "secrets", opts: Options{Hidden: true}, want: map[string]string{
			"k.pem": secretReason("*.pem"), "d/K.PEM": secretReason("*.pem"), "id_rsa": secretReason("id_rsa*"), "id_ed25519.pub": secretReason("id_ed25519*"), ".ssh/": secretReason(".ssh"),
			".gnupg/x": "folder .gnupg: " + secretReason(".gnupg"), ".env": secretReason(".env"), ".env.local": secretReason(".env.*"), ".env.example": "", "prod.env": secretReason("*.env"),
			"p.kdbx": secretReason("*.kdbx"), ".netrc": secretReason(".netrc"), ".pgpass": secretReason(".pgpass"), "credentials": secretReason("credentials"), "credentials/": "",
			"Login.txt": "", "key4.db": secretReason("key4.db"), "logins.json": secretReason("logins.json"), ".bash_history": secretReason(".*_history"), "pem": "", "a.pem.txt": ""}},
		{name: "secrets named in include", opts: Options{Include: []string{"**", "certs/*.pem", "**/id_rsa.pub", ".ssh/config", "s*.key"}}, want: map[string]string{
			"certs/a.pem": "", "a.pem": secretReason("*.pem"), "certs/.a.pem": secretReason("*.pem"), "d/id_rsa.pub": "", "id_rsa": secretReason("id_rsa*"),
			".ssh/": "", ".ssh/config": "", ".ssh/known_hosts": "folder .ssh: " + secretReason(".ssh"), ".ssh/id_rsa": secretReason("id_rsa*"), "server.key": secretReason("*.key")}},
		{name: "include", opts: Options{Include: []string{"*.md", "docs/**/*.txt", "src/", "one{,/two}/x.go", `q\*`}}, want: map[string]string{
			"a.md": "", "d/a.md": "folder d: not matched by include", "d/": "not matched by include", "docs/": "", "docs/a.txt": "", "docs/b/c/a.txt": "", "docs/b/": "", "docs/a.md": "not matched by include",
			"src/": "", "src/any/thing": "", "one/x.go": "", "one/two/x.go": "", "one/three/": "not matched by include", "q*": "", "qq": "not matched by include"}},
		{name: "include a folder by its plain name", opts: Options{Include: []string{"docs"}}, want: map[string]string{"docs/": "", "docs/a/b": "", "x": "not matched by include"}},
		{name: "exclude", opts: Options{Exclude: []string{"drafts/**", "*.log", "**/tmp", "a/b/"}}, want: map[string]string{
			"drafts/": `excluded by exclude = "drafts/**"`, "drafts/a/b": `folder drafts: excluded by exclude = "drafts/**"`, "x/drafts/": "", "a.log": `excluded by exclude = "*.log"`, "d/a.log": "",
			"d/tmp/": `excluded by exclude = "**/tmp"`, "tmp/x": `folder tmp: excluded by exclude = "**/tmp"`, "a/b/": `excluded by exclude = "a/b/"`, "a/c": ""}},
		{name: "exclude beats include", opts: Options{Include: []string{"k.pem"}, Exclude: []string{"k.*"}}, want: map[string]string{"k.pem": `excluded by exclude = "k.*"`}},
		{name: "gitignore", opts: Options{Gitignore: true, Hidden: true}, files: map[string]string{
			".gitignore": "*.log\n!keep.log\nbuild/\n/top\n", "docs/.gitignore": "\n# comment\n*.bak2\n!x.log\n", "build/.gitignore": "!*\n"},
			want: map[string]string{"a.log": "ignored by .gitignore:1: *.log", "d/a.log": "ignored by .gitignore:1: *.log", "keep.log": "", "docs/x.log": "", "docs/y.log": "ignored by .gitignore:1: *.log",
				"docs/a.bak2": "ignored by docs/.gitignore:3: *.bak2", "a.bak2": "", "build/": "ignored by .gitignore:3: build/", "build/a": "folder build: ignored by .gitignore:3: build/",
				"d/build/x/y": "folder d/build: ignored by .gitignore:3: build/", "build": "ignored by .gitignore:3: build/", "top": "ignored by .gitignore:4: /top", "d/top": ""}},
		{name: "gitignore off", opts: Options{}, files: map[string]string{".gitignore": "a", ".ignore": "b", ".quernignore": "c", ".git/HEAD": "", ".git/info/exclude": "d"},
			want: map[string]string{"a": "", "b": "", "c": "", "d": "", "node_modules/": "built-in: dependency folder"}},
		{name: "precedence of kinds", opts: Options{Gitignore: true}, files: map[string]string{
			".git/HEAD": "", ".git/info/exclude": "a\nb\nc\nd\n", "s/.gitignore": "!a\nb\n", ".ignore": "!b\nc\n", ".quernignore": "!c\n!d\n"},
			want: map[string]string{"a": "ignored by .git/info/exclude:1: a", "s/a": "", "b": "", "s/b": "", "c": "", "d": "", "s/d": ""}},
		{name: "quernignore re-includes a folder", opts: Options{Gitignore: true}, files: map[string]string{
			".gitignore": "out/\n", ".quernignore": "!out/\nnode\n!k.pem\n!.h\n"},
			want: map[string]string{"out/": "", "out/a": "", "node": "ignored by .quernignore:2: node", "k.pem": secretReason("*.pem"), ".h": "hidden file"}},
		{name: "a repository inside", opts: Options{Gitignore: true}, files: map[string]string{
			".gitignore": "*.o\ngone/\n", ".ignore": "*.i\n", "r/.git/HEAD": "", "r/.git/info/exclude": "/e\n", "r/.gitignore": "*.r\n", "gone/.git/HEAD": "", "n/.git/": ""},
			want: map[string]string{"a.o": "ignored by .gitignore:1: *.o", "r/a.o": "", "r/d/a.o": "", "r/a.i": "ignored by .ignore:1: *.i", "r/e": "ignored by r/.git/info/exclude:1: /e", "r/d/e": "",
				"r/d/a.r": "ignored by r/.gitignore:1: *.r", "gone/a": "folder gone: ignored by .gitignore:2: gone/", "n/a.o": "ignored by .gitignore:1: *.o"}},
		{name: "a linked worktree", opts: Options{Gitignore: true}, files: map[string]string{
			".git": "gitdir: elsewhere/worktrees/w\n", "elsewhere/worktrees/w/HEAD": "", "elsewhere/worktrees/w/commondir": "../..\n", "elsewhere/info/exclude": "x\n"},
			want: map[string]string{"x": "ignored by elsewhere/info/exclude:1: x", "y": ""}},
	}
	isolate(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := folder(t, tt.opts, tt.files)
			for rel, want := range tt.want {
				if got := f.Reason(rel); got != want {
					t.Errorf("Reason(%q) = %q, want %q", rel, got, want)
				}
				indexed := f.File
				if strings.HasSuffix(rel, "/") || f.isDir(rel) {
					indexed = f.Dir
				}
				if got := indexed(rel); got != (want == "") {
					t.Errorf("%q: indexed = %v, with reason %q", rel, got, want)
				}
			}
			if p := f.Problems(); len(p) > 0 {
				t.Errorf("problems: %q", p)
			}
		})
	}
}

const editors = "built-in: editor's swap, backup, autosave or lock file"

func TestGlobalExcludes(t *testing.T) {
	home := isolate(t)
	plant(t, home, map[string]string{"xdg/git/ignore": "byxdg\n", "mine": "byconfig\n", "other": "byother\n"})
	check := func(step, ignored string, kept ...string) {
		t.Helper()
		f := folder(t, Options{Gitignore: true}, map[string]string{"r/.git/HEAD": ""})
		for _, dir := range []string{"", "d/", "r/", "r/d/"} {
			if f.File(dir + ignored) {
				t.Errorf("%s: %s is indexed", step, dir+ignored)
			}
			for _, k := range kept {
				if !f.File(dir + k) {
					t.Errorf("%s: %s: %s", step, dir+k, f.Reason(dir+k))
				}
			}
		}
	}
	check("default place", "byxdg", "byconfig", "byother")
	plant(t, home, map[string]string{"xdg/git/config": "[core]\n\texcludesFile = ~/mine # comment\n"})
	check("XDG config", "byconfig", "byxdg", "byother")
	plant(t, home, map[string]string{".gitconfig": "[user]\nexcludesfile = no\n[Core] EXCLUDESFILE = \"" + filepath.ToSlash(home) + "/other\" ; comment\n[core \"sub\"]\nexcludesfile=no\n"})
	check("home config", "byother", "byxdg", "byconfig")
	t.Setenv("XDG_CONFIG_HOME", "")
	os.Remove(filepath.Join(home, ".gitconfig"))
	plant(t, home, map[string]string{".config/git/ignore": "bydefault\n"})
	check("no XDG_CONFIG_HOME", "bydefault", "byxdg", "byconfig")
}

func TestEnclosingRepository(t *testing.T) {
	isolate(t)
	top := t.TempDir()
	plant(t, top, map[string]string{
		".git/HEAD": "", ".git/info/exclude": "*.e\n", ".gitignore": "*.top\n/p/docs/anchored\n", "p/.gitignore": "*.mid\n!x.top\n", "p/docs/": ""})
	f := folder(t, Options{Root: filepath.Join(top, "p", "docs"), Gitignore: true}, map[string]string{".gitignore": "!y.mid\n"})
	for rel, want := range map[string]string{
		"a.txt": "", "a.e": "ignored by " + filepath.Join(top, ".git/info/exclude") + ":1: *.e", "s/a.top": "ignored by " + filepath.Join(top, ".gitignore") + ":1: *.top",
		"x.top": "", "a.mid": "ignored by " + filepath.Join(top, "p/.gitignore") + ":1: *.mid", "y.mid": "", "anchored": "ignored by " + filepath.Join(top, ".gitignore") + ":2: /p/docs/anchored", "s/anchored": "",
	} {
		if got := f.Reason(rel); got != want {
			t.Errorf("Reason(%q) = %q, want %q", rel, got, want)
		}
	}
	outside := strings.Join(f.OutsideRules(), "\n")
	for _, name := range []string{".gitignore", "p/.gitignore", ".git/info/exclude"} {
		if !strings.Contains(outside, filepath.Join(top, name)) {
			t.Errorf("OutsideRules lacks %s:\n%s", name, outside)
		}
	}
	if f.OutsideChanged() {
		t.Error("nothing outside has changed")
	}
	plant(t, top, map[string]string{".gitignore": "*.new\n"})
	if !f.OutsideChanged() {
		t.Error("a change above the folder is not noticed")
	}
	f.Dir(".") // reads the rules anew, but only a scan of everything applies them
	if !f.OutsideChanged() {
		t.Error("a change above the folder is forgotten before Reset")
	}
	f.Reset()
	if f.File("a.new") || !f.File("a.top") || f.OutsideChanged() {
		t.Error("Reset did not read the rules above the folder anew")
	}
}

// A repository that ignores the folder (dotfiles kept in the home directory
// with a rule "*") does not empty it.
func TestFolderIgnoredByItsRepository(t *testing.T) {
	isolate(t)
	top := t.TempDir()
	plant(t, top, map[string]string{".git/HEAD": "", ".gitignore": "*\n", "notes/a/.gitignore": "own\n"})
	f := folder(t, Options{Root: filepath.Join(top, "notes"), Gitignore: true}, nil)
	if !f.File("a/b.md") || f.File("a/own") {
		t.Errorf("a/b.md: %q, a/own: %q", f.Reason("a/b.md"), f.Reason("a/own"))
	}
}

func TestNewErrors(t *testing.T) {
	root := t.TempDir()
	for _, o := range []Options{
		{Root: root, Include: []string{"[a"}}, {Root: root, Include: []string{"a", "{b"}}, {Root: root, Include: []string{"../x"}}, {Root: root, Include: []string{""}},
		{Root: root, Exclude: []string{"a/[z-"}}, {Root: root, Exclude: []string{strings.Repeat("{a,b}", 20)}}, {Root: root, Exclude: []string{`a\`}},
	} {
		_, err := New(o)
		key := "include = "
		if len(o.Exclude) > 0 {
			key = "exclude = "
		}
		if !errors.Is(err, ErrPattern) || !strings.HasPrefix(err.Error(), key) {
			t.Errorf("New(%+v): %v", o, err)
		}
	}
	if _, err := New(Options{Root: "relative"}); err == nil {
		t.Error("a relative root is accepted")
	}
}
