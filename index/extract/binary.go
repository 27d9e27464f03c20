package extract

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrBinary matches, by errors.Is, the errors for content that is not text that
// can be read. Their message is the reason, fit to be shown.
var ErrBinary = errors.New("binary")

// notText is an error that matches ErrBinary.
type notText string

func (e notText) Error() string        { return string(e) }
func (e notText) Is(target error) bool { return target == ErrBinary }

// marks are beginnings of content that is no text in UTF-8, longer ones before
// those that they begin with.
var marks = []struct{ prefix, reason string }{
	{"\xFF\xFE\x00\x00", "UTF-32 text: not supported yet"},
	{"\x00\x00\xFE\xFF", "UTF-32 text: not supported yet"},
	{"\xFF\xFE", "UTF-16 text: not supported yet"},
	{"\xFE\xFF", "UTF-16 text: not supported yet"},
}

// checkText returns an error that matches ErrBinary unless data is text. What
// has no NUL is text: other encodings than UTF-8 show as U+FFFD, but their
// ASCII is found.
func checkText(data []byte) error {
	for _, m := range marks {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return notText(m.reason)
		}
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return notText(fmt.Sprintf("binary: NUL byte at offset %d", i))
	}
	return nil
}

// readText makes text in UTF-8 of d.Text, or returns an error that matches
// ErrBinary. Text in another encoding is replaced, and d.Extracted set.
func readText(d *Document) error { return checkText(d.Text) }
