// Package chunk cuts a document's text into passages: the spans that are
// indexed, found and cited. Every passage knows its exact bytes and lines.
package chunk

// Strategies.
const (
	Paragraph = "paragraph"
	Window    = "window"
	Whole     = "document"
)

// Options say how text is cut; the zero value is not valid, see Default.
type Options struct {
	// Strategy is Paragraph, Window or Whole.
	Strategy string
	// MinWords: a shorter paragraph joins the next one (Paragraph only).
	MinWords int
	// MaxWords is the length of a window in words; Overlap is how many words
	// neighbouring windows share. Overlap < MaxWords.
	MaxWords, Overlap int
}

// Passage is a span of a document.
type Passage struct {
	// Start and End are half-open byte offsets into the document's text.
	Start, End int
	// FirstLine and LastLine are 1-based and inclusive.
	FirstLine, LastLine int
	// Heading is the heading path of the passage's section.
	Heading []string
}
