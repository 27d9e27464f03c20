package eval

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Evidence is a passage, or several, that answers a question.
type Evidence struct {
	// Path is the document's: absolute, or its end. Empty, any document may
	// have the quote.
	Path string
	// Passage is the number of a passage; -1 if it is not named.
	Passage int
	// Lines, inclusive and from 1, of which a passage has at least one; zero if
	// none are named.
	Lines [2]int
	// Quote is a phrase that the passage has, white space aside.
	Quote string
	// Bytes is a span of the document, half-open, that the passages cover by
	// and by; zero if none is named.
	Bytes [2]int
	// Grade is how good the evidence is: a positive number, mostly 1.
	Grade float64
}

var (
	withQuote   = regexp.MustCompile(`^(.*?)\s*"([^"]+)"$`)
	withPassage = regexp.MustCompile(`^(.+)#(\d+)$`)
	withLines   = regexp.MustCompile(`^(.+):(\d+)(?:-(\d+))?$`)
)

// ParseEvidence reads evidence as golden sets write it: PATH, PATH#N, PATH:LINE,
// PATH:FIRST-LAST, "a quoted phrase" or PATH "a quoted phrase".
func ParseEvidence(s string) (Evidence, error) {
	e := Evidence{Passage: -1, Grade: 1}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return e, fmt.Errorf(`evidence is empty (write PATH, PATH#N, PATH:LINES or "a phrase")`)
	case strings.HasSuffix(s, `"`), strings.HasPrefix(s, `"`):
		m := withQuote.FindStringSubmatch(s)
		if m == nil {
			return e, fmt.Errorf("evidence %s: a quotation mark is missing, or one too many", s)
		}
		s, e.Quote = m[1], foldSpace(m[2])
		if e.Quote == "" {
			return e, fmt.Errorf("evidence %s: the quoted phrase is empty", s)
		}
	case withPassage.MatchString(s):
		m := withPassage.FindStringSubmatch(s)
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return e, fmt.Errorf("evidence %s: %s is no number of a passage", s, m[2])
		}
		s, e.Passage = m[1], n
	case withLines.MatchString(s):
		m := withLines.FindStringSubmatch(s)
		if err := e.lines(m[2], m[3]); err != nil {
			return e, fmt.Errorf("evidence %s: %w", s, err)
		}
		s = m[1]
	}
	if s != "" {
		e.Path = path.Clean(filepath.ToSlash(s))
	}
	return e, nil
}

func (e *Evidence) lines(first, last string) error {
	if last == "" {
		last = first
	}
	a, errA := strconv.Atoi(first)
	b, errB := strconv.Atoi(last)
	if errA != nil || errB != nil || a < 1 || b < a {
		return fmt.Errorf("lines %s to %s: the first is 1, and the last not before the first", first, last)
	}
	e.Lines = [2]int{a, b}
	return nil
}

// String writes evidence as ParseEvidence reads it; a span of bytes has no such
// form and is told as one.
func (e Evidence) String() string {
	switch {
	case e.Quote != "":
		return strings.TrimSpace(e.Path + ` "` + e.Quote + `"`)
	case e.Bytes != [2]int{}:
		return fmt.Sprintf("%s bytes %d-%d", e.Path, e.Bytes[0], e.Bytes[1])
	case e.Passage >= 0:
		return fmt.Sprintf("%s#%d", e.Path, e.Passage)
	case e.Lines[0] > 0 && e.Lines[0] == e.Lines[1]:
		return fmt.Sprintf("%s:%d", e.Path, e.Lines[0])
	case e.Lines[0] > 0:
		return fmt.Sprintf("%s:%d-%d", e.Path, e.Lines[0], e.Lines[1])
	}
	return e.Path
}

// whole says that the evidence is a document, wherever in it.
func (e *Evidence) whole() bool {
	return e.Passage < 0 && e.Lines[0] == 0 && e.Quote == "" && e.Bytes == [2]int{}
}

// weight is what finding all of it counts in recall.
func (e *Evidence) weight() float64 {
	if n := e.Bytes[1] - e.Bytes[0]; n > 0 {
		return float64(n)
	}
	return 1
}

// in reports whether a hit is, or has a part of, the evidence.
func (e *Evidence) in(h *Hit) bool {
	switch {
	case e.Path != "" && !samePath(e.Path, h):
		return false
	case e.Quote != "":
		return strings.Contains(foldSpace(h.Text), e.Quote)
	case e.Bytes != [2]int{}:
		return h.Bytes[0] < e.Bytes[1] && e.Bytes[0] < h.Bytes[1]
	case e.Passage >= 0:
		return h.Passage == e.Passage
	case e.Lines[0] > 0:
		return h.Lines[0] <= e.Lines[1] && e.Lines[0] <= h.Lines[1]
	}
	return true
}

// samePath reports whether a path names the hit's document: whole, or by its
// last elements.
func samePath(named string, h *Hit) bool {
	if named == h.Rel || named == h.Path {
		return true
	}
	return strings.HasSuffix(filepath.ToSlash(h.Path), "/"+named)
}

func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
