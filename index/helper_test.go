package index

import (
	"context"
	"sync"
	"testing"
	"time"

	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
	"quern/index/segment/vfs"
)

// plainOptions are those of the reference: no stemming, the short list of
// stop words.
func plainOptions() Options {
	return Options{
		Chunk:    chunk.Options{Strategy: chunk.Paragraph, MinWords: 25, MaxWords: 120, Overlap: 30},
		Analysis: analysis.Options{Tokenizer: "plain", Stopwords: "short", Stemmer: "none", MinLength: 1},
	}
}

func openEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func apply(t testing.TB, e *Engine, changes ...Change) uint64 {
	t.Helper()
	g, err := e.Apply(context.Background(), changes)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var testTime = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

// meta is what a file with this path looks like from outside.
func meta(path string) Document {
	return Document{Path: path, Folder: "help", Rel: path[1:], Modified: testTime}
}

// putText puts a plain text.
func putText(path, text string) Change {
	return put(path, &extract.Document{
		Type: "txt", Text: []byte(text), Sections: []extract.Section{{End: len(text)}},
	})
}

func put(path string, content *extract.Document) Change {
	d := meta(path)
	d.Size, d.Content = int64(len(content.Text)), content
	return Change{Put: &d}
}

func remove(path string) Change { return Change{Remove: path} }

func move(from, to string, size int64) Change {
	m := &Move{From: from, To: meta(to)}
	m.To.Size = size
	return Change{Move: m}
}

// section is a part of a structured text: a heading's path and what follows.
type section struct {
	heading []string
	body    string
}

// structured makes a text of sections, each under its heading line.
func structured(title string, sections []section) *extract.Document {
	d := &extract.Document{Type: "md", Title: title}
	for _, s := range sections {
		out := extract.Section{Heading: s.heading}
		if n := len(s.heading); n > 0 {
			out.HeadingStart = len(d.Text)
			d.Text = append(d.Text, "# "+s.heading[n-1]+"\n"...)
			out.HeadingEnd = len(d.Text)
		}
		out.Start = len(d.Text)
		d.Text = append(d.Text, s.body...)
		out.End = len(d.Text)
		d.Sections = append(d.Sections, out)
	}
	return d
}

var (
	cosine = SearchOptions{K: 10, Model: TFIDF, TF: LogTF}
	bm25   = SearchOptions{K: 10, Model: BM25, K1: 0.9, B: 0.4}
)

func search(t testing.TB, s *Snapshot, q string, o SearchOptions) *Result {
	t.Helper()
	r, err := s.Search(context.Background(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lockedCountdown makes a Before that calls cut when left calls are over, and
// fails every call from then on.
func lockedCountdown(left *int, cut func()) func(vfs.Op, string) error {
	var mu sync.Mutex
	n := *left
	return func(vfs.Op, string) error {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 {
			cut()
		}
		if n--; n < 0 {
			return errBroken
		}
		return nil
	}
}

// lockedWindow makes a Before that fails the calls numbered from … to-1.
func lockedWindow(from, to int) func(vfs.Op, string) error {
	var mu sync.Mutex
	n := -1
	return func(vfs.Op, string) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n >= from && n < to {
			return errBroken
		}
		return nil
	}
}
