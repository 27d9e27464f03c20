package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"archive/tar"

	"github.com/bodgit/sevenzip"
)

func init() {
	raw["tar"], parsers["tar"] = true, parseTar
	raw["7z"], parsers["7z"] = true, parse7z
}

// maxEntries bounds the entries that an archive may list, read or not.
const maxEntries = 100_000

// contain makes the document a mere container: it has no text of its own.
func (d *Document) contain() {
	d.Text, d.Extracted, d.Sections = nil, true, []Section{{}}
}

// more adds a member; false means that the limits allow no further one, which the
// document then says.
func (d *Document) more(name string, open func() (io.Reader, error)) bool {
	if err := d.addMember(name, lazy(open)); err != nil {
		d.truncate(err.Error())
		return false
	}
	return true
}

// parseTar reads the files of a tar archive as members, up to where it is damaged.
func parseTar(d *Document) error {
	t := tar.NewReader(d.budget.reader(bytes.NewReader(d.Text)))
	d.contain()
	for range maxEntries {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if len(d.Members) == 0 {
				return damaged("tar", err)
			}
			d.truncate(damaged("tar", err).Error())
			return nil
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		name := decodeNames([]string{h.Name})[0]
		if !d.more(name, func() (io.Reader, error) { return openTarEntry(t, h) }) {
			return nil
		}
	}
	d.truncate(fmt.Sprintf("the archive has more than %d entries", maxEntries))
	return nil
}

func openTarEntry(t *tar.Reader, h *tar.Header) (io.Reader, error) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return t, nil
	case tar.TypeSymlink, tar.TypeLink:
		return nil, notText("a link in an archive: not followed")
	}
	return nil, notText("not a regular file")
}

// parse7z reads the files of a 7z archive as members.
func parse7z(d *Document) error {
	z, err := sevenzip.NewReader(bytes.NewReader(d.Text), int64(len(d.Text)))
	var encrypted *sevenzip.ReadError
	if errors.As(err, &encrypted) && encrypted.Encrypted {
		return notText("encrypted: a password is needed")
	}
	if err != nil {
		return damaged("7z", err)
	}
	if len(z.File) > maxEntries {
		return fmt.Errorf("%w: the archive has more than %d entries", ErrLimit, maxEntries)
	}
	d.contain()
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if !d.more(f.Name, func() (io.Reader, error) { return open7zEntry(f) }) {
			break
		}
	}
	return nil
}

func open7zEntry(f *sevenzip.File) (io.Reader, error) {
	if !f.FileInfo().Mode().IsRegular() {
		return nil, notText("a link in an archive: not followed")
	}
	r, err := f.Open()
	var encrypted *sevenzip.ReadError
	if errors.As(err, &encrypted) && encrypted.Encrypted {
		return nil, notText("encrypted: a password is needed")
	}
	return r, err
}
