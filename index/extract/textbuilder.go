package extract

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
)

// sep is what stands between two runs of extracted text.
type sep byte

// From the weakest to the strongest: of several in a row the strongest is written.
const (
	sepNone sep = iota
	sepSpace
	sepTab
	sepLine
	sepBlank
)

var sepText = [...]string{sepNone: "", sepSpace: " ", sepTab: "\t", sepLine: "\n", sepBlank: "\n\n"}

// textBuilder gathers the text and the sections of a document that is not text.
// When the budget is used up it takes no more and keeps the reason in err.
type textBuilder struct {
	d        *Document
	text     []byte
	sections []Section
	path     []string
	levels   []int
	page     int
	pending  sep
	err      error
}

func newTextBuilder(d *Document) *textBuilder {
	return &textBuilder{d: d, sections: []Section{{}}}
}

// part is a builder for text that is put into place later.
func (b *textBuilder) part() *textBuilder { return newTextBuilder(b.d) }

// full says that nothing more will be kept.
func (b *textBuilder) full() bool { return b.err != nil }

// sep asks for a separator before the next text.
func (b *textBuilder) sep(s sep) { b.pending = max(b.pending, s) }

// endCell ends a cell: the next one follows on the same line.
func (b *textBuilder) endCell() {
	if b.pending <= sepLine && len(b.text) > 0 {
		b.pending = sepTab
	}
}

// add appends text as it stands, after what separator was asked for.
func (b *textBuilder) add(s string) {
	if s == "" || b.full() {
		return
	}
	if b.err = b.d.budget.keep(int64(len(s))); b.err != nil {
		return
	}
	b.flushSep()
	b.text = appendClean(b.text, s)
}

// addLine appends text on a line of its own.
func (b *textBuilder) addLine(s string) {
	if s = strings.TrimSpace(s); s != "" {
		b.sep(sepLine)
		b.add(s)
		b.sep(sepLine)
	}
}

// addPart appends what another builder has gathered, which is accounted for, on
// lines of its own.
func (b *textBuilder) addPart(p *textBuilder) {
	if len(p.text) > 0 {
		b.sep(sepLine)
	}
	b.addNote(p)
}

// addNote is addPart on the same line.
func (b *textBuilder) addNote(p *textBuilder) {
	if b.err == nil {
		b.err = p.err
	}
	if text := bytes.TrimSpace(p.text); len(text) > 0 {
		b.flushSep()
		b.text = append(b.text, text...)
		b.sep(sepLine)
	}
}

func (b *textBuilder) flushSep() {
	s := b.pending
	b.pending = sepNone
	if s == sepNone || len(b.text) == b.sections[len(b.sections)-1].Start {
		return
	}
	switch last := b.text[len(b.text)-1]; {
	case last == '\n' && s == sepBlank:
		s = sepLine
	case last == '\n', s == sepSpace && (last == ' ' || last == '\t'):
		return
	}
	b.text = append(b.text, sepText[s]...)
}

// appendClean appends s as valid UTF-8 without control characters.
func appendClean(dst []byte, s string) []byte {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f {
		i++
	}
	dst = append(dst, s[:i]...)
	for _, r := range s[i:] {
		switch {
		case r == '\r', r == 0:
			continue
		case r < ' ' && r != '\t' && r != '\n', r == 0x7f:
			r = ' '
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// heading begins a section; it ends those of its level and of greater ones.
func (b *textBuilder) heading(level int, title string) {
	title = strings.Join(strings.Fields(string(appendClean(nil, title))), " ")
	if len(title) > maxHeading {
		b.addLine(title)
		return
	}
	if title == "" || b.full() {
		return
	}
	if b.err = b.d.budget.keep(int64(len(title))); b.err != nil {
		return
	}
	b.endSection()
	for n := len(b.levels); n > 0 && b.levels[n-1] >= level; n-- {
		b.levels, b.path = b.levels[:n-1], b.path[:n-1]
	}
	b.levels, b.path = append(b.levels, level), append(b.path, title)
	s := Section{HeadingStart: len(b.text), Page: b.page}
	b.text = append(b.text, title...)
	s.HeadingEnd = len(b.text)
	b.text = append(b.text, '\n')
	b.begin(s)
}

// startPage begins a page or slide, from 1, or the text after all of them, 0.
func (b *textBuilder) startPage(page int) {
	b.endSection()
	b.page, b.path, b.levels = page, nil, nil
	b.begin(Section{Page: page})
}

// begin adds a section; one with neither heading nor text before it gives way.
func (b *textBuilder) begin(s Section) {
	s.Start, s.Heading = len(b.text), append([]string(nil), b.path...)
	if last := b.sections[len(b.sections)-1]; last.HeadingEnd == 0 && last.Start == last.End {
		b.sections = b.sections[:len(b.sections)-1]
	}
	b.sections = append(b.sections, s)
}

// endSection ends the last section with a blank line.
func (b *textBuilder) endSection() {
	b.sep(sepBlank)
	b.flushSep()
	b.sections[len(b.sections)-1].End = len(b.text)
}

// finish hands the text over to the document. An error of the parser is returned
// where nothing was read before it; else it is why the document is truncated.
func (b *textBuilder) finish(err error) error {
	if b.err == nil {
		b.err = err
	}
	if b.err != nil && len(b.text) == 0 && !errors.Is(b.err, ErrLimit) {
		return b.err
	}
	b.pending = sepNone
	if n := len(b.text); n > 0 && b.text[n-1] != '\n' {
		b.text = append(b.text, '\n')
	}
	b.sections[len(b.sections)-1].End = len(b.text)
	b.d.Text, b.d.Sections, b.d.Extracted = b.text, b.sections, true
	if b.err != nil {
		b.d.Truncated = b.err.Error()
	}
	return nil
}
