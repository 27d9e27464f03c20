// Package extract turns the bytes of a file into text with structure: where
// its sections are and under which headings they stand. One format, one file:
// a new one adds a function of type parser and a line to parsers.
package extract

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
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
	name   string         // that the format was told from
	names  map[string]int // of the members, and how often each came
}

// Member is a document inside of another.
type Member struct {
	// Name is the slash-separated name within the container: clean, relative,
	// without "..".
	Name string
	// Document is nil where the member could not be read, for the reason Problem.
	Document *Document
	Problem  error
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
// whatever that is. Content that is refused (encrypted, without text) is a notText
// error, damaged content any other.
//
// A format tells itself by a line in magics (by its first bytes), in looks (by how
// the text begins, where the name says nothing), or by its name alone. One whose
// parser wants the file's own bytes, not text in UTF-8, is named in raw.
type parser func(*Document) error

// parsers are the formats with structure by type; all others are plain text.
var parsers = map[string]parser{
	"md": parseMarkdown,
}

// raw are the types whose parsers take the file's bytes as they are: no text, or
// text that names its own encoding. The others are given what readText made of them.
var raw = map[string]bool{}

// parserOf looks up parsers. Parsers of containers read members by others in turn,
// which Go allows only through a variable that is set when all are there.
var parserOf func(format string) parser

func init() { parserOf = func(format string) parser { return parsers[format] } }

// aliases are other extensions of a type.
var aliases = map[string]string{
	"markdown": "md",
	"mdown":    "md",
	"mkd":      "md",
	"fbz":      "fb2",
	"awt":      "abw",
}

// Version grows with every change of what is extracted from a file: documents of
// another version are read again.
const Version = 1

// Extract reads a file's content; the format is told from its content and its name.
// The document's Text is data itself where the format is text in UTF-8, so data must
// not change afterwards. Content that is not read is an error that matches ErrBinary
// or ErrLimit and whose message is the reason; other errors say what is wrong with it.
func Extract(name string, data []byte) (*Document, error) {
	return ExtractWatched(name, data, Watch{})
}

// Watch is told how an extraction gets on; what is nil is not called.
type Watch struct {
	// Grew is called with the document whenever it has got further pages or
	// members, before it is whole: what stands there stays, and more is appended.
	Grew func(*Document)
	// Alive is called whenever something was inflated or decoded.
	Alive func()
}

// ExtractWatched is Extract that tells how it gets on.
func ExtractWatched(name string, data []byte, w Watch) (*Document, error) {
	b := newBudget(DefaultLimits)
	b.watch = w
	d, err := extractWithin(name, data, b)
	if b.needsPDF {
		return nil, ErrNeedsPDF
	}
	return d, err
}

// extractWithin is Extract with the budget of the file that the content is in.
func extractWithin(name string, data []byte, b *budget) (*Document, error) {
	d := &Document{Text: data, budget: b}
	if b.root == nil {
		b.root = d
	}
	err := d.tryRead(name)
	d.budget, d.name, d.names = nil, "", nil
	if err != nil {
		return nil, err
	}
	return d, nil
}

// tryRead is read where a fault of ours in a format is an error of the file.
func (d *Document) tryRead(name string) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("reading it failed, please report this: %v", fault)
		}
	}()
	return d.read(name)
}

// read fills the document from its Text, the content of a file with that name.
func (d *Document) read(name string) error {
	d.Type, d.name = detect(name, d.Text), name
	parse := parserOf(d.Type)
	text := parse == nil || !raw[d.Type]
	if parse == nil {
		parse = parsePlain
	}
	if text {
		if err := checkUnread(d.Text); err != nil {
			return err
		}
		if err := readText(d); err != nil {
			return err
		}
	}
	return parse(d)
}

// Effort says where a file should be read.
type Effort int

// The efforts: plain text and Markdown are read by small code of our own, in linear
// time, which costs less than asking another process; the other formats are for a
// process that can be ended; and PDF files for one that has the PDF reader ready.
const (
	Small Effort = iota
	Complex
	PDF
)

// EffortOf says where a file should be read, by its name and content.
func EffortOf(name string, data []byte) Effort {
	t := detect(name, data)
	switch {
	case t == "pdf":
		return PDF
	case (t == "md" || parserOf(t) == nil) && (utf8.Valid(data) || checkUnread(data) != nil):
		return Small
	}
	return Complex
}

// maxExtension is the length from which on what follows the last dot of a name
// is rather a part of it.
const maxExtension = 16

// TypeOf returns the type of a file by its name: its extension in lower case,
// or "txt" when it has none (as "README", ".profile" and "Vol. 2 of 3").
func TypeOf(name string) string {
	base := filepath.Base(name)
	if t := fileNames[strings.ToLower(base)]; t != "" {
		return t
	}
	if isMaildir(name) {
		return "eml"
	}
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
