// Package extract turns the bytes of a file into text with structure: where
// its sections are and under which headings they stand. One format, one file.
package extract

// Document is the text of a file and its structure.
type Document struct {
	// Type is the short name of the format: "txt", "md".
	Type string
	// Title is the document's own title, if it has one.
	Title string
	// Text is the source as it stands. For text formats these are the
	// file's own bytes, which may hold invalid UTF-8 and \r\n line ends, so
	// that every offset into Text is an offset into the file.
	Text []byte
	// Sections cover the text in order and do not overlap. A format
	// without headings has exactly one, with an empty heading path.
	Sections []Section
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
	// line or lines; both are 0 for a section without one.
	HeadingStart, HeadingEnd int
}
