package ipc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A path is bytes, and JSON carries only Unicode. Every path on the wire is
// written by EncodePath: a path that is valid UTF-8 stands as it is, and
// every byte that is not is written as U+0000 and two lower-case hexadecimal
// digits. No path contains a NUL byte, so nothing is ambiguous, and a client
// that takes such a string for a file name fails instead of opening another
// file.

const pathEscape = '\x00'

// EncodePath returns path as it is written on the wire.
func EncodePath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%c%02x", pathEscape, path[i])
		} else {
			b.WriteString(path[i : i+n])
		}
		i += n
	}
	return b.String()
}

// DecodePath returns the path that EncodePath wrote as s. Anything that
// EncodePath does not write is an Error of CodeInvalidParams: a path has one
// spelling only.
func DecodePath(s string) (string, error) {
	if strings.IndexByte(s, pathEscape) < 0 {
		if !utf8.ValidString(s) {
			return "", badPath(s)
		}
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != pathEscape {
			b.WriteByte(s[i])
			continue
		}
		c, ok := hexByte(s[i+1:])
		if !ok {
			return "", badPath(s)
		}
		b.WriteByte(c)
		i += 2
	}
	path := b.String()
	if EncodePath(path) != s {
		return "", badPath(s)
	}
	return path, nil
}

func badPath(s string) error {
	return Errorf(CodeInvalidParams, "%q is not a path: U+0000 must be followed by the two hexadecimal digits of a byte that is not valid UTF-8", s)
}

// hexByte reads two lower-case hexadecimal digits.
func hexByte(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	var v byte
	for _, c := range []byte(s[:2]) {
		d := strings.IndexByte("0123456789abcdef", c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | byte(d)
	}
	return v, true
}
