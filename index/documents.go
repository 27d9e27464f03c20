package index

import (
	"slices"
	"time"

	"quern/index/extract"
)

// document is a document as its record tells.
type document struct {
	slot   uint32 // its id: a number used again when the document is gone
	view   int    // where the record is …
	ord    int    // … and its number there
	info   DocumentInfo
	places []place
	byPID  map[uint64]int // made by number, for documents of many passages
}

// place says where a passage of a document stands and what it is called in
// the index. Passage n of a document is its n-th place.
type place struct {
	pid         uint64 // names the passage for as long as it lives
	start, end  int
	first, last int // lines
	heading     []string
	own         bool   // the span is the section's own heading line
	page        int    // from 1; 0 for none
	hash        uint64 // of what its terms come from; not in the record
}

func (a place) equal(b place) bool {
	return a.pid == b.pid && a.start == b.start && a.end == b.end && a.own == b.own &&
		a.page == b.page && a.first == b.first && a.last == b.last && slices.Equal(a.heading, b.heading)
}

// smallDocument is up to how many passages are searched one by one.
const smallDocument = 32

// number gives the number of the passage with a pid, or -1.
func (d *document) number(pid uint64) int {
	if len(d.places) <= smallDocument {
		return slices.IndexFunc(d.places, func(p place) bool { return p.pid == pid })
	}
	if d.byPID == nil {
		d.byPID = make(map[uint64]int, len(d.places))
		for n := range d.places {
			d.byPID[d.places[n].pid] = n
		}
	}
	if n, ok := d.byPID[pid]; ok {
		return n
	}
	return -1
}

// info builds what the index knows of a document.
func (d *Document) info() DocumentInfo {
	return DocumentInfo{
		Path: d.Path, Folder: d.Folder, Rel: d.Rel, Modified: d.Modified.Round(0).UTC(),
		Size: d.Size, Fingerprint: d.Fingerprint,
	}
}

// withContent adds what the content says of itself.
func (i DocumentInfo) withContent(c *extract.Document, passages int) DocumentInfo {
	return i.described(DocumentInfo{
		Type: c.Type, Title: c.Title, Author: c.Author, Date: c.Date.Truncate(time.Second).UTC(), Extracted: c.Extracted, Truncated: c.Truncated, Passages: passages,
	})
}

// described takes over what by says of the content.
func (i DocumentInfo) described(by DocumentInfo) DocumentInfo {
	i.Type, i.Title, i.Author, i.Date = by.Type, by.Title, by.Author, by.Date
	i.Extracted, i.Truncated, i.Passages = by.Extracted, by.Truncated, by.Passages
	return i
}

// equal compares all that a user can see.
func (i DocumentInfo) equal(j DocumentInfo) bool {
	same := i.Modified.Equal(j.Modified) && i.Date.Equal(j.Date)
	i.Modified, i.Date = j.Modified, j.Date
	return same && i == j
}

// findPath finds the record of the document at path.
func (s *Snapshot) findPath(path string) (view, ord int, ok bool) {
	for i := range s.views {
		v := &s.views[i]
		v.must(v.FindPath(path, func(o int) bool {
			if !v.isDeadDoc(o) {
				view, ord, ok = i, o, true
			}
			return !ok
		}))
		if ok {
			return view, ord, true
		}
	}
	return 0, 0, false
}

// findSlot finds the record of the document of a slot.
func (s *Snapshot) findSlot(slot uint32) (view, ord int, ok bool) {
	for i := range s.views {
		v := &s.views[i]
		if o, found := v.FindDocument(uint64(slot)); found && !v.isDeadDoc(o) {
			return i, o, true
		}
	}
	return 0, 0, false
}

// document reads a record.
func (s *Snapshot) document(i, ord int) *document {
	v := &s.views[i]
	path, data, err := v.Document(ord)
	v.must(err)
	d, err := decodeRecord(string(path), data)
	v.must(err)
	d.slot, d.view, d.ord = uint32(v.DocumentID(ord)), i, ord
	return d
}

// lookPath reads the document at path.
func (s *Snapshot) lookPath(path string) (*document, bool) {
	i, ord, ok := s.findPath(path)
	if !ok {
		return nil, false
	}
	return s.document(i, ord), true
}
