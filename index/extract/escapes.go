package extract

import "bytes"

// stripEscapes drops a terminal's escape sequences (ECMA-48: colours, cursor
// moves, titles) and overstrikes (a character, a backspace and a character, as
// roff prints bold), and says whether there were any.
func stripEscapes(text []byte) ([]byte, bool) {
	if !bytes.Contains(text, []byte("\x1b[")) && !bytes.Contains(text, []byte("\x1b]")) && bytes.IndexByte(text, '\b') < 0 {
		return text, false
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\b' && len(out) > 0 && out[len(out)-1] > ' ':
			out = out[:len(out)-1]
		case c == '\x1b':
			i += escape(text[i:]) - 1
		default:
			out = append(out, c)
		}
	}
	return out, true
}

// maxEscape is the longest escape sequence, in bytes.
const maxEscape = 256

// escape returns the length of the escape sequence that b begins with.
func escape(b []byte) int {
	b = b[:min(len(b), maxEscape)]
	if len(b) < 2 {
		return 1
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i
			}
		}
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == '\a' {
				return i + 1
			}
			if b[i] == '\\' && b[i-1] == '\x1b' {
				return i + 1
			}
			if b[i] == '\n' {
				return i
			}
		}
	case '(', ')':
		return min(3, len(b))
	}
	return 2
}
