package strict

import "unicode/utf8"

// str walks over a string literal.
func (s *scanner) str() error {
	s.pos++
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.fail("unescaped control character %q in a string", c)
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, n := utf8.DecodeRune(s.data[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return s.fail("invalid UTF-8 in a string")
			}
			s.pos += n
		}
	}
	return s.unexpected("the end of a string")
}

// escape walks over what begins with a backslash.
func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		return s.unicodeEscape()
	}
	return s.unexpected("an escape such as \\n")
}

// unicodeEscape walks over \uXXXX at its u, and over the second half of a
// surrogate pair. encoding/json would replace an unpaired half in silence.
func (s *scanner) unicodeEscape() error {
	start := s.pos - 1
	r, err := s.hex4()
	if err != nil {
		return err
	}
	if r < 0xD800 || r > 0xDFFF {
		return nil
	}
	if r <= 0xDBFF && s.peek() == '\\' {
		s.pos++
		if s.peek() == 'u' {
			low, err := s.hex4()
			if err != nil {
				return err
			}
			if 0xDC00 <= low && low <= 0xDFFF {
				return nil
			}
		}
	}
	s.pos = start
	return s.fail("unpaired surrogate in a string")
}

// hex4 reads the u at pos and four hexadecimal digits.
func (s *scanner) hex4() (rune, error) {
	s.pos++
	var r rune
	for range 4 {
		c := s.peek()
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, s.unexpected("a hexadecimal digit")
		}
		s.pos++
	}
	return r, nil
}
