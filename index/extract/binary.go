package extract

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrBinary matches, by errors.Is, the errors for content that is not text that
// can be read. Their message is the reason, fit to be shown.
var ErrBinary = errors.New("binary")

// notText is an error that matches ErrBinary.
type notText string

func (e notText) Error() string        { return string(e) }
func (e notText) Is(target error) bool { return target == ErrBinary }

// sampleSize is how much of a text its encoding is told from, in bytes.
const sampleSize = 64 << 10

// checkText returns an error that matches ErrBinary unless data is text in some
// encoding. A few NULs in what is otherwise sound UTF-8 are forgiven, and a few
// control characters in what is not.
func checkText(data []byte) error {
	if wideEncoding(data) != nil {
		return nil
	}
	if i := bytes.IndexByte(data, 0); i >= 0 && !forgiven(data) {
		return notText(fmt.Sprintf("binary: NUL byte at offset %d", i))
	}
	sample := data[:min(len(data), sampleSize)]
	if n, at := controls(sample); n > len(sample)/10 && !utf8.Valid(data) {
		return notText(fmt.Sprintf("binary: %d control characters, the first at offset %d", n, at))
	}
	return nil
}

// forgiven says that the NULs in a text are few and all that is wrong with it.
func forgiven(data []byte) bool {
	nul := bytes.Count(data, []byte{0})
	n, _ := controls(data)
	return nul <= len(data)/8 && n == nul && utf8.Valid(data)
}

// controls counts the control characters that no text has, and says where the
// first is. Escapes and shifts are part of encodings and of terminals' output.
func controls(data []byte) (n, first int) {
	for i, c := range data {
		if c == 0x7f || c < ' ' && (c < '\b' || c > '\x0f') && c != '\x1a' && c != '\x1b' {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}
