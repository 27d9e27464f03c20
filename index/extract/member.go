package extract

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// addMember reads a document inside of d from r, as deep as the budget allows, and
// appends it to d's members. name is as the container has it, in UTF-8 or not: what
// is absolute or leads upwards is made harmless. A member that cannot be read is
// kept with the reason. Only what ends the whole extraction is an error: it matches
// ErrLimit, and what was read before stays.
func (d *Document) addMember(name string, r io.Reader) error {
	m := Member{Name: d.unusedName(safeName(name))}
	if err := d.budget.enter(); err != nil {
		return err
	}
	defer d.budget.leave()
	m.Document, m.Problem = d.readMember(m.Name, r)
	d.Members = append(d.Members, m)
	d.grown()
	if d.budget.spent() {
		return fmt.Errorf("%w: what comes after %s is left out", ErrLimit, m.Name)
	}
	return nil
}

func (d *Document) readMember(name string, r io.Reader) (*Document, error) {
	data, cut, err := d.budget.readAll(r)
	if err != nil && (len(data) == 0 || !errors.Is(err, ErrLimit)) {
		return nil, err
	}
	if err != nil {
		cut = err.Error()
	}
	m, err := extractWithin(name, data, d.budget)
	if err != nil && cut != "" {
		return nil, fmt.Errorf("%w: %s", ErrLimit, cut)
	}
	if err != nil {
		return nil, err
	}
	m.truncate(cut)
	if !m.Extracted {
		err = d.budget.keep(int64(len(m.Text)))
	}
	return m, err
}

// maxContent bounds what is held of one inflated file, in bytes.
const maxContent = 64 << 20

// readAll reads an inflating reader as far as the budget and maxContent allow. cut
// says why not all was read; with an error, data is what came before it.
func (b *budget) readAll(r io.Reader) (data []byte, cut string, err error) {
	data, err = io.ReadAll(io.LimitReader(b.reader(r), maxContent+1))
	if len(data) > maxContent {
		return data[:maxContent], fmt.Sprintf("only its first %d MiB were read", maxContent>>20), nil
	}
	return data, "", err
}

// spent reports whether nothing more may be read.
func (b *budget) spent() bool {
	return b.needsPDF || b.left.Inflated < 0 || b.left.Text < 0 || b.left.Members < 0
}

// maxName bounds a member's name, in bytes.
const maxName = 1024

// safeName makes a relative name without "..", empty elements, control characters
// or invalid UTF-8 of any bytes.
func safeName(name string) string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "\ufffd"), `\`, "/")
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for len(name) > maxName || !utf8.ValidString(name) {
		_, size := utf8.DecodeRuneInString(name)
		name = name[max(1, min(size, len(name)), len(name)-maxName):]
	}
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return "unnamed"
	}
	return name
}

// unusedName makes a second entry of the same name another document.
func (d *Document) unusedName(name string) string {
	if d.names == nil {
		d.names = map[string]int{}
	}
	d.names[name]++
	for n := d.names[name]; n > 1; n++ {
		ext := path.Ext(name)
		other := strings.TrimSuffix(name, ext) + " (" + strconv.Itoa(n) + ")" + ext
		if d.names[other] == 0 {
			d.names[other], d.names[name] = 1, n
			return other
		}
	}
	return name
}
