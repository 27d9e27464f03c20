package extract

import (
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
	data, err := d.budget.readAll(r)
	if err == nil {
		m.Document, err = extractWithin(m.Name, data, d.budget)
	}
	if err != nil {
		m.Document, m.Problem = nil, err
	}
	d.Members = append(d.Members, m)
	if d.budget.spent() {
		return err
	}
	return nil
}

// readAll reads what the budget allows of an inflating reader.
func (b *budget) readAll(r io.Reader) ([]byte, error) { return io.ReadAll(b.reader(r)) }

// spent reports whether nothing more may be read.
func (b *budget) spent() bool { return b.left.Inflated < 0 || b.left.Text < 0 || b.left.Members < 0 }

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
