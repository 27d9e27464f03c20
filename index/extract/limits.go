package extract

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what is made of one file, however it is nested.
type Limits struct {
	// Inflated is how many bytes may be inflated, decoded or decrypted in all.
	Inflated int64
	// Text is how many bytes of text may be kept in all.
	Text int64
	// Members is how many members may be opened in all.
	Members int
	// Depth is how deep members may lie in members.
	Depth int
}

// DefaultLimits are enough for what people have, and end a bomb within seconds.
var DefaultLimits = Limits{Inflated: 512 << 20, Text: 64 << 20, Members: 10_000, Depth: 4}

// ErrLimit matches, by errors.Is, what a budget says when it is used up.
var ErrLimit = errors.New("over a limit")

// budget is what is left of the limits of one file. A document and its members
// share one.
type budget struct {
	left  Limits
	depth int
	root  *Document // of the file itself
	watch Watch
	// needsPDF says that the extraction is of no use: the PDF reader is wanted.
	needsPDF bool
}

func newBudget(l Limits) *budget { return &budget{left: l} }

// grown tells who watches the extraction that d has more than before, if d is the
// file's own document. What it has will not change any more, but for what is
// appended.
func (d *Document) grown() {
	if b := d.budget; b.watch.Grew != nil && b.root == d {
		b.watch.Grew(d)
	}
}

// inflate accounts for n inflated bytes.
func (b *budget) inflate(n int64) error {
	if b.watch.Alive != nil {
		b.watch.Alive()
	}
	if b.left.Inflated -= n; b.left.Inflated < 0 {
		return fmt.Errorf("%w: its content inflates to more than is read", ErrLimit)
	}
	return nil
}

// keep accounts for n bytes of text kept.
func (b *budget) keep(n int64) error {
	if b.left.Text -= n; b.left.Text < 0 {
		return fmt.Errorf("%w: it has more text than is kept", ErrLimit)
	}
	return nil
}

// reader bounds what is read of an inflating reader by the budget: bytes count as
// they come, whatever size was declared.
func (b *budget) reader(r io.Reader) io.Reader { return &boundedReader{r: r, b: b} }

type boundedReader struct {
	r io.Reader
	b *budget
}

func (r *boundedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if limit := r.b.inflate(int64(n)); limit != nil {
		return n, limit
	}
	return n, err
}

// enter accounts for one member, one level down; leave ends it.
func (b *budget) enter() error {
	if b.left.Members--; b.left.Members < 0 {
		return fmt.Errorf("%w: it has more members than are opened", ErrLimit)
	}
	if b.depth >= b.left.Depth {
		return fmt.Errorf("%w: its members lie deeper than is read", ErrLimit)
	}
	b.depth++
	return nil
}

func (b *budget) leave() { b.depth-- }
