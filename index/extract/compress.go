package extract

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func init() {
	for format, open := range map[string]inflater{"gz": openGzip, "bz2": openBzip2, "xz": openXZ, "zst": openZstd} {
		raw[format] = true
		parsers[format] = func(d *Document) error { return parseCompressed(d, open) }
	}
}

// inflater opens a compressed stream.
type inflater func(io.Reader) (io.Reader, error)

// maxWindow bounds the memory that a stream may ask for to look back into.
const maxWindow = 64 << 20

func openGzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

func openBzip2(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }

func openXZ(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }

func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
}

// parseCompressed reads the one file in a compressed one as if it stood in its
// place. What a damaged stream gave before the damage is kept.
func parseCompressed(d *Document, open inflater) error {
	if err := d.budget.enter(); err != nil {
		return err
	}
	defer d.budget.leave()
	format := d.Type
	r, err := open(bytes.NewReader(d.Text))
	if err != nil {
		return damaged(format, err)
	}
	if c, ok := r.(interface{ Close() }); ok {
		defer c.Close() // ends a zstd decoder
	}
	data, cut, err := d.budget.readAll(r)
	if err != nil && len(data) == 0 {
		return damaged(format, err)
	}
	d.Text = data
	outer := d.name
	if err := d.read(innerName(outer)); err != nil {
		if cut != "" {
			return fmt.Errorf("%w: %s", ErrLimit, cut)
		}
		return err
	}
	d.Extracted = true
	if err != nil && cut == "" {
		cut = damaged(format, err).Error()
	}
	d.truncate(cut)
	return nil
}

// truncate notes that something was left out, unless that is said already.
func (d *Document) truncate(reason string) {
	if d.Truncated == "" {
		d.Truncated = reason
	}
}

// damaged says what is wrong with a container, unless a limit is.
func damaged(format string, err error) error {
	if errors.Is(err, ErrLimit) {
		return err
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return fmt.Errorf("%w: it asks for more than %d MiB of memory", ErrLimit, maxWindow>>20)
	}
	return fmt.Errorf("damaged %s file: %w", format, err)
}
