package extract

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func init() {
	raw["zip"], parsers["zip"] = true, parseZip
}

// Methods of compression that archive/zip does not have of itself (APPNOTE 6.3.10,
// 4.4.5).
const (
	zipBzip2 = 12
	zipZstd  = 93
	zipXZ    = 95
)

// parseZip reads the files of a zip archive as members.
func parseZip(d *Document) error {
	entries := 0
	zipNames(d.Text, func([]byte) bool { entries++; return entries <= maxEntries })
	if entries > maxEntries {
		return fmt.Errorf("%w: the archive has more than %d entries", ErrLimit, maxEntries)
	}
	z, err := zip.NewReader(bytes.NewReader(d.Text), int64(len(d.Text)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return damaged("zip", err)
	}
	z.RegisterDecompressor(zipZstd, zstd.ZipDecompressor(zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true)))
	z.RegisterDecompressor(zipBzip2, func(r io.Reader) io.ReadCloser { return io.NopCloser(bzip2.NewReader(r)) })
	z.RegisterDecompressor(zipXZ, func(r io.Reader) io.ReadCloser {
		return io.NopCloser(lazy(func() (io.Reader, error) { return xz.NewReader(r) }))
	})
	names := make([]string, len(z.File))
	for i, f := range z.File {
		names[i] = f.Name
	}
	names = decodeNames(names)
	d.contain()
	for i, f := range z.File {
		if f.Mode().IsDir() || strings.HasSuffix(f.Name, "/") {
			continue
		}
		if !d.more(names[i], func() (io.Reader, error) { return openEntry(f) }) {
			break
		}
	}
	return nil
}

// openEntry opens a regular file of a zip archive.
func openEntry(f *zip.File) (io.Reader, error) {
	switch {
	case f.Flags&1 != 0:
		return nil, notText("encrypted: a password is needed")
	case f.Mode()&fs.ModeSymlink != 0:
		return nil, notText("a symbolic link in an archive: not followed")
	case !f.Mode().IsRegular():
		return nil, notText("not a regular file")
	}
	return f.Open()
}

// lazy opens a reader when it is first read.
func lazy(open func() (io.Reader, error)) io.Reader { return &lazyReader{open: open} }

type lazyReader struct {
	open func() (io.Reader, error)
	r    io.Reader
	err  error
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.r == nil && l.err == nil {
		l.r, l.err = l.open()
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.r.Read(p)
}
