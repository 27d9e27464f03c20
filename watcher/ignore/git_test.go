package ignore

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// isolate gives the test a home of its own, for git and for the filter alike.
func isolate(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		t.Setenv(name, "") // so that it is restored
		os.Unsetenv(name)
	}
	return home
}

// plant writes files, making directories as needed; a name that ends in a slash
// is a directory.
func plant(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		dir := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			dir = full
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir == full {
			continue
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// needGit makes an empty repository, or skips the test.
func needGit(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
}

const reincluded = " (re-included)"

// isIgnored reads an answer of askGit or askFilter.
func isIgnored(said string) bool { return said != "" && !strings.HasSuffix(said, reincluded) }

// askGit returns the rule that git says decides on each path, as "source:line",
// with reincluded after it when it is a negation; "" when there is none.
func askGit(t *testing.T, repo string, paths []string) map[string]string {
	t.Helper()
	cmd := exec.Command("git", "-C", repo, "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: none is ignored
		t.Fatalf("git check-ignore: %v", err)
	}
	said := map[string]string{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+3 < len(fields); i += 4 {
		text := ""
		if fields[i] != "" {
			text = fields[i] + ":" + fields[i+1]
			if strings.HasPrefix(fields[i+2], "!") {
				text += reincluded
			}
		}
		said[fields[i+3]] = text
	}
	if len(said) != len(paths) {
		t.Fatalf("git check-ignore answered for %d of %d paths", len(said), len(paths))
	}
	return said
}

// askFilter is askGit for a filter.
func askFilter(f *Filter, rel string, dir bool) string {
	rel = strings.TrimSuffix(rel, "/")
	in := f.inside(filepath.ToSlash(filepath.Dir(rel)))
	list, r := in.veto.list, in.veto.rule
	if in.veto.indexed() {
		list, r = in.ruleFor(rel, rel[strings.LastIndexByte(rel, '/')+1:], dir)
	}
	if r == nil {
		return ""
	}
	text := fmt.Sprintf("%s:%d", list.source, r.line)
	if r.negate {
		text += reincluded
	}
	return text
}

// compare checks every path of the tree below root against git, which is asked
// in repo.
func compare(t *testing.T, f *Filter, repo, root string) (ignored int) {
	t.Helper()
	var paths []string
	dirs := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(repo, p)
		paths = append(paths, rel)
		dirs[rel] = d.IsDir()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	below, _ := filepath.Rel(repo, root)
	for p, want := range askGit(t, repo, paths) {
		rel, _ := filepath.Rel(below, p)
		got := askFilter(f, rel, dirs[p])
		if got != want {
			t.Errorf("%q: git says %q, the filter %q", p, want, got)
		}
		if isIgnored(want) {
			ignored++
		}
		indexed := f.File(rel)
		if dirs[p] {
			indexed = f.Dir(rel)
		}
		if indexed == isIgnored(want) {
			t.Errorf("%q: indexed = %v, and git says %q", p, indexed, want)
		}
	}
	return ignored
}

var (
	genNames = []string{"a", "b", "ab", "abc", "A", "a.b", "b.c", "x y", "a ", "#a", "!b", "é", "a[b]", "b-", "a*", `b\`}
	genAtoms = []string{"a", "b", "c", "ab", "abc", ".", "*", "*", "**", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[]-]",
		"[a", "[[:x:]]", "[[:a]", `\a`, `\*`, `\ `, `\`, " ", "#", "!", "é", "[\\]-a]", "[--a]", "-", "[[:punct:][:space:]]", "***", "A"}
)

func genPattern(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(5) == 0 {
		b.WriteByte('!')
	}
	if r.IntN(4) == 0 {
		b.WriteByte('/')
	}
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteByte('/')
		}
		switch r.IntN(8) {
		case 0:
			b.WriteString("**")
		case 1, 2, 3:
			b.WriteString(genNames[r.IntN(len(genNames))])
		default:
			for range 1 + r.IntN(4) {
				b.WriteString(genAtoms[r.IntN(len(genAtoms))])
			}
		}
	}
	if r.IntN(4) == 0 {
		b.WriteByte('/')
	}
	b.WriteString(strings.Repeat(" ", max(0, r.IntN(8)-5)))
	return b.String()
}

func genRules(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(10) == 0 {
		b.WriteString("\ufeff")
	}
	for range 1 + r.IntN(6) {
		switch r.IntN(12) {
		case 0:
			b.WriteString("# comment")
		case 1:
		case 2:
			b.WriteString("*\n!*/")
		default:
			b.WriteString(genPattern(r))
		}
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r\r\n"}[r.IntN(5)])
	}
	return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
}

// genForest makes several trees side by side, sometimes with rules above them:
// git is asked once for all.
func genForest(r *rand.Rand) map[string]string {
	all := map[string]string{}
	for i := range treesAtOnce {
		for name, text := range genTree(r) {
			all[fmt.Sprintf("t%d/%s", i, name)] = text
		}
	}
	if r.IntN(2) == 0 {
		all[".gitignore"] = genRules(r)
	}
	return all
}

// treesAtOnce is the number of trees in a forest.
const treesAtOnce = 10

// genTree makes a tree of directories, files and rule files.
func genTree(r *rand.Rand) map[string]string {
	files := map[string]string{}
	dirs := []string{""}
	for range 4 + r.IntN(10) {
		dir := dirs[r.IntN(len(dirs))] + genNames[r.IntN(len(genNames))] + "/"
		if _, taken := files[strings.TrimSuffix(dir, "/")]; !taken && strings.Count(dir, "/") < 6 {
			files[dir] = ""
			dirs = append(dirs, dir)
		}
	}
	for range 30 {
		name := dirs[r.IntN(len(dirs))] + genNames[r.IntN(len(genNames))]
		if _, taken := files[name+"/"]; !taken {
			files[name] = "x"
		}
	}
	for _, dir := range dirs {
		if dir == "" || r.IntN(3) == 0 {
			files[dir+".gitignore"] = genRules(r)
		}
	}
	return files
}

// wipe removes all of a repository but .git.
func wipe(t *testing.T, repo string) {
	t.Helper()
	entries, err := os.ReadDir(repo)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(repo, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

var trees = flag.Int("trees", 200, "generated trees to compare with git's own verdicts")

// TestAgreesWithGit compares generated trees under generated rule files with
// git itself: not only whether a path is ignored, but by which line of which file.
func TestAgreesWithGit(t *testing.T) {
	home := isolate(t)
	repo := filepath.Join(home, "repo")
	needGit(t, repo)
	ignored := 0
	for seed := range *trees / treesAtOnce {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		wipe(t, repo)
		files := genForest(r)
		plant(t, repo, files)
		plant(t, home, map[string]string{"xdg/git/ignore": genRules(r)})
		plant(t, repo, map[string]string{".git/info/exclude": genRules(r)})
		root := repo
		if r.IntN(4) == 0 { // a folder inside the repository
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if strings.HasSuffix(name, "/") {
					root = filepath.Join(repo, filepath.FromSlash(name))
				}
			}
		}
		f, err := New(Options{Root: root, Hidden: true, Gitignore: true})
		if err != nil {
			t.Fatal(err)
		}
		if root != repo {
			rel, _ := filepath.Rel(repo, root)
			if isIgnored(askGit(t, repo, []string{rel})[rel]) {
				continue // the repository ignores the folder: see TestFolderIgnoredByItsRepository
			}
			compareBelow(t, f, repo, root)
		} else {
			ignored += compare(t, f, repo, root)
		}
		if t.Failed() {
			for name, text := range files {
				if strings.HasSuffix(name, ".gitignore") {
					t.Logf("%s: %q", name, text)
				}
			}
			t.Fatalf("seed %d, folder %s", seed, root)
		}
	}
	if ignored < *trees {
		t.Errorf("only %d paths were ignored: the generator proves too little", ignored)
	}
}

// compareBelow is compare for a folder inside the repository, where sources are
// named otherwise: only the decisions are compared.
func compareBelow(t *testing.T, f *Filter, repo, root string) {
	t.Helper()
	below, _ := filepath.Rel(repo, root)
	var paths []string
	dirs := map[string]bool{}
	filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(repo, p); err == nil && p != root {
			paths = append(paths, rel)
			dirs[rel] = d.IsDir()
		}
		return err
	})
	if len(paths) == 0 {
		return
	}
	for p, said := range askGit(t, repo, paths) {
		rel, _ := filepath.Rel(below, p)
		indexed := f.File(rel)
		if dirs[p] {
			indexed = f.Dir(rel)
		}
		if indexed == isIgnored(said) {
			t.Errorf("%q: indexed = %v, and git says %q (reason %q)", p, indexed, said, f.Reason(rel))
		}
	}
}
