package extract

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
)

// zipPackage is a document that is a zip archive of parts.
type zipPackage struct {
	d     *Document
	parts map[string]*zip.File
	order []*zip.File
}

// openPackage reads the list of the parts. Names are found in any case, with
// slashes of either kind: so do the programs that write them.
func openPackage(d *Document) (*zipPackage, error) {
	r, err := zip.NewReader(bytes.NewReader(d.Text), int64(len(d.Text)))
	if err != nil {
		return nil, notText("corrupt: " + err.Error())
	}
	p := &zipPackage{d: d, parts: make(map[string]*zip.File, len(r.File)), order: r.File}
	for _, f := range r.File {
		if name := partName(f.Name); p.parts[name] == nil {
			p.parts[name] = f
		}
	}
	return p, nil
}

// partName is a name in the form in which parts are found.
func partName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

func (p *zipPackage) has(name string) bool { return p.parts[partName(name)] != nil }

// errNoPart says that a part is not there.
var errNoPart = errors.New("no such part")

// open opens a part; what is read of it is bounded by the document's budget.
func (p *zipPackage) open(name string) (io.ReadCloser, error) {
	f := p.parts[partName(name)]
	if f == nil {
		return nil, errNoPart
	}
	if f.Flags&1 != 0 {
		return nil, notText("encrypted: " + name + " needs a password")
	}
	r, err := f.Open()
	if err != nil {
		return nil, notText("corrupt: " + name + ": " + err.Error())
	}
	return struct {
		io.Reader
		io.Closer
	}{p.d.budget.reader(r), r}, nil
}

// read returns up to n bytes of a part.
func (p *zipPackage) read(name string, n int64) ([]byte, error) {
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil && !errors.Is(err, ErrLimit) {
		err = notText("corrupt: " + name + ": " + err.Error())
	}
	return data, err
}

// xml reads a part with f. A part that is not there is none that is wrong.
func (p *zipPackage) xml(name string, f func(*xmlReader)) error {
	r, err := p.open(name)
	if err != nil {
		if errors.Is(err, errNoPart) {
			return nil
		}
		return err
	}
	defer r.Close()
	x := newXMLReader(r)
	f(x)
	return x.err
}
