// Package extract turns the bytes of a file into text with structure: where
// its sections are and under which headings they stand. One format, one file:
// a new one adds a function of type parser and a line to parsers.
package extract

import (
	"path/filepath"
	"strings"
	"time"
)

// Document is the text of a file and its structure.
type Document struct {
	// Type is the short name of the format: "txt", "md".
	Type string
	// Title is the document's own title, if it has one.
	Title string
	// Author is who the document says wrote it, if it does.
	Author string
	// Date is the document's own date (when a mail was sent, a book
	// published), or zero.
	Date time.Time
	// Text is the source as it stands. For text formats these are the
	// file's own bytes, which may hold invalid UTF-8 and \r\n line ends, so
	// that every offset into Text is an offset into the file.
	Text []byte
	// Extracted says that Text is not the file's own bytes but what was made of
	// them, in UTF-8: offsets and lines are those of Text.
	Extracted bool
	// Sections cover the text in order and do not overlap. A format
	// without headings has exactly one, with an empty heading path.
	Sections []Section
	// Members are the documents inside of this one: the files of an
	// archive, the attachments of a mail. Theirs may have members in turn.
	Members []Member
	// Truncated is why a part of the content was left out, or empty.
	Truncated string

	budget *budget
}

// Member is a document inside of another.
type Member struct {
	// Name is the slash-separated name within the container: clean, relative,
	// without "..".
	Name     string
	Document *Document
}

// Section is a run of text under one heading path.
type Section struct {
	// Start and End are the half-open byte range of the section's own text,
	// without its heading line.
	Start, End int
	// Heading is the path of headings from the outermost to the section's
	// own, as plain text.
	Heading []string
	// HeadingStart and HeadingEnd are the byte range of the heading's own
	// line or lines, without the last line end; both are 0 for a section
	// without one.
	HeadingStart, HeadingEnd int
	// Page is the page or slide on which the section stands, from 1; 0 where
	// the format has none.
	Page int
}

// parser reads the content of one format into a document whose Type and Text
// are set, Text to the file's bytes: it fills Title and Sections, and, where the
// format is no text, replaces Text, sets Extracted, and accounts for what it
// makes with the document's budget. It takes time linear in the content,
// whatever that is.
type parser func(*Document) error

// parsers are the formats with structure by type; all others are plain text.
var parsers = map[string]parser{
	"md": parseMarkdown,

	"docx": parseOffice, "docm": parseOffice, "dotx": parseOffice, "dotm": parseOffice, "doc": parseOffice, "dot": parseOffice,
	"pptx": parseOffice, "pptm": parseOffice, "ppsx": parseOffice, "ppsm": parseOffice, "potx": parseOffice, "potm": parseOffice,
	"ppt": parseOffice, "pps": parseOffice, "pot": parseOffice,
	"xlsx": parseOffice, "xlsm": parseOffice, "xltx": parseOffice, "xltm": parseOffice, "xlam": parseOffice, "xlsb": parseOffice,
	"xls": parseOffice, "xlt": parseOffice, "xla": parseOffice,
	"vsdx": parseOffice, "vsdm": parseOffice, "vstx": parseOffice, "vssx": parseOffice,
	"odt": parseOffice, "ott": parseOffice, "odm": parseOffice, "oth": parseOffice, "fodt": parseOffice,
	"ods": parseOffice, "ots": parseOffice, "fods": parseOffice, "odp": parseOffice, "otp": parseOffice, "fodp": parseOffice,
	"odg": parseOffice, "otg": parseOffice, "fodg": parseOffice, "odf": parseOffice, "odc": parseOffice,
	"sxw": parseOffice, "stw": parseOffice, "sxc": parseOffice, "stc": parseOffice, "sxi": parseOffice, "sti": parseOffice, "sxd": parseOffice,
	"epub": parseOffice, "fb2": parseOffice, "rtf": parseOffice, "abw": parseOffice,
}

// aliases are other extensions of a type.
var aliases = map[string]string{
	"markdown": "md",
	"mdown":    "md",
	"mkd":      "md",
	"fbz":      "fb2",
	"awt":      "abw",
}

// Extract reads a file's content; the format is told from its name. The
// document's Text is data itself where the format is text, so data must not
// change afterwards. Content that is not text is an error that matches
// ErrBinary and whose message is the reason.
func Extract(name string, data []byte) (*Document, error) {
	d := &Document{Type: TypeOf(name), Text: data, budget: newBudget(DefaultLimits)}
	if err := checkText(data); err != nil {
		return nil, err
	}
	parse := parsers[d.Type]
	if parse == nil {
		parse = parsePlain
	}
	err := parse(d)
	d.budget = nil
	if err != nil {
		return nil, err
	}
	return d, nil
}

// maxExtension is the length from which on what follows the last dot of a name
// is rather a part of it.
const maxExtension = 16

// TypeOf returns the type of a file by its name: its extension in lower case,
// or "txt" when it has none (as "README", ".profile" and "Vol. 2 of 3").
func TypeOf(name string) string {
	base := filepath.Base(name)
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 {
		return "txt"
	}
	ext := strings.ToLower(base[dot+1:])
	if ext == "" || len(ext) > maxExtension || strings.ContainsAny(ext, " \t\r\n") {
		return "txt"
	}
	if t, ok := aliases[ext]; ok {
		return t
	}
	return ext
}

// parsePlain makes one section of the whole text.
func parsePlain(d *Document) error {
	d.Sections = []Section{{End: len(d.Text)}}
	return nil
}
