package chunk

// word is where a word stands.
type word struct {
	start, end int // half-open byte range
	line       int // 1-based
}

// scanner reads a text's words in order and counts lines on the way. A line
// end is white space, so only white space is looked at for it.
type scanner struct {
	text []byte
	pos  int
	line int // of pos, 1-based
	// cr says that the byte before pos was a \r, whose line end is counted.
	cr bool
}

// Classes of bytes: part of a word, ASCII white space, and the first byte of
// white space beyond ASCII (among others).
const (
	inWord = iota
	space
	maybeSpace
)

var class = [256]uint8{
	'\t': space, '\n': space, '\v': space, '\f': space, '\r': space, ' ': space,
	0xC2: maybeSpace, 0xE1: maybeSpace, 0xE2: maybeSpace, 0xE3: maybeSpace,
}

// next returns the next word that begins before end, cut at end, and whether a
// blank line stands between pos and it. ok is false, and pos not before end,
// when there is none.
func (s *scanner) next(end int) (w word, blank, ok bool) {
	blank = s.skipSpace(end) > 1
	if s.pos >= end {
		return word{}, blank, false
	}
	w = word{start: s.pos, line: s.line}
	s.skipWord(end)
	w.end = s.pos
	return w, blank, true
}

// skipSpace moves to the next word or to end and returns how many \n it passed.
func (s *scanner) skipSpace(end int) (newlines int) {
	text := s.text[:end]
	for s.pos < len(text) {
		b := text[s.pos]
		n := 1
		switch class[b] {
		case inWord:
			return newlines
		case maybeSpace:
			if n = wideSpace(text[s.pos:]); n == 0 {
				return newlines
			}
		}
		switch {
		case b == '\n':
			newlines++
			if !s.cr {
				s.line++
			}
		case b == '\r':
			s.line++
		}
		s.cr = b == '\r'
		s.pos += n
	}
	return newlines
}

// skipWord moves past the word at pos, or to end.
func (s *scanner) skipWord(end int) {
	s.cr = false
	text, i := s.text[:end], s.pos
	for i < len(text) {
		c := class[text[i]]
		if c == space || c == maybeSpace && wideSpace(text[i:]) > 0 {
			break
		}
		i++
	}
	s.pos = i
}

// seek moves forward to a byte and counts the lines passed.
func (s *scanner) seek(to int) {
	for s.pos < to {
		s.skipSpace(to)
		s.skipWord(to)
	}
}

// wideSpace returns the length of the white space beyond ASCII that b begins
// with, or 0. The bytes it looks for can stand nowhere else in what a UTF-8
// decoder would see, valid or not: none of their first bytes continues another
// character.
func wideSpace(b []byte) int {
	switch {
	case len(b) >= 2 && b[0] == 0xC2 && (b[1] == 0x85 || b[1] == 0xA0): // U+0085, U+00A0
		return 2
	case len(b) < 3:
		return 0
	}
	switch [2]byte{b[0], b[1]} {
	case [2]byte{0xE1, 0x9A}, [2]byte{0xE3, 0x80}: // U+1680, U+3000
		if b[2] == 0x80 {
			return 3
		}
	case [2]byte{0xE2, 0x80}: // U+2000 to U+200A, U+2028, U+2029, U+202F
		if b[2] >= 0x80 && b[2] <= 0x8A || b[2] == 0xA8 || b[2] == 0xA9 || b[2] == 0xAF {
			return 3
		}
	case [2]byte{0xE2, 0x81}: // U+205F
		if b[2] == 0x9F {
			return 3
		}
	}
	return 0
}
