// Package chunk cuts a document's text into passages: the spans that are
// indexed, found and cited. Every passage knows its exact bytes and lines.
//
// # Words, paragraphs, lines
//
// A word is a maximal run of anything but white space, and white space is what
// has Unicode's White_Space property: U+0085, U+00A0 and U+2028 have it, the
// separators U+001C to U+001F and U+200B have not. Bytes that are not UTF-8 are
// parts of words. A paragraph ends where the white space between two words
// holds two or more \n. A line ends at \n, \r\n or a lone \r, as in CommonMark
// and in extract.Decode, so that the lines of a passage are those of its text.
//
// # Cost
//
// Split reads the text once and remembers only where the windows not yet full
// began: its memory is the passages it returns, however long the document or
// its lines are.
package chunk

import (
	"errors"
	"fmt"
)

// Strategies.
const (
	Paragraph = "paragraph"
	Window    = "window"
	Whole     = "document"
	Auto      = "auto"
)

// Options say how text is cut; the zero value is not valid, see Default.
type Options struct {
	// Strategy is Paragraph, Window, Whole or Auto.
	Strategy string
	// MinWords: a shorter paragraph joins the next one (Paragraph), and no
	// passage but a section's only one is shorter (Auto).
	MinWords int
	// MaxWords is the length of a window in words; Overlap is how many words
	// neighbouring windows share. Overlap < MaxWords.
	MaxWords, Overlap int
}

// Passage is a span of a document.
type Passage struct {
	// Start and End are half-open byte offsets into the document's text; the
	// span begins and ends with a word.
	Start, End int
	// FirstLine and LastLine are 1-based and inclusive.
	FirstLine, LastLine int
	// Heading is the heading path of the passage's section. It is shared with
	// the document and must not be changed.
	Heading []string
	// HeadingOnly says that the span is a heading's own line, because nothing
	// stands below it: the words of the last element of Heading are the
	// passage's own.
	HeadingOnly bool
	// Page is the page on which the passage begins, from 1, or 0.
	Page int
}

// ErrOptions is what the errors of Validate wrap.
var ErrOptions = errors.New("bad chunk options")

// Default returns paragraphs of at least 25 words, cut into windows of at most
// 120 that share 30.
func Default() Options {
	return Options{Strategy: Paragraph, MinWords: 25, MaxWords: 120, Overlap: 30}
}

// Validate returns an error that wraps ErrOptions and names the option, its
// value and what it may be. A field that the strategy does not use is not
// looked at.
func (o Options) Validate() error {
	switch o.Strategy {
	case Whole:
		return nil
	case Paragraph, Window, Auto:
	default:
		return fmt.Errorf("%w: strategy is %q, must be %q, %q, %q or %q", ErrOptions, o.Strategy, Auto, Paragraph, Window, Whole)
	}
	switch {
	case o.MaxWords < 1:
		return fmt.Errorf("%w: max_words is %d, must be at least 1", ErrOptions, o.MaxWords)
	case o.Overlap < 0 || o.Overlap >= o.MaxWords:
		return fmt.Errorf("%w: overlap is %d, must be at least 0 and less than max_words, which is %d", ErrOptions, o.Overlap, o.MaxWords)
	case o.Strategy != Window && o.MinWords < 0:
		return fmt.Errorf("%w: min_words is %d, must be at least 0", ErrOptions, o.MinWords)
	}
	return nil
}
