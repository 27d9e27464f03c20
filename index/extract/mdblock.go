package extract

import "bytes"

// maxHeading is the longest source of a heading, in bytes. What is longer, such
// as a paragraph of prose above a ---, stays text.
const maxHeading = 1000

// maxNesting bounds the quotes and list items that are looked into on a line.
const maxNesting = 32

// blockScanner reads a text's lines and collects its top-level headings. Of a
// quote or list item it knows only which lines are part of it.
type blockScanner struct {
	lineReader
	headings []heading

	para  paragraph
	fence fence
	html  htmlBlock

	item      int // column of the open list item's content, 0 for none
	emptyItem bool
	quoted    bool
	inner     inner
}

// scan reads the whole text.
func (s *blockScanner) scan() {
	for {
		l, ok := s.read()
		if !ok {
			return
		}
		switch {
		case s.html != htmlNone:
			if s.html.closedBy(l) {
				s.html = htmlNone
			}
		case s.fence.char != 0:
			if s.fence.closedBy(l) {
				s.fence = fence{}
			}
		case s.item > 0 && s.inItem(l), s.quoted && s.inQuote(l):
		default:
			s.block(l)
		}
	}
}

// inItem says whether a line is part of the open list item, and closes that
// otherwise.
func (s *blockScanner) inItem(l line) bool {
	switch {
	case l.blank() && !s.emptyItem:
		s.inner.lazy = false
		return true
	case !l.blank() && l.indent >= s.item:
		s.emptyItem = false
		l.indent -= s.item
		s.inner.read(l)
		return true
	case s.inner.lazy && l.continues():
		return true
	}
	s.item = 0
	return false
}

// inQuote says whether a line is part of the open quote, and closes that
// otherwise.
func (s *blockScanner) inQuote(l line) bool {
	if q, ok := l.quote(); ok {
		s.inner.read(q)
		return true
	}
	s.quoted = s.inner.lazy && l.continues()
	return s.quoted
}

// block reads a line that is part of no open container or verbatim block.
func (s *blockScanner) block(l line) {
	if l.blank() {
		s.para = paragraph{}
		return
	}
	if level := l.underline(); level > 0 && s.para.titles() {
		s.add(level, s.text[s.para.start:s.para.end], s.para.start, l)
		return
	}
	if l.code() {
		if s.para.lines > 0 {
			s.para.add(l)
		}
		return
	}
	if level, text, ok := l.atx(); ok {
		s.add(level, text, l.start, l)
		return
	}
	if !s.open(l) {
		s.para.add(l)
	}
}

// open opens the verbatim block or container that a line begins, if any.
func (s *blockScanner) open(l line) bool {
	interrupts := s.para.lines > 0
	if f, ok := l.fence(); ok {
		s.fence = f
	} else if h := l.html(interrupts); h != htmlNone {
		if !h.closedBy(l) {
			s.html = h
		}
	} else if l.thematic() {
		// Nothing is open after it.
	} else if q, ok := l.quote(); ok {
		s.quoted, s.inner = true, inner{}
		s.inner.read(q)
	} else if m, ok := l.item(); ok && !(interrupts && (m.empty || !m.first)) {
		s.item, s.emptyItem, s.inner = m.content, m.empty, inner{}
		s.inner.read(m.rest)
	} else {
		return false
	}
	s.para = paragraph{}
	return true
}

// add adds a heading that ends with the line last, if it has text, and ends the
// paragraph.
func (s *blockScanner) add(level int, source []byte, start int, last line) {
	s.para = paragraph{}
	if len(source) > maxHeading {
		return
	}
	if text := plainText(source); text != "" {
		s.headings = append(s.headings, heading{level, text, start, last.end, last.next})
	}
}

// paragraph is the open paragraph.
type paragraph struct {
	start, end int
	lines      int // 0 for none open
	// No underline makes it a heading when it is a table, formulas, or so
	// far nothing but link definitions.
	table, math, definitions bool
}

// titles says that an underline makes the paragraph a heading.
func (p *paragraph) titles() bool {
	return p.lines > 0 && !p.table && !p.math && !p.definitions
}

// add adds a line, as the first if there is none.
func (p *paragraph) add(l line) {
	if p.lines == 0 {
		p.start = l.start
		p.math = bytes.HasPrefix(l.rest, []byte("$$"))
		p.definitions = true
	}
	p.lines++
	p.end = l.end
	p.definitions = p.definitions && l.definition()
	p.table = p.table || p.lines == 2 && l.tableRule()
}

// definition says that the line begins like a link definition.
func (l line) definition() bool {
	if l.rest[0] != '[' {
		return false
	}
	i := bytes.IndexByte(l.rest, ']')
	return i > 1 && i+1 < len(l.rest) && l.rest[i+1] == ':'
}

// tableRule says that the line is the one below a table's header.
func (l line) tableRule() bool {
	return len(bytes.Trim(l.rest, "|:- \t")) == 0 && bytes.IndexByte(l.rest, '|') >= 0 && bytes.IndexByte(l.rest, '-') >= 0
}

// continues says that the line continues an open paragraph even without the
// marks of the quote or list item that the paragraph stands in.
func (l line) continues() bool {
	if l.blank() || l.code() {
		return !l.blank()
	}
	_, _, atx := l.atx()
	_, fenced := l.fence()
	_, item := l.item()
	_, quote := l.quote()
	return !atx && !fenced && !item && !quote && !l.thematic() && l.html(true) == htmlNone
}

// inner is what is known of the inside of a quote or list item.
type inner struct {
	fence fence
	lazy  bool // a paragraph is open, which a line without marks may continue
}

// read takes a line of the container, without the container's own marks.
func (in *inner) read(l line) {
	if in.fence.char != 0 {
		if in.fence.closedBy(l) {
			in.fence = fence{}
		}
		return
	}
	for range maxNesting {
		if q, ok := l.quote(); ok {
			l = q
		} else if m, ok := l.item(); ok && !l.thematic() {
			l = m.rest
		} else {
			break
		}
		in.lazy = false
	}
	_, _, atx := l.atx()
	f, fenced := l.fence()
	in.fence = f
	in.lazy = !l.blank() && !atx && !fenced && !l.thematic() && (in.lazy || !l.code())
}
