//go:build unix

package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Whatever took a file's place, the index opens, tells of what it has lost, and
// takes the documents again.
func TestOpenWithOtherThingsInPlaceOfFiles(t *testing.T) {
	kinds := map[string]func(string) error{
		"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"dangling":  func(path string) error { return os.Symlink("/nonexistent/file", path) },
	}
	for kind, put := range kinds {
		for _, file := range []string{"MANIFEST", ".seg", "CACHEDIR.TAG"} {
			t.Run(kind+" for "+file, func(t *testing.T) {
				dir := t.TempDir()
				fillOne(t, dir, nil)
				paths, err := filepath.Glob(filepath.Join(dir, "*"+file))
				if err != nil || len(paths) == 0 {
					t.Fatalf("no %s: %v", file, err)
				}
				if err := os.Remove(paths[0]); err != nil {
					t.Fatal(err)
				}
				if err := put(paths[0]); err != nil {
					t.Skip(err)
				}
				told := 0
				fillOne(t, dir, func(err error) {
					told++
					if strings.Contains(err.Error(), "missing") {
						t.Errorf("told of damage without what follows: %v", err)
					}
				})
				if lost := file != "CACHEDIR.TAG" && !(file == "MANIFEST" && kind == "dangling"); (told > 0) != lost {
					t.Errorf("told of damage %d times", told)
				}
			})
		}
	}
}

// fillOne opens the index in dir, puts a document and closes it.
func fillOne(t *testing.T, dir string, onDamage func(error)) {
	t.Helper()
	o := durableOptions(nil)
	o.FS, o.Dir, o.OnDamage = nil, dir, onDamage
	e := openEngine(t, o)
	apply(t, e, putText("/a.txt", "apple pie"))
	if s := e.Snapshot().Stats(); s.Documents != 1 {
		t.Errorf("%d documents", s.Documents)
	}
	must(t, e.Close())
}
