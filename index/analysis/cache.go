package analysis

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// cacheSlots bounds the words remembered; a power of two.
	cacheSlots = 1 << 16
	// maxCached is the longest word worth remembering, in bytes.
	maxCached = 64
)

// entry is what became of one word: no term when it is dropped, one, or in
// rare cases several.
type entry struct {
	raw  string
	term string   // the first, "" for none
	more []string // the rest
}

// cache remembers what became of words, so that normalising and stemming are
// paid for once and equal terms are one string. It is a table of slots in
// pairs: a new word takes the first slot of its pair and pushes the word there
// to the second, so that what is frequent stays. No lock is needed, since
// entries never change and a lost update only costs a recomputation.
type cache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[entry]
}

func newCache() *cache {
	return &cache{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[entry], cacheSlots)}
}

// get returns the entry of a raw word, made by analyse when it is not there.
func (c *cache) get(raw []byte, analyse func(raw string) entry) *entry {
	if len(raw) > maxCached {
		e := analyse(string(raw))
		return &e
	}
	pair := maphash.Bytes(c.seed, raw) & (cacheSlots - 2)
	first, second := &c.slots[pair], &c.slots[pair+1]
	e := first.Load()
	if e != nil && e.raw == string(raw) {
		return e
	}
	if old := second.Load(); old != nil && old.raw == string(raw) {
		first.Store(old)
		second.Store(e)
		return old
	}
	made := analyse(string(raw))
	first.Store(&made)
	second.Store(e)
	return &made
}
