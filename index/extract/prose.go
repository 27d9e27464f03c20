package extract

import (
	"strings"
	"unicode/utf8"
)

// prose gathers the text that is made of a format that is none: paragraphs with a
// blank line between them, lines, and headings, each on a line of its own.
type prose struct {
	buf      []byte
	headings []heading
	due      int  // line ends due before the next text: 0, 1 or 2
	space    bool // white space is due
}

// text adds running text: white space is folded, over the ends of calls too.
func (p *prose) text(s string) {
	for _, r := range s {
		if isSpace(r) {
			p.space = true
			continue
		}
		if p.due > 0 || p.space {
			p.settle()
		}
		p.buf = utf8.AppendRune(p.buf, r)
	}
}

// isSpace says that a character is white space that a line may be broken at.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\v' || r == 0
}

// settle writes the line ends or the space that are due.
func (p *prose) settle() {
	switch {
	case len(p.buf) == 0:
	case p.due > 0:
		p.buf = append(p.buf, "\n\n"[:p.due]...)
	case p.space:
		p.buf = append(p.buf, ' ')
	}
	p.due, p.space = 0, false
}

// verbatim adds text whose white space and lines stay as they are.
func (p *prose) verbatim(s string) {
	if strings.TrimSpace(s) == "" {
		p.space = true
		p.due = max(p.due, min(strings.Count(s, "\n"), 2))
		return
	}
	p.settle()
	p.buf = append(p.buf, Decode([]byte(strings.ReplaceAll(s, "\x00", "")))...)
}

// line ends the line, para the paragraph.
func (p *prose) line() { p.due = max(p.due, 1) }
func (p *prose) para() { p.due = 2 }

// heading adds a heading as a paragraph.
func (p *prose) heading(level int, text string) {
	if text = fold(text); text == "" {
		return
	}
	p.para()
	p.settle()
	start := len(p.buf)
	p.buf = append(p.buf, text...)
	p.mark(level, start)
}

// mark makes a heading of what was written from start on; what is too long for
// one stays text.
func (p *prose) mark(level, start int) {
	for start < len(p.buf) && p.buf[start] == ' ' {
		start++
	}
	text := fold(string(p.buf[start:]))
	if text != "" && len(text) <= maxHeading {
		p.headings = append(p.headings, heading{level: level, text: text, start: start, end: len(p.buf), after: len(p.buf)})
	}
	p.para()
}

// document makes what was gathered the document's text and sections.
func (d *Document) document(p *prose) error {
	d.replaceText(p.buf)
	headings := p.headings
	for len(headings) > 0 && headings[len(headings)-1].end > len(d.Text) {
		headings = headings[:len(headings)-1]
	}
	for i, h := range headings {
		headings[i].after = afterLine(d.Text, h.end)
	}
	d.sections(0, headings)
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// afterLine returns where the line after that which ends at a place begins.
func afterLine(text []byte, end int) int {
	if end < len(text) && text[end] == '\n' {
		return end + 1
	}
	return end
}
