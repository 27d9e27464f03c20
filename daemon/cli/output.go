package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// defaultColumns is the width of a terminal that does not tell, and of pipes.
const defaultColumns = 80

// errReaderGone means that nobody reads the output any more.
var errReaderGone = errors.New("the reader of the output is gone")

// output is a buffered stream that remembers its first error and knows
// whether it is a terminal.
type output struct {
	w        *bufio.Writer
	err      error
	terminal bool
	colour   bool // escape sequences are understood and wanted
	columns  int
}

func newOutput(w io.Writer, terminal func(io.Writer) (int, bool)) *output {
	o := &output{w: bufio.NewWriter(w), columns: defaultColumns}
	columns, ok := terminal(w)
	if !ok {
		return o
	}
	o.terminal = true
	if columns > 0 {
		o.columns = columns
	}
	o.colour = os.Getenv("NO_COLOR") == "" && !dumb()
	return o
}

// dumb tells whether the terminal understands no escape sequences.
func dumb() bool { return os.Getenv("TERM") == "dumb" }

// systemTerminal asks the operating system about w.
func systemTerminal(w io.Writer) (columns int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	enableEscapes(f)
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		columns = 0
	}
	return columns, true
}

// columnsOr is the width of a terminal, or wide for another stream.
func (o *output) columnsOr(wide int) int {
	if o.terminal {
		return o.columns
	}
	return wide
}

// Write implements io.Writer. After an error it fails at once.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = writeError(err)
	return n, o.err
}

// printf writes; the error is kept for flush.
func (o *output) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...)
}

// flush writes what is buffered and returns the stream's first error.
func (o *output) flush() error {
	if o.err == nil {
		o.err = writeError(o.w.Flush())
	}
	return o.err
}

// writeError tells a reader that went away from a real failure.
func writeError(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errReaderGone
	}
	return err
}

// outputError is the error of a run whose output failed: a broken pipe leaves
// the run's own result, anything else is said.
func outputError(err, flushErr error) error {
	if errors.Is(flushErr, errReaderGone) {
		return orNil(err)
	}
	return failuref("is the disk full?", "cannot write the output: %w", flushErr)
}

// Styles: the escape sequence that starts each.
const (
	styleReset   = "\x1b[0m"
	stylePath    = "\x1b[35m"
	styleHeading = "\x1b[2m"
	styleScore   = "\x1b[36m"
	styleMatch   = "\x1b[1;31m"
	styleBad     = "\x1b[31m"
	styleBold    = "\x1b[1m"
)

// style wraps text in a style when the stream has colours.
func (o *output) style(start, text string) string {
	if !o.colour || text == "" {
		return text
	}
	return start + text + styleReset
}
