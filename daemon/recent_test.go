package daemon_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

func (h *harness) age(name string, d time.Duration) {
	h.t.Helper()
	when := time.Now().Add(-d)
	if err := os.Chtimes(h.path(name), when, when); err != nil {
		h.t.Fatal(err)
	}
}

func names(documents []ipc.Document) string {
	var out []string
	for _, d := range documents {
		out = append(out, d.Rel)
	}
	return strings.Join(out, " ")
}

func TestRecent(t *testing.T) {
	h := start(t, "")
	for i, name := range []string{"c.txt", "a.txt", "b.md", "d.txt"} {
		h.write(name, "a document with some words")
		h.age(name, time.Duration(1+i/2)*time.Hour)
	}
	same := time.Now().Add(-time.Minute)
	for _, name := range []string{"y.txt", "x.txt"} {
		h.write(name, "of one instant")
		if err := os.Chtimes(h.path(name), same, same); err != nil {
			t.Fatal(err)
		}
	}
	h.sync()
	ask := func(p ipc.RecentParams) ipc.RecentResult {
		p.Sync = true
		return call[ipc.RecentResult](h, ipc.MethodRecent, p)
	}
	all := ask(ipc.RecentParams{})
	if got := names(all.Documents); all.Total != 6 || !strings.HasPrefix(got, "x.txt y.txt ") || len(all.Documents) != 6 {
		t.Errorf("got %q of %d", got, all.Total)
	}
	if d := all.Documents[0]; d.Folder != "notes" || d.Type != "txt" || d.Passages != 1 || d.Size != 14 || d.Path != h.path("x.txt") {
		t.Errorf("got %+v", d)
	}
	if r := ask(ipc.RecentParams{Since: "90min", Types: []string{"txt"}, K: 1, Offset: 1}); names(r.Documents) != "y.txt" || r.Total != 4 {
		t.Errorf("got %q of %d", names(r.Documents), r.Total)
	}
	if r := ask(ipc.RecentParams{Path: "*.md"}); names(r.Documents) != "b.md" {
		t.Errorf("got %q", names(r.Documents))
	}
	if r := ask(ipc.RecentParams{Offset: 9}); len(r.Documents) != 0 || r.Total != 6 {
		t.Errorf("got %+v", r)
	}
	for _, bad := range []ipc.RecentParams{{K: -1}, {K: 5000}, {Since: "soon"}, {Folders: []string{"nope"}}} {
		if _, err := try[ipc.RecentResult](h, ipc.MethodRecent, bad); code(err) != ipc.CodeInvalidParams {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// filler is text that makes a passage of what it follows, with one word in common.
func filler(tag string) string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "%s%d ", tag, i)
	}
	return b.String() + "common"
}

func TestSimilar(t *testing.T) {
	h := start(t, "")
	h.write("whale.md", "# Whales\n\nwhales sing "+filler("w")+"\n\n# Volcano\n\nvolcano lava "+filler("v")+"\n")
	h.write("sea.txt", "the sea where whales sing to other whales "+filler("s"))
	h.write("fire.txt", "lava of a volcano "+filler("f"))
	h.write("other.txt", filler("o"))
	h.sync()
	ask := func(p ipc.SimilarParams) ipc.SearchResult {
		p.Sync = true
		return call[ipc.SearchResult](h, ipc.MethodSimilar, p)
	}
	r := ask(ipc.SimilarParams{Path: h.path("whale.md"), Line: 3})
	if rels(r) == "" || r.Hits[0].Rel != "sea.txt" || r.Total != 4 || len(r.Hits) != 4 {
		t.Errorf("like the whales: %s of %d", rels(r), r.Total)
	}
	r = ask(ipc.SimilarParams{Path: h.path("whale.md"), Passage: ptr(1)})
	if r.Hits[0].Rel != "fire.txt" {
		t.Errorf("like the volcano: %s", rels(r))
	}
	for _, hit := range r.Hits {
		if hit.Rel == "whale.md" && hit.Passage == 1 {
			t.Error("the passage itself is a hit")
		}
	}
	r = ask(ipc.SimilarParams{Path: h.path("whale.md"), Line: 3, Collapse: "document"})
	if strings.Contains(rels(r), "whale.md") || r.Total != 3 {
		t.Errorf("by document: %s of %d", rels(r), r.Total)
	}
	r = ask(ipc.SimilarParams{Path: h.path("whale.md"), K: 1, Offset: 1})
	if len(r.Hits) != 1 || r.Hits[0].Rel == "whale.md" || r.Total != 3 {
		t.Errorf("like the document: %s of %d", rels(r), r.Total)
	}
	r = ask(ipc.SimilarParams{Text: "lava! lava? unheardof", Budget: 200})
	if r.Query != "lava lava" || !strings.Contains(rels(r), "fire.txt") {
		t.Errorf("like a text: %q finds %s", r.Query, rels(r))
	}
	for _, bad := range []ipc.SimilarParams{
		{}, {Text: "x", Path: h.path("sea.txt")}, {Text: "x", Line: 1}, {Path: "sea.txt"}, {Path: h.path("sea.txt"), Line: -1},
		{Path: h.path("sea.txt"), Line: 1, Passage: ptr(0)}, {Text: "x", K: -1},
	} {
		if _, err := try[ipc.SearchResult](h, ipc.MethodSimilar, bad); code(err) != ipc.CodeInvalidParams {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	for _, missing := range []ipc.SimilarParams{{Path: h.path("no.txt")}, {Path: h.path("sea.txt"), Passage: ptr(7)}} {
		if _, err := try[ipc.SearchResult](h, ipc.MethodSimilar, missing); code(err) != ipc.CodeNotFound {
			t.Errorf("%+v: %v", missing, err)
		}
	}
}

// A newer search of the session cancels the older, which may be answered first.
func TestSearchSession(t *testing.T) {
	h := start(t, "")
	h.write("a.txt", "some words")
	h.sync()
	errs := make(chan error, 50)
	for i := range cap(errs) {
		go func() {
			errs <- h.client.Call(t.Context(), ipc.MethodSearch, ipc.SearchParams{Query: fmt.Sprint("words ", i), Session: "typing", Sync: true}, nil)
		}()
	}
	answered := 0
	for range cap(errs) {
		switch err := <-errs; {
		case err == nil:
			answered++
		case code(err) != ipc.CodeCancelled:
			t.Errorf("ends with %v", err)
		}
	}
	if answered == 0 {
		t.Error("not even the last one is answered")
	}
}
