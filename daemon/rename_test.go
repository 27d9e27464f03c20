package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quern/config"
	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract/sandbox"
	"quern/watcher"
)

// A file is moved in the index, with nothing extracted, when it is the same file
// with the same bytes in a folder that is there; else it is read as a new one.
func TestRenames(t *testing.T) {
	dir := t.TempDir()
	engine, err := index.Open(index.Options{
		Chunk:    chunk.Options{Strategy: "document", MaxWords: 1},
		Analysis: analysis.Options{Tokenizer: "plain", Stopwords: "none", Stemmer: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	c := &core{engine: engine, files: newFileTable(), sandbox: sandbox.New(sandbox.Options{}), quarantine: openQuarantine(filepath.Join(t.TempDir(), "q"), slog.New(slog.DiscardHandler))}
	if c.watch, err = watcher.New(watcher.Options{}); err != nil {
		t.Fatal(err)
	}
	defer c.watch.Close()
	c.folders = []*folder{{Folder: config.DefaultFolder(dir)}}
	p := newPipeline(c, slog.New(slog.DiscardHandler))

	info := watcher.Info{Dev: 1, Ino: 2, Size: 5, Modified: time.Unix(1e9, 0)}
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to, root string) []index.Change {
		changes := []watcher.Change{
			{Op: watcher.Remove, Path: path(from), Root: dir, Info: info},
			{Op: watcher.Write, Path: path(to), Root: root, Info: info},
		}
		return compact(p.prepare(t.Context(), changes, p.renames(changes)))
	}
	put("x.txt", "apple")
	first := compact(p.prepare(t.Context(), []watcher.Change{{Op: watcher.Write, Path: path("x.txt"), Root: dir, Info: info}}, nil))
	if _, err := engine.Apply(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"y.txt", ".txt", "y.md"} {
		put(name, "apple")
	}
	put("z.txt", "grape") // of the same size, and as old for all that stat tells
	for _, test := range []struct {
		name, root string
		moved      bool
	}{
		{"y.txt", dir, true},
		{".txt", dir, true},        // its dot begins no extension: the same format
		{"y.md", dir, false},       // another format
		{"z.txt", dir, false},      // another content
		{"y.txt", "/gone", false},  // in a folder that has been removed meanwhile
		{"absent.txt", dir, false}, // vanished again
	} {
		got := rename("x.txt", test.name, test.root)
		moved := len(got) == 1 && got[0].Move != nil && got[0].Move.From == path("x.txt") && got[0].Move.To.Path == path(test.name)
		removed := slices.ContainsFunc(got, func(c index.Change) bool { return c.Remove == path("x.txt") })
		if moved != test.moved || removed == test.moved {
			t.Errorf("%s in %s: %+v", test.name, test.root, got)
		}
	}
}
