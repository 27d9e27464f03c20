package index

import (
	"quern/index/extract"

	"github.com/zeebo/xxh3"
)

// document is one indexed document; it never changes, a new one replaces it.
type document struct {
	info     DocumentInfo
	text     []byte
	passages []place
}

// place says where a passage of a document stands and what it is called in
// the index. Passage n of a document is its n-th place.
type place struct {
	pid         uint64 // names the passage for as long as it lives
	hash        uint64 // of what its terms come from: finds unchanged passages
	start, end  int
	first, last int // lines
	heading     []string
	own         bool // the span is the section's own heading line
}

// info builds what the index knows of a document.
func (d *Document) info() DocumentInfo {
	return DocumentInfo{Path: d.Path, Folder: d.Folder, Rel: d.Rel, Modified: d.Modified, Size: d.Size}
}

// withContent adds what the content says of itself.
func (i DocumentInfo) withContent(c *extract.Document, passages int) DocumentInfo {
	i.Type, i.Title, i.Passages = c.Type, c.Title, passages
	return i
}

// equal compares all that a user can see.
func (i DocumentInfo) equal(j DocumentInfo) bool {
	same := i.Modified.Equal(j.Modified)
	i.Modified = j.Modified
	return same && i == j
}

// pathTable finds documents' slots by path: a hash table in copy-on-write
// pages, whose buckets are replaced, never changed.
type pathTable struct {
	buckets pages[[]uint32]
	count   int
}

// bucketLoad is how many paths a bucket holds on average before the table grows.
const bucketLoad = 2

func (t *pathTable) bucket(path string) int {
	return int(xxh3.HashString(path) & uint64(t.buckets.len()-1))
}

func (t *pathTable) find(docs *pages[*document], path string) (uint32, bool) {
	if t.buckets.len() == 0 {
		return 0, false
	}
	for _, slot := range t.buckets.at(t.bucket(path)) {
		if docs.at(int(slot)).info.Path == path {
			return slot, true
		}
	}
	return 0, false
}

// insert adds a path that is not in the table.
func (t *pathTable) insert(txn uint64, docs *pages[*document], path string, slot uint32) {
	if t.count >= bucketLoad*t.buckets.len() {
		t.double(txn, docs)
	}
	t.add(txn, path, slot)
	t.count++
}

func (t *pathTable) add(txn uint64, path string, slot uint32) {
	b := t.buckets.edit(txn, t.bucket(path))
	*b = append((*b)[:len(*b):len(*b)], slot)
}

// remove takes out a path that is in the table at slot.
func (t *pathTable) remove(txn uint64, path string, slot uint32) {
	b := t.buckets.edit(txn, t.bucket(path))
	var kept []uint32
	for _, s := range *b {
		if s != slot {
			kept = append(kept, s)
		}
	}
	*b = kept
	t.count--
}

func (t *pathTable) double(txn uint64, docs *pages[*document]) {
	old := t.buckets
	t.buckets = pages[[]uint32]{}
	t.buckets.grow(txn, max(64, 2*old.len()))
	for i := range old.len() {
		for _, slot := range old.at(i) {
			t.add(txn, docs.at(int(slot)).info.Path, slot)
		}
	}
}
