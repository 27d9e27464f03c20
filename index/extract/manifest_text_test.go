package extract

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// filesVariable names a directory with a MANIFEST.tsv: lines of a path, what is
// expected of it (find, nice, skip, survive), a phrase to be found, and one that
// must not be.
const filesVariable = "QUERN_FILES"

// textDirs are the directories there with the formats that are text or mail.
var textDirs = regexp.MustCompile(`^[^/]+/(?:enc|code|data|html|mail|maildir|markup|nb|nest|subs)/|/bomb/svg|/wrongtype/really-html|/wrongtype/jpeg`)

// TestManifestText holds what is extracted of a collection of files against its
// manifest.
func TestManifestText(t *testing.T) {
	dir := os.Getenv(filesVariable)
	if dir == "" {
		t.Skipf("%s names no directory of files", filesVariable)
	}
	f, err := os.Open(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if row := strings.Split(lines.Text(), "\t"); len(row) > 3 && textDirs.MatchString(row[0]) && !strings.HasSuffix(row[0], ".rtf") {
			t.Run(row[0], func(t *testing.T) { checkRow(t, dir, row) })
			rows++
		}
	}
	if rows == 0 {
		t.Fatal("the manifest has no row of a text format")
	}
}

func checkRow(t *testing.T, dir string, row []string) {
	data, err := os.ReadFile(filepath.Join(dir, row[0]))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Extract(filepath.Join(dir, row[0]), data)
	found := ""
	if err == nil {
		checkCovered(t, d)
		found = comparable(textOf(d))
	}
	switch {
	case row[1] == "skip":
		if err == nil && strings.TrimSpace(found) != "" {
			t.Error("not skipped")
		}
	case err != nil && row[1] != "survive":
		t.Error(err)
	case row[1] == "find" && !strings.Contains(found, comparable(row[2])):
		t.Errorf("%q is not in %.500q", row[2], found)
	case row[3] != "" && strings.Contains(found, comparable(row[3])):
		t.Errorf("%q is in the text", row[3])
	}
}

// textOf returns the text of a document and its members.
func textOf(d *Document) string {
	var b strings.Builder
	b.WriteString(d.Title + "\n" + Decode(d.Text))
	for _, m := range d.Members {
		if m.Document != nil {
			b.WriteString("\n" + textOf(m.Document))
		}
	}
	return b.String()
}

// comparable folds what does not matter to somebody who searches.
func comparable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == 0xad || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff {
			return -1
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(s))), " ")
}

// checkCovered tells what is wrong with the sections of a document and its members.
func checkCovered(t *testing.T, d *Document) {
	t.Helper()
	if len(d.Sections) == 0 || d.Extracted && !utf8.Valid(d.Text) || !utf8.ValidString(d.Title+d.Author) {
		t.Fatalf("%s: no section, or a text that is not UTF-8", d.Type)
	}
	at := 0
	for i, s := range d.Sections {
		begin := s.Start
		if s.HeadingEnd > 0 {
			begin = s.HeadingStart
			if s.HeadingStart > s.HeadingEnd || s.HeadingEnd > s.Start || len(s.Heading) == 0 {
				t.Fatalf("%s: section %d: %+v", d.Type, i, s)
			}
		}
		if begin < at || s.End < s.Start || s.End > len(d.Text) {
			t.Fatalf("%s: section %d: %+v, after %d of %d", d.Type, i, s, at, len(d.Text))
		}
		for _, h := range s.Heading {
			if h == "" || strings.ToValidUTF8(h, "") != h || strings.TrimSpace(h) != h {
				t.Fatalf("%s: heading %q", d.Type, h)
			}
		}
		at = s.End
	}
	if at != len(d.Text) {
		t.Fatalf("%s: the last section ends at %d of %d", d.Type, at, len(d.Text))
	}
	for _, m := range d.Members {
		if m.Document != nil {
			checkCovered(t, m.Document)
		}
	}
}
