package extract

import (
	"strconv"
	"strings"
	"time"
)

const (
	// maxRTFDepth is how deep groups are told apart; deeper ones share the state of
	// the last.
	maxRTFDepth = 4096
	// maxRTFTable bounds the fonts and the styles of a document.
	maxRTFTable = 10_000
)

// rtfDest is where the text of a group goes.
type rtfDest byte

const (
	rtfBody rtfDest = iota
	rtfNote         // behind the paragraph
	rtfPage         // header or footer
	rtfIgnored
	rtfFonts
	rtfStyles
	rtfTitle
	rtfAuthor
	rtfProperty
	rtfCreated
	rtfRevised
)

// rtfState is what a group inherits from that around it, and gives back.
type rtfState struct {
	dest   rtfDest
	font   int
	uc     int // how many bytes stand for a \u where it is not known
	level  int
	hidden bool
	table  bool
	star   bool // \* came: what is not known is passed over
	upr    bool
}

// rtfScanner reads Rich Text Format. Text is gathered as bytes until its font's
// character set is known to end.
type rtfScanner struct {
	d     *Document
	data  []byte
	pos   int
	b     *textBuilder
	state rtfState
	stack []rtfState
	deep  int // groups beyond maxRTFDepth

	page    int // the code page of the document
	fonts   map[int]int
	styles  map[int]int
	deffont int
	raw     []byte // in the code page of the font
	skip    int    // bytes that stand for the last \u
	high    rune   // of a surrogate pair

	title     []byte // of the heading
	item      bool   // an item of a list begins
	note      *textBuilder
	pages     *textBuilder
	entry     int // of the font or style table
	entryName []byte
	date      [6]int
	props     properties
}

// parseRTF reads Rich Text Format.
func parseRTF(d *Document) error {
	d.Type = "rtf"
	s := &rtfScanner{d: d, data: d.Text, b: newTextBuilder(d), page: 1252, fonts: map[int]int{}, styles: map[int]int{}, deffont: -1}
	s.state = rtfState{uc: 1, level: noHeading, font: -1}
	s.pages = s.b.part()
	s.scan()
	s.endParagraph()
	s.props.apply(d)
	s.b.closing(append(strings.Split(string(s.pages.text), "\n"), s.props.more...))
	return s.b.finish(nil)
}

func (s *rtfScanner) scan() {
	for s.pos < len(s.data) && !s.b.full() {
		c := s.data[s.pos]
		s.pos++
		switch c {
		case '{':
			s.open()
		case '}':
			s.close()
		case '\\':
			s.control()
		case '\r', '\n', 0:
		default:
			s.char(c)
		}
	}
	s.flush()
}

func (s *rtfScanner) open() {
	s.flush()
	s.skip = 0
	if len(s.stack) >= maxRTFDepth {
		s.deep++
		return
	}
	s.stack = append(s.stack, s.state)
	if s.state.upr { // of its two forms that in Unicode, \ud, is taken
		s.state.dest, s.state.upr = rtfIgnored, false
	}
	s.state.star = false
}

func (s *rtfScanner) close() {
	s.flush()
	s.skip = 0
	if s.deep > 0 {
		s.deep--
		return
	}
	if len(s.stack) == 0 {
		return
	}
	old := s.state
	s.state = s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	if old.dest != s.state.dest {
		s.endDest(old.dest)
	}
	if old.dest == rtfStyles {
		s.endEntry()
	}
}

// endDest takes what a destination held to its place.
func (s *rtfScanner) endDest(dest rtfDest) {
	switch dest {
	case rtfPage:
		s.pages.sep(sepLine)
	case rtfNote:
		if s.note != nil {
			s.note.sep(sepLine)
		}
	case rtfProperty:
		s.props.add(string(s.entryName))
		s.entryName = nil
	case rtfCreated:
		s.props.created = s.time()
	case rtfRevised:
		s.props.modified = s.time()
	}
}

// time is the date of an information group.
func (s *rtfScanner) time() time.Time {
	d := s.date
	s.date = [6]int{}
	if d[0] < 1900 || d[0] > 9999 {
		return time.Time{}
	}
	return time.Date(d[0], time.Month(max(d[1], 1)), max(d[2], 1), d[3], d[4], d[5], 0, time.UTC)
}

// char takes a byte of text.
func (s *rtfScanner) char(c byte) {
	if s.skip > 0 {
		s.skip--
		return
	}
	if (s.state.dest == rtfFonts || s.state.dest == rtfStyles) && c == ';' {
		s.flush()
		s.endEntry()
		return
	}
	if s.high != 0 {
		s.flush()
	}
	s.raw = append(s.raw, c)
}

// codePage is that of the current font.
func (s *rtfScanner) codePage() int {
	font := s.state.font
	if font < 0 && s.state.dest < rtfIgnored {
		font = s.deffont
	}
	if p, ok := s.fonts[font]; ok && p != 0 {
		return p
	}
	return s.page
}

