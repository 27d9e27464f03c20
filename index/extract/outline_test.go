package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sectionLines returns a document's sections, one a line: the heading path and the text.
func sectionLines(d *Document) []string {
	var out []string
	for _, s := range d.Sections {
		out = append(out, strings.Join(s.Heading, " > ")+": "+fold(Decode(d.Text[s.Start:s.End])))
	}
	return out
}

// read extracts a text and checks what holds for every document.
func read(t *testing.T, name, text string) *Document {
	t.Helper()
	d, err := Extract(name, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	checkCovered(t, d)
	return d
}

func wantOutline(t *testing.T, name, text string, want ...string) *Document {
	t.Helper()
	d := read(t, name, text)
	if got := sectionLines(d); !slices.Equal(got, want) {
		t.Errorf("%s: %q:\n got %s\nwant %s", name, text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return d
}

// wantMeta holds a document's title, author and date against "title, author, date".
func wantMeta(t *testing.T, d *Document, want string) {
	t.Helper()
	date := ""
	if !d.Date.IsZero() {
		date = d.Date.Format("2006-01-02")
	}
	if got := fmt.Sprintf("%s, %s, %s", d.Title, d.Author, date); got != want {
		t.Errorf("%s: %q, want %q", d.Type, got, want)
	}
}
