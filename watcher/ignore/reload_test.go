package ignore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestReloadTellsRuleFiles(t *testing.T) {
	isolate(t)
	with, without := folder(t, Options{Gitignore: true}, nil), folder(t, Options{}, nil)
	for rel, want := range map[string][2]bool{ // with rule files, without
		".gitignore": {true, false}, "a/.gitignore": {true, false}, ".ignore": {true, false}, "a/b/.quernignore": {true, false}, ".git": {true, false},
		".git/info/exclude": {true, false}, "a/.git/info/exclude": {true, false}, "x.git/info/exclude": {false, false}, "info/exclude": {false, false},
		"a/CACHEDIR.TAG": {true, true}, "vendor/modules.txt": {true, true}, "other/modules.txt": {false, false}, "a/pom.xml": {true, true},
		"a": {false, false}, "": {false, false}, "../.gitignore": {false, false}, "a/gitignore": {false, false},
	} {
		if got := [2]bool{with.Reload(rel), without.Reload(rel)}; got != want {
			t.Errorf("Reload(%q) = %v, want %v", rel, got, want)
		}
	}
}

// Rules are kept until Reload, which drops those of the directory and below,
// both ways; a rule file that is gone counts no more.
func TestReload(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{".gitignore": "a\n", "d/.gitignore": "!a\nb\n", "d/e/x": ""})
	check := func(step, want string) {
		t.Helper()
		var got []string
		for _, rel := range []string{"a", "b", "d/a", "d/b", "d/e/a", "d/e/b"} {
			if f.decide(rel, false).indexed() { // not File: nothing but Reload may refresh
				got = append(got, rel)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: indexed %q, want %q", step, s, want)
		}
	}
	check("first", "b d/a d/e/a")
	plant(t, f.root, map[string]string{".gitignore": "b\n"})
	check("unread change", "b d/a d/e/a")
	f.Reload(".gitignore")
	check("root changed", "a d/a d/e/a")
	if err := os.Remove(filepath.Join(f.root, "d", ".gitignore")); err != nil {
		t.Fatal(err)
	}
	f.Reload("d/.gitignore")
	check("nested gone", "a d/a d/e/a")
	plant(t, f.root, map[string]string{"d/e/.quernignore": "!b\na\n"})
	f.Reload("d/e/.quernignore")
	check("nested new", "a d/a d/e/b")
	plant(t, f.root, map[string]string{".gitignore": "d/\n"})
	f.Reload(".gitignore")
	check("directory ignored", "a b")
}

// A walk that asks Dir first needs no Reload: each step changes files without
// telling.
func TestDirReadsChangedRules(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{"d/a": "", "r/a": ""})
	want := func(step string, dir, file bool) {
		t.Helper()
		if got := f.Dir("d"); got != dir {
			t.Errorf("%s: Dir(d) = %v: %s", step, got, f.Reason("d/"))
		}
		if got := f.File("d/a"); got != file {
			t.Errorf("%s: File(d/a) = %v: %s", step, got, f.Reason("d/a"))
		}
	}
	want("first", true, true)
	plant(t, f.root, map[string]string{"d/.gitignore": "a\n"})
	want("rule file appears", true, false)
	plant(t, f.root, map[string]string{"d/.gitignore": "# no rule\n"})
	want("rule file changes", true, true)
	plant(t, f.root, map[string]string{"d/CACHEDIR.TAG": cacheSignature})
	want("marked as a cache", false, false)
	os.Remove(filepath.Join(f.root, "d", "CACHEDIR.TAG"))
	want("no longer", true, true)
	plant(t, f.root, map[string]string{"d/.git/HEAD": "", "d/.git/info/exclude": "a\n"})
	want("becomes a repository", true, false)
	plant(t, f.root, map[string]string{"d/.git/info/exclude": "other\n"})
	want("its exclude file changes", true, true)

	// A rule file that a scan comes upon counts at once, though Dir was asked
	// before it was there.
	f.Dir("r")
	f.File("r/a")
	plant(t, f.root, map[string]string{"r/.ignore": "a\n"})
	if f.File("r/.ignore"); f.File("r/a") {
		t.Error("r/.ignore was passed by a scan and does not count")
	}
	plant(t, f.root, map[string]string{".gitignore": "/d\n"})
	if f.Dir("."); f.Dir("d") || f.File("d/a") {
		t.Error("the folder's own rule file was not read anew by Dir of the folder")
	}
}

// A change of the user's global file shows when the folder is walked again.
func TestDirReadsChangedGlobalFile(t *testing.T) {
	home := isolate(t)
	f := folder(t, Options{Gitignore: true}, nil)
	if !f.Dir("") || !f.File("a") {
		t.Fatal("not indexed to begin with")
	}
	plant(t, home, map[string]string{"xdg/git/ignore": "a\n"})
	if f.Dir(""); f.File("a") {
		t.Error("the new global file does not count")
	}
}

// Questions and reloads from many goroutines: no race, and the last word is the
// file's.
func TestConcurrentUse(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{"d/e/a": "", ".gitignore": "x\n"})
	var asking, writing sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if f.File("d/e/x") {
					t.Error("d/e/x is indexed")
					return
				}
				f.Dir("d/e")
				f.Reason("d/e/a")
				f.Problems()
				f.OutsideRules()
			}
		})
	}
	writing.Go(func() {
		for i := range 80 {
			text := []byte(fmt.Sprintf("a%d\n", i%2))
			if err := os.WriteFile(filepath.Join(f.root, "d", ".ignore"), text, 0o644); err != nil {
				t.Error(err)
			}
			f.Reload("d/.ignore")
			if f.File(fmt.Sprintf("d/e/a%d", i%2)) || !f.File(fmt.Sprintf("d/e/a%d", (i+1)%2)) {
				t.Errorf("write %d does not count after Reload", i)
			}
		}
	})
	writing.Wait()
	close(done)
	asking.Wait()
}

// What is kept is bounded, and being dropped changes no answer.
func TestKeptRulesAreBounded(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{".gitignore": "x\n"})
	for i := range maxDirs + 10 {
		f.dirs[fmt.Sprint("gone", i)] = &inside{}
	}
	f.Dir("d/e")
	if !f.File("d/e/a") || f.File("d/e/x") {
		t.Error("wrong answer with a full cache")
	}
	if n := len(f.dirs); n > maxDirs {
		t.Errorf("%d directories are kept", n)
	}
}

// mustEnd fails the test when do does not end: a question must never wait.
func mustEnd(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { // ends with do, or with the test binary
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s does not end", what)
	}
}
