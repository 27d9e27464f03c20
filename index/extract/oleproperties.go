package extract

import (
	"bytes"
	"strings"
	"time"
)

// Properties of the summary information: MS-OLEPS 2.25.1.
const (
	oleCodePage = 1
	oleTitle    = 2
	oleSubject  = 3
	oleAuthor   = 4
	oleKeywords = 5
	oleComments = 6
	oleCreated  = 12
	oleSaved    = 13
)

// properties reads the summary information of a compound file.
func (f *oleFile) properties() properties {
	var p properties
	set, _ := f.stream("\x05SummaryInformation")
	if set.u16(0) != 0xfffe {
		return p
	}
	start := int(set.u32(44))
	if start > len(set) {
		return p
	}
	set = set[start:]
	page := 1252
	for i := range min(int(set.u32(4)), maxProperties) {
		id, off := set.u32(8+8*i), int(set.u32(12+8*i))
		if id == oleCodePage {
			page = int(set.u16(off + 4))
		}
	}
	for i := range min(int(set.u32(4)), maxProperties) {
		p.ole(set.u32(8+8*i), set, int(set.u32(12+8*i)), page)
	}
	return p
}

// ole takes a property with its value at an offset.
func (p *properties) ole(id uint32, set leReader, off, page int) {
	switch id {
	case oleTitle:
		p.title = oleString(set, off, page)
	case oleAuthor:
		p.author = oleString(set, off, page)
	case oleSubject, oleKeywords, oleComments:
		p.add(oleString(set, off, page))
	case oleCreated:
		p.created = fileTime(set.u64(off + 4))
	case oleSaved:
		p.modified = fileTime(set.u64(off + 4))
	}
}

// oleString is a string of a property set.
func oleString(set leReader, off, page int) string {
	n := int(set.u32(off + 4))
	if n > len(set) {
		return ""
	}
	switch kind := set.u32(off); {
	case kind == 31, kind == 30 && page == 1200:
		if kind == 31 {
			n *= 2
		}
		return strings.TrimRight(utf16LE(set.at(off+8, n)), "\x00")
	case kind == 30:
		text, _, _ := bytes.Cut(set.at(off+8, n), []byte{0})
		return decodePage(page, text)
	}
	return ""
}

// fileTime is a time of Windows: 100 ns since the year 1601.
func fileTime(t uint64) time.Time {
	const toUnix = 116_444_736_000_000_000
	if t < toUnix || t > 1<<59 {
		return time.Time{}
	}
	t -= toUnix
	return time.Unix(int64(t/1e7), int64(t%1e7)*100).UTC()
}
