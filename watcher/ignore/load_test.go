package ignore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rule files that cannot be used count as empty and are named.
func TestProblems(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{
		"dir/.gitignore/": "", "big/.gitignore": "a\n" + strings.Repeat("#", maxRuleFile), "fits/.gitignore": "a\n" + strings.Repeat("#", maxRuleFile-2), "real": "a\n", "link/": "", "closed/.ignore": "a\n", "gone/": "",
	})
	if err := os.Symlink("../real", filepath.Join(f.root, "link", ".gitignore")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	os.Chmod(filepath.Join(f.root, "closed", ".ignore"), 0)
	want := []string{"big/.gitignore: not used: larger than 1048576 bytes", "dir/.gitignore: not used: not a regular file", "link/.gitignore: not used: a symbolic link, which git does not follow"}
	if _, err := os.ReadFile(filepath.Join(f.root, "closed", ".ignore")); err != nil {
		want = append(want, "closed/.ignore: not used: permission denied")
	}
	for _, dir := range []string{"dir", "big", "link", "gone"} {
		if !f.File(dir + "/a") {
			t.Errorf("%s/a: %s", dir, f.Reason(dir+"/a"))
		}
	}
	f.File("closed/a")
	if f.File("fits/a") {
		t.Error("a rule file of just the limit is not used")
	}
	got := f.Problems()
	if len(got) != len(want) {
		t.Errorf("problems: %q", got)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), filepath.Join(f.root, w)) {
			t.Errorf("problems lack %q:\n%s", w, strings.Join(got, "\n"))
		}
	}
	os.RemoveAll(filepath.Join(f.root, "big"))
	f.Reload("big/.gitignore")
	f.File("big/a")
	if strings.Contains(strings.Join(f.Problems(), "\n"), "big") {
		t.Error("the problem of a file that is gone is still shown")
	}
	if f.Reset(); len(f.Problems()) > 0 {
		t.Errorf("problems after Reset: %q", f.Problems())
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var p problemSet
	for i := range keptProblems + 50 {
		p.set(filepath.Join("/x", strings.Repeat("y", i)), errNotRegular)
	}
	if list := p.list(); len(list) != shownProblems+1 || list[shownProblems] != "and 950 more rule files could not be read" {
		t.Errorf("%d problems, the last %q", len(list), list[len(list)-1])
	}
}
