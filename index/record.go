package index

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"quern/index/segment"
)

// recordVersion grows with every change of the records' form.
const recordVersion = 3

// A document's record, beside its path, which the segment keeps:
//
//	strings (uvarint length, bytes): folder, rel, type, title, fingerprint, author,
//	    truncated
//	uvarint flags: bit 0 extracted, bit 1 a date follows, bit 2 passages have pages
//	varint seconds of the date
//	varint seconds and uvarint nanoseconds of Modified · uvarint size
//	uvarint number of passages, and for each, all relative to the one before:
//	    varint pid (less one) · varint start · uvarint length
//	    varint first line · uvarint further lines
//	    uvarint heading: bit 0 own; above it 0 for the heading of the one
//	    before, otherwise one more than the number of strings that follow
//	    varint page
func encodeRecord(i *DocumentInfo, places []place) []byte {
	var b []byte
	for _, s := range []string{i.Folder, i.Rel, i.Type, i.Title, i.Fingerprint, i.Author, i.Truncated} {
		b = appendString(b, s)
	}
	paged := hasPages(places)
	b = binary.AppendUvarint(b, bit(i.Extracted)|bit(!i.Date.IsZero())<<1|bit(paged)<<2)
	if !i.Date.IsZero() {
		b = binary.AppendVarint(b, i.Date.Unix())
	}
	b = binary.AppendVarint(b, i.Modified.Unix())
	b = binary.AppendUvarint(b, uint64(i.Modified.Nanosecond()))
	b = binary.AppendUvarint(b, uint64(i.Size))
	b = binary.AppendUvarint(b, uint64(len(places)))
	var last place
	for n := range places {
		b = appendPlace(b, &places[n], &last)
		if paged {
			b = binary.AppendVarint(b, int64(places[n].page-last.page))
		}
		last = places[n]
	}
	return b
}

func hasPages(places []place) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.page != 0 })
}

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendPlace(b []byte, p, last *place) []byte {
	b = binary.AppendVarint(b, int64(p.pid-last.pid-1))
	b = binary.AppendVarint(b, int64(p.start-last.start))
	b = binary.AppendUvarint(b, uint64(p.end-p.start))
	b = binary.AppendVarint(b, int64(p.first-last.first))
	b = binary.AppendUvarint(b, uint64(p.last-p.first))
	own := bit(p.own)
	if sameHeading(p.heading, last.heading) {
		return binary.AppendUvarint(b, own)
	}
	b = binary.AppendUvarint(b, uint64(len(p.heading)+1)<<1|own)
	for _, h := range p.heading {
		b = appendString(b, h)
	}
	return b
}

// sameHeading tells nil from empty, as what is read must equal what was put.
func sameHeading(a, b []string) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// recordReader reads a record; its first error sticks.
type recordReader struct {
	b   []byte
	bad bool
}

func (r *recordReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *recordReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *recordReader) string() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// count reads the number of things of at least one byte each that follow.
func (r *recordReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

func decodeRecord(path string, data []byte) (*document, error) {
	r := &recordReader{b: data}
	i, paged := readInfo(r, path)
	d := &document{info: i}
	d.info.Passages = r.count()
	d.places = make([]place, d.info.Passages)
	var last place
	for n := range d.places {
		r.place(&d.places[n], &last)
		if paged {
			d.places[n].page = last.page + int(r.varint())
		}
		last = d.places[n]
	}
	if r.bad || len(r.b) > 0 {
		return nil, fmt.Errorf("%w: the record of %q", segment.ErrCorrupt, path)
	}
	return d, nil
}

// decodeInfo reads a record without the passages.
func decodeInfo(path string, data []byte) (*DocumentInfo, error) {
	r := &recordReader{b: data}
	i, _ := readInfo(r, path)
	i.Passages = r.count()
	if r.bad {
		return nil, fmt.Errorf("%w: the record of %q", segment.ErrCorrupt, path)
	}
	return &i, nil
}

// readInfo reads what comes before the passages; paged says that those have pages.
func readInfo(r *recordReader, path string) (i DocumentInfo, paged bool) {
	i.Path = path
	for _, s := range []*string{&i.Folder, &i.Rel, &i.Type, &i.Title, &i.Fingerprint, &i.Author, &i.Truncated} {
		*s = r.string()
	}
	flags := r.uvarint()
	i.Extracted, paged = flags&1 != 0, flags&4 != 0
	if flags&2 != 0 {
		i.Date = time.Unix(r.varint(), 0).UTC()
	}
	seconds := r.varint()
	i.Modified = time.Unix(seconds, int64(r.uvarint())).UTC()
	i.Size = int64(r.uvarint())
	return i, paged
}

func (r *recordReader) place(p, last *place) {
	p.pid = last.pid + uint64(r.varint()) + 1
	p.start = last.start + int(r.varint())
	p.end = p.start + int(r.uvarint())
	p.first = last.first + int(r.varint())
	p.last = p.first + int(r.uvarint())
	code := r.uvarint()
	p.own = code&1 != 0
	if code>>1 == 0 {
		p.heading = last.heading
		return
	}
	n := code>>1 - 1
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return
	}
	p.heading = make([]string, n)
	for i := range p.heading {
		p.heading[i] = r.string()
	}
}
