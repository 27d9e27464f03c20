//go:build unix

package e2e

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"quern/index/extract"
	extraction "quern/index/extract/sandbox"
	"quern/ipc"
)

// A manifest says what must be found in the files of a folder. Its lines are
// separated by tabs: path, expectation, phrase, what must not be found, and more that
// is not read. Expectations: find and nice (the phrase is in the text), skip (a
// reason instead of text), survive (an answer, whatever it is).
const (
	manifestVariable = "QUERN_MANIFEST"
	filesVariable    = "QUERN_FILES"
)

// row is a line of a manifest.
type row struct{ path, expect, phrase, absent string }

// TestManifest holds a folder of files against its manifest, by extraction alone and
// by asking a daemon that watches the folder.
func TestManifest(t *testing.T) {
	manifest, dir := os.Getenv(manifestVariable), os.Getenv(filesVariable)
	if manifest == "" || dir == "" {
		t.Skipf("%s and %s name no manifest and folder of files", manifestVariable, filesVariable)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows := readManifest(t, manifest)
	t.Run("extract", func(t *testing.T) { checkExtraction(t, dir, rows) })
	t.Run("search", func(t *testing.T) { checkSearch(t, dir, rows) })
}

func readManifest(t *testing.T, path string) (rows []row) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	for n := 1; ; n++ {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil || len(line) < 4 {
			t.Fatalf("%s:%d: %d fields, %v", path, n, len(line), err)
		}
		if line[1] != "expect" {
			rows = append(rows, row{line[0], line[1], line[2], line[3]})
		}
	}
}

// checkExtraction asks the extraction processes alone.
func checkExtraction(t *testing.T, dir string, rows []row) {
	box := extraction.New(extraction.Options{Command: []string{quernPath()}, Cache: t.TempDir()})
	defer box.Close()
	for _, r := range rows {
		t.Run(r.path, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, r.path))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			doc, err := box.Extract(context.Background(), filepath.Join(dir, r.path), data)
			took := time.Since(began).Round(time.Millisecond)
			text := ""
			if err == nil {
				text = allText(doc)
			}
			t.Logf("%v, %d bytes of text, error %v", took, len(text), err)
			r.judge(t, text, err != nil && err.Error() != "" || strings.TrimSpace(text) == "")
		})
	}
}

// judge holds what came of a file against the row. reason: there is one why not all
// was read.
func (r row) judge(t *testing.T, text string, reason bool) {
	t.Helper()
	found := strings.Contains(folded(text), folded(r.phrase))
	switch {
	case r.absent != "" && strings.Contains(folded(text), folded(r.absent)):
		t.Errorf("%q is in its text", r.absent)
	case r.expect == "find" && !found:
		t.Errorf("%q is not in its text: %.200q", r.phrase, text)
	case r.expect == "nice" && !found:
		t.Logf("nice to have: %q", r.phrase)
	case r.expect == "skip" && !reason:
		t.Errorf("no reason why it is skipped; its text: %.200q", text)
	}
}

// allText is what a document and its members say.
func allText(d *extract.Document) string {
	var b strings.Builder
	b.WriteString(d.Title + "\n" + d.Author + "\n")
	for _, s := range d.Sections {
		if len(s.Heading) > 0 {
			b.WriteString(s.Heading[len(s.Heading)-1] + "\n")
		}
	}
	b.WriteString(extract.Decode(d.Text) + "\n")
	for _, m := range d.Members {
		b.WriteString(m.Name + "\n")
		if m.Document != nil {
			b.WriteString(allText(m.Document))
		}
	}
	return b.String()
}

// folded is text as it is compared: NFKC, case folded, without soft hyphens,
// zero-width characters and bidi controls, with single spaces.
func folded(s string) string {
	s = cases.Fold().String(norm.NFKC.String(strings.ToValidUTF8(s, "\ufffd")))
	s = strings.Map(func(r rune) rune {
		if r == '\u00ad' || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// checkSearch asks a daemon that watches the folder.
func checkSearch(t *testing.T, dir string, rows []row) {
	s := newSandbox(t)
	s.write(".config/quern/config.toml", "[[folder]]\npath = "+strconv.Quote(dir)+"\nname = \"files\"\nhidden = true\ngitignore = false\n")
	if _, msg, code := s.quern("status", "--wait"); code != 0 {
		t.Fatalf("status --wait: %d %s", code, msg)
	}
	for _, r := range rows {
		t.Run(r.path, func(t *testing.T) {
			path := filepath.Join(dir, r.path)
			state := s.fileState(t, path)
			text := ""
			if r.phrase != "" {
				text = s.answer(t, path, r.phrase)
			}
			if state.State == ipc.FilePending || state.State == ipc.FileUnknown || state.State != ipc.FileIndexed && state.Reason == "" {
				t.Errorf("status: %+v", state)
			}
			r.judge(t, text, state.Reason != "" && state.Passages == 0)
			if r.absent != "" {
				(row{absent: r.absent}).judge(t, s.answer(t, path, r.absent), true)
			}
		})
	}
}

func (s *sandbox) fileState(t *testing.T, path string) (f ipc.FileStatus) {
	t.Helper()
	out, msg, code := s.quern("status", "--json", "--file", path)
	if err := json.Unmarshal([]byte(out), &f); err != nil || code != 0 {
		t.Fatalf("status --file: %d %s %v", code, msg, err)
	}
	return f
}

// answer is the text of the passages of a file and its members that a search for the
// phrase finds, with the document around them where the phrase is not in one alone.
func (s *sandbox) answer(t *testing.T, path, phrase string) string {
	t.Helper()
	out, msg, code := s.quern("search", "--json", "-k", "1000", "--collapse", "none", "--duplicates", "show", "--literal", "--", phrase)
	if code > 1 {
		t.Fatalf("search: %d %s", code, msg)
	}
	var found ipc.SearchResult
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	asked := map[string]bool{}
	for _, h := range found.Hits {
		if h.Path != path && !strings.HasPrefix(h.Path, path+"!/") {
			continue
		}
		b.WriteString(h.Title + "\n" + h.Author + "\n" + strings.Join(h.Heading, "\n") + "\n" + h.Text + "\n")
		if !strings.Contains(folded(b.String()), folded(phrase)) && !asked[h.Path] {
			asked[h.Path] = true
			shown, _, _ := s.quern("show", h.Path)
			b.WriteString(shown)
		}
	}
	return b.String()
}
