package daemon

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"quern/config"
	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
	"quern/watcher"
)

// A file moved into a folder that has just been removed is gone from where it
// was; one moved into a folder that is there has moved.
func TestRenameIntoAFolder(t *testing.T) {
	engine, err := index.Open(index.Options{
		Chunk:    chunk.Options{Strategy: "document", MaxWords: 1},
		Analysis: analysis.Options{Tokenizer: "plain", Stopwords: "none", Stemmer: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	info := watcher.Info{Dev: 1, Ino: 2, Size: 5, Modified: time.Unix(1e9, 0)}
	old := document(&folder{Folder: config.DefaultFolder("/a")}, "/a/x.txt", info.Modified, info.Size)
	if old.Content, err = extract.Extract(old.Path, []byte("apple")); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Apply(context.Background(), []index.Change{{Put: old}}); err != nil {
		t.Fatal(err)
	}
	changes := []watcher.Change{
		{Op: watcher.Remove, Path: "/a/x.txt", Root: "/a", Info: info},
		{Op: watcher.Write, Path: "/b/y.txt", Root: "/b", Info: info},
	}
	c := &core{engine: engine, files: newFileTable()}
	p := newPipeline(c, slog.New(slog.DiscardHandler))
	removed := func(c index.Change) bool { return c.Remove == "/a/x.txt" }
	if got := p.prepare(changes); !slices.ContainsFunc(got, removed) {
		t.Errorf("the old name stays in the index: %+v", got)
	}
	c.folders = []*folder{{Folder: config.DefaultFolder("/b")}}
	got := p.prepare(changes)
	if len(got) != 1 || got[0].Move == nil || got[0].Move.From != "/a/x.txt" || got[0].Move.To.Folder != "b" {
		t.Errorf("changes %+v", got)
	}
	changes[1].Path = "/b/.txt" // whose dot begins no extension, but the same type
	if moves := p.renames(changes); len(moves) != 1 {
		t.Errorf("moves %+v", moves)
	}
	changes[1].Path = "/b/y.md"
	if moves := p.renames(changes); len(moves) != 0 {
		t.Errorf("text was moved to Markdown: %+v", moves)
	}
	changes[1].Path = "/b/y.txt"
	p.racy.mark("/a/x.txt", true)
	if moves := p.renames(changes); len(moves) != 0 {
		t.Errorf("a document that may be stale was moved: %+v", moves)
	}
}
