package ignore

import (
	"slices"
	"testing"
)

// listing tells the filter what a directory holds.
func listing(f *Filter, rel string, names ...string) {
	f.Listed(rel, func(name string) bool { return slices.Contains(names, name) })
}

// Where a listing has no rule file none is looked for, until Reload tells of one.
func TestListed(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{".gitignore": "b\n", "d/.gitignore": "a\n", "e/.gitignore": "a\n", "e/x": ""})
	if !f.Dir("d") || !f.Dir("e") {
		t.Fatal("the directories are ignored")
	}
	listing(f, "d") // as if it had come after
	listing(f, "e", ".gitignore", "x")
	for rel, want := range map[string]bool{"d/a": true, "d/b": false, "e/a": false, "e/b": false} {
		if got := f.decide(rel, false).indexed(); got != want {
			t.Errorf("%s: indexed %t, want %t", rel, got, want)
		}
	}
	f.Reload("d/.gitignore")
	if f.decide("d/a", false).indexed() {
		t.Error("the file that came after the listing has no effect")
	}
	listing(f, "e", "x") // of before the rules were read
	if f.decide("e/a", false).indexed() {
		t.Error("a listing took rules back that were read")
	}
}

// What is told of a directory that is ruled out, or that nobody asked about, says nothing.
func TestListedOutside(t *testing.T) {
	isolate(t)
	f := folder(t, Options{Gitignore: true}, map[string]string{".gitignore": "d/\n", "e/.gitignore": "a\n"})
	f.Dir("d")
	for _, rel := range []string{"d", "e", ".", "..", "/"} {
		listing(f, rel)
	}
	for _, rel := range []string{"d/x", "e/a"} {
		if f.decide(rel, false).indexed() {
			t.Errorf("%s is indexed", rel)
		}
	}
}