// flush decodes the bytes gathered.
func (s *rtfScanner) flush() {
	if s.high != 0 {
		s.high = 0
		s.emit("\ufffd")
	}
	if len(s.raw) == 0 {
		return
	}
	text := s.raw
	s.raw = s.raw[:0]
	ascii := true
	for _, c := range text {
		ascii = ascii && c < 0x80
	}
	if ascii {
		s.emit(string(text))
		return
	}
	s.emit(decodePage(s.codePage(), text))
}

// emit puts text to where the group's goes.
func (s *rtfScanner) emit(text string) {
	switch s.state.dest {
	case rtfBody:
		s.emitBody(text)
	case rtfNote:
		if s.note == nil {
			s.note = s.b.part()
		}
		s.note.add(text)
	case rtfPage:
		s.pages.add(text)
	case rtfTitle:
		s.props.title += text[:min(len(text), max(maxHeading-len(s.props.title), 0))]
	case rtfAuthor:
		s.props.author += text[:min(len(text), max(maxHeading-len(s.props.author), 0))]
	case rtfProperty, rtfStyles:
		if len(s.entryName) < maxHeading {
			s.entryName = append(s.entryName, text...)
		}
	}
}

func (s *rtfScanner) emitBody(text string) {
	switch {
	case s.state.hidden:
	case s.state.level != noHeading && !s.state.table:
		if s.title = append(s.title, text...); len(s.title) > maxHeading {
			s.b.add(string(s.title))
			s.title, s.state.level = nil, noHeading
		}
	default:
		if len(s.title) > 0 {
			text = string(s.title) + text
			s.title = nil
		}
		if s.item && strings.TrimSpace(text) != "" {
			s.item = false
			s.b.sep(sepLine)
			s.b.add("- ")
			text = strings.TrimLeft(text, " \t")
		}
		s.b.add(text)
	}
}

// endParagraph ends a paragraph: a heading becomes a section.
func (s *rtfScanner) endParagraph() {
	s.flush()
	s.item = false
	switch {
	case len(s.title) > 0:
		title := string(s.title)
		s.title = nil
		if s.state.level == titleLevel && s.d.Title == "" {
			s.d.Title = oneLine(title)
		}
		s.b.heading(max(s.state.level, titleLevel), title)
	case s.state.table:
		s.b.sep(sepLine)
	default:
		s.b.sep(sepBlank)
	}
	if s.note != nil {
		s.b.addPart(s.note)
		s.b.sep(sepBlank)
		s.note = nil
	}
}

// separate ends a line or a cell in whatever the text goes to.
func (s *rtfScanner) separate(sep sep) {
	s.flush()
	switch s.state.dest {
	case rtfBody:
		if s.state.level != noHeading && len(s.title) > 0 {
			s.title = append(s.title, ' ')
			return
		}
		s.b.sep(sep)
	case rtfNote:
		if s.note != nil {
			s.note.sep(sep)
		}
	case rtfPage:
		s.pages.sep(sep)
	}
}

// endEntry ends an entry of the style table.
func (s *rtfScanner) endEntry() {
	if s.state.dest == rtfStyles || len(s.entryName) > 0 {
		if l := styleLevel(string(s.entryName)); l != noHeading && len(s.styles) < maxRTFTable {
			s.styles[s.entry] = l
		}
	}
	s.entryName = s.entryName[:0]
}

// control reads a control word or symbol, behind its backslash.
func (s *rtfScanner) control() {
	if s.pos >= len(s.data) {
		return
	}
	c := s.data[s.pos]
	if c|0x20 < 'a' || c|0x20 > 'z' {
		s.pos++
		s.symbol(c)
		return
	}
	start := s.pos
	for s.pos < len(s.data) && s.pos-start < 40 && s.data[s.pos]|0x20 >= 'a' && s.data[s.pos]|0x20 <= 'z' {
		s.pos++
	}
	word := s.data[start:s.pos]
	number, has := s.parameter()
	if s.pos < len(s.data) && s.data[s.pos] == ' ' {
		s.pos++
	}
	s.word(string(word), number, has)
}

// parameter reads the number behind a control word.
func (s *rtfScanner) parameter() (int, bool) {
	start := s.pos
	if s.pos < len(s.data) && s.data[s.pos] == '-' {
		s.pos++
	}
	for s.pos < len(s.data) && s.pos-start < 12 && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	n, err := strconv.Atoi(string(s.data[start:s.pos]))
	if err != nil {
		s.pos = start
		return 0, false
	}
	return n, true
}

// symbol takes a control symbol.
func (s *rtfScanner) symbol(c byte) {
	switch c {
	case '\'':
		if s.pos+2 > len(s.data) {
			return
		}
		n, err := strconv.ParseUint(string(s.data[s.pos:s.pos+2]), 16, 8)
		if err != nil {
			return
		}
		s.pos += 2
		s.char(byte(n))
	case '\\', '{', '}':
		s.char(c)
	case '~':
		s.rune('\u00a0')
	case '_':
		s.rune('-')
	case '*':
		s.state.star = true
	case '\r', '\n':
		s.word("par", 0, false)
	}
}

// rune takes a character that does not depend on the code page.
func (s *rtfScanner) rune(r rune) {
	if s.skip > 0 {
		s.skip--
		return
	}
	s.flush()
	s.emit(string(r))
}
