package extract

import "bytes"

// line is a line of a text: its content without the line end, where that stands
// and where the next line begins.
type line struct {
	content          []byte
	start, end, next int
	// indent is the width of the white space in front, with tab stops every
	// four columns; rest is the content behind that.
	indent int
	rest   []byte
}

// lineReader reads lines, which end at \n, \r\n or \r.
type lineReader struct {
	text []byte
	pos  int
	// lf and cr are where the first \n and \r at or after pos were found, so
	// that a text with but one of them is not searched to its end for each line.
	lf, cr int
}

// read returns the next line, false at the end of the text.
func (r *lineReader) read() (line, bool) {
	if r.pos >= len(r.text) {
		return line{}, false
	}
	r.lf = r.find('\n', r.lf)
	r.cr = r.find('\r', r.cr)
	l := line{start: r.pos, end: min(r.lf, r.cr)}
	l.next = min(l.end+1, len(r.text))
	if r.cr+1 == r.lf && r.lf < len(r.text) {
		l.next = r.lf + 1
	}
	l.content = r.text[l.start:l.end]
	l.indent, l.rest = indentOf(l.content, 0)
	r.pos = l.next
	return l, true
}

// find returns where the first c at or after pos is, the end of the text if
// nowhere; known is the answer for an earlier pos.
func (r *lineReader) find(c byte, known int) int {
	if known > r.pos || known == r.pos && known > 0 {
		return known
	}
	if i := bytes.IndexByte(r.text[r.pos:], c); i >= 0 {
		return r.pos + i
	}
	return len(r.text)
}

// indentOf returns the width of the white space that b begins with when it
// stands in a column, and what follows that.
func indentOf(b []byte, column int) (width int, rest []byte) {
	at := column
	for i, c := range b {
		switch c {
		case ' ':
			at++
		case '\t':
			at += 4 - at%4
		default:
			return at - column, b[i:]
		}
	}
	return at - column, nil
}

// blank says that there is nothing but spaces and tabs.
func (l line) blank() bool { return len(l.rest) == 0 }

// code says that the line is indented as code is.
func (l line) code() bool { return l.indent >= 4 }

// atx returns the level and the source of the text of an ATX heading.
func (l line) atx() (level int, text []byte, ok bool) {
	if l.code() {
		return 0, nil, false
	}
	level = run(l.rest, '#')
	after := l.rest[level:]
	if level < 1 || level > 6 || len(after) > 0 && after[0] != ' ' && after[0] != '\t' {
		return 0, nil, false
	}
	text = bytes.Trim(after, " \t")
	open := bytes.TrimRight(text, "#")
	if len(open) == 0 {
		return level, nil, true
	}
	if last := open[len(open)-1]; len(open) < len(text) && (last == ' ' || last == '\t') {
		text = bytes.TrimRight(open, " \t")
	}
	return level, text, true
}

// underline returns the level of the setext heading that the line makes of the
// paragraph before it, 0 for none.
func (l line) underline() int {
	if l.code() || l.blank() || l.rest[0] != '=' && l.rest[0] != '-' {
		return 0
	}
	c := l.rest[0]
	if len(bytes.TrimRight(l.rest[run(l.rest, c):], " \t")) > 0 {
		return 0
	}
	if c == '=' {
		return 1
	}
	return 2
}

// thematic says that the line is a thematic break: three or more of one of
// - _ * and nothing else but white space.
func (l line) thematic() bool {
	if l.code() || l.blank() {
		return false
	}
	c, n := l.rest[0], 0
	if c != '-' && c != '_' && c != '*' {
		return false
	}
	for _, b := range l.rest {
		switch b {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// run returns how many c stand in front of b.
func run[T ~string | ~[]byte](b T, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// marker is the marker of a list item.
type marker struct {
	content int  // column of the item's content, which its later lines reach
	empty   bool // nothing follows
	first   bool // a bullet, or the number 1
	rest    line // what follows, as a line
}

// item returns the marker of the list item that the line begins.
func (l line) item() (marker, bool) {
	if l.code() || l.blank() {
		return marker{}, false
	}
	n, first := 1, true
	switch c := l.rest[0]; {
	case c == '-' || c == '+' || c == '*':
	case c >= '0' && c <= '9':
		for n < len(l.rest) && l.rest[n] >= '0' && l.rest[n] <= '9' {
			n++
		}
		if n > 9 || n == len(l.rest) || l.rest[n] != '.' && l.rest[n] != ')' {
			return marker{}, false
		}
		first = n == 1 && c == '1'
		n++
	default:
		return marker{}, false
	}
	if n < len(l.rest) && l.rest[n] != ' ' && l.rest[n] != '\t' {
		return marker{}, false
	}
	width, rest := indentOf(l.rest[n:], l.indent+n)
	m := marker{content: l.indent + n + width, empty: len(rest) == 0, first: first}
	m.rest = line{rest: rest}
	if m.empty || width > 4 { // code or nothing follows: one space is the marker's
		m.content = l.indent + n + 1
		m.rest.indent = max(width-1, 0)
	}
	return m, true
}

// quote returns what follows the > of a block quote's line.
func (l line) quote() (line, bool) {
	if l.code() || l.blank() || l.rest[0] != '>' {
		return line{}, false
	}
	width, rest := indentOf(l.rest[1:], l.indent+1)
	return line{rest: rest, indent: max(width-1, 0)}, true
}

// fence is a fenced code block that is open.
type fence struct {
	char byte // 0 for none
	n    int
}

// fence returns the fenced code block that the line opens.
func (l line) fence() (fence, bool) {
	if l.code() || l.blank() || l.rest[0] != '`' && l.rest[0] != '~' {
		return fence{}, false
	}
	f := fence{l.rest[0], run(l.rest, l.rest[0])}
	if f.n < 3 || f.char == '`' && bytes.IndexByte(l.rest[f.n:], '`') >= 0 {
		return fence{}, false
	}
	return f, true
}

// closedBy says that a line closes the block.
func (f fence) closedBy(l line) bool {
	if l.code() || l.blank() || l.rest[0] != f.char {
		return false
	}
	n := run(l.rest, f.char)
	return n >= f.n && len(bytes.TrimRight(l.rest[n:], " \t")) == 0
}
