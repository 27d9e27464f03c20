package extract

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TestOfficeFiles holds what is read of real files against a list of what must be
// found in them. QUERN_FILES is the folder with MANIFEST.tsv: path, expectation,
// phrase, text that must be absent.
func TestOfficeFiles(t *testing.T) {
	dir := os.Getenv("QUERN_FILES")
	if dir == "" {
		t.Skip("QUERN_FILES is not set")
	}
	manifest, err := os.Open(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	rows := 0
	for lines := bufio.NewScanner(manifest); lines.Scan(); {
		f := append(strings.Split(lines.Text(), "\t"), "", "", "")
		if f[0] == "path" || !slices.Contains(strings.Fields(officeTypes), TypeOf(f[0])) {
			continue
		}
		rows++
		t.Run(f[0], func(t *testing.T) { checkOfficeFile(t, filepath.Join(dir, f[0]), f[1], f[2], f[3]) })
	}
	if rows == 0 {
		t.Error("no row of the manifest is of a format that is read here")
	}
}

func checkOfficeFile(t *testing.T, path, expect, phrase, absent string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := parseTestOffice(TypeOf(path), data)
	var text string
	if d != nil {
		checkSections(t, d)
		text = folded(allText(d))
		t.Logf("%s %q by %q of %v: %d bytes, %d sections, %d members %s", d.Type, d.Title, d.Author, d.Date, len(d.Text), len(d.Sections),
			len(d.Members), d.Truncated)
	}
	switch {
	case expect == "skip" && !errors.Is(err, ErrBinary):
		t.Errorf("not skipped: %v", err)
	case expect == "find" && !strings.Contains(text, folded(phrase)):
		t.Errorf("not found: %q, %v", phrase, err)
	case expect == "nice" && !strings.Contains(text, folded(phrase)):
		t.Logf("not found, but only nice: %q, %v", phrase, err)
	case absent != "" && strings.Contains(text, folded(absent)):
		t.Errorf("found: %q", absent)
	}
	if err != nil {
		t.Log(err)
	}
}

// parseTestOffice reads a document as a type says.
func parseTestOffice(typ string, data []byte) (*Document, error) {
	d := &Document{Type: typ, Text: data, budget: newBudget(DefaultLimits)}
	if err := parseOffice(d); err != nil {
		return nil, err
	}
	return d, nil
}

// allText is a document's text and what it says of itself, members included.
func allText(d *Document) string {
	text := d.Title + "\n" + d.Author + "\n" + string(d.Text)
	for _, m := range d.Members {
		text += "\n" + allText(m.Document)
	}
	return text
}

// folded is text as it is compared: NFKC, case folded, without invisible
// characters, white space collapsed.
func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(s))
	return strings.Join(strings.Fields(cases.Fold().String(s)), " ")
}

// checkSections checks that the sections lie in order within the text.
func checkSections(t *testing.T, d *Document) {
	t.Helper()
	at := 0
	for i, s := range d.Sections {
		if s.HeadingEnd > 0 {
			if s.HeadingStart < at || s.HeadingEnd < s.HeadingStart || s.Start < s.HeadingEnd {
				t.Fatalf("section %d: its heading is out of order: %+v after %d", i, s, at)
			}
			if got := string(d.Text[s.HeadingStart:s.HeadingEnd]); got != s.Heading[len(s.Heading)-1] {
				t.Fatalf("section %d: heading %q, want %q", i, got, s.Heading)
			}
		}
		if s.Start < at || s.End < s.Start || s.End > len(d.Text) {
			t.Fatalf("section %d: out of order: %+v after %d of %d", i, s, at, len(d.Text))
		}
		at = s.End
	}
	if at != len(d.Text) {
		t.Fatalf("the sections end at %d of %d", at, len(d.Text))
	}
}
