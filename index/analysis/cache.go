package analysis

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync/atomic"
)

const (
	// cacheSlots bounds the words remembered; a power of two.
	cacheSlots = 1 << 16
	// maxCached is the longest word worth remembering, in bytes.
	maxCached = 64
)

// entry is what became of one word: no term when it is dropped, one, or in
// rare cases several. It fills a cache line.
type entry struct {
	key  key
	raw  string
	term string    // the first, "" for none
	more *[]string // the rest, or nil
}

// cache remembers what became of words, so that normalising and stemming are
// paid for once and equal terms are one string. It is a table of slots in
// pairs: a new word takes the first slot of its pair and pushes the word there
// to the second, so that what is frequent stays. No lock is needed, since
// entries never change and a lost update only costs a recomputation.
type cache struct {
	seed  maphash.Seed
	mix   [2]uint64
	slots []atomic.Pointer[entry]
}

func newCache() *cache {
	c := &cache{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[entry], cacheSlots)}
	c.mix = [2]uint64{maphash.String(c.seed, "lo"), maphash.String(c.seed, "hi")}
	return c
}

// get returns the entry of a raw word, made by analyse when it is not there.
func (c *cache) get(raw []byte, analyse func(raw string) entry) *entry {
	if len(raw) > maxCached {
		e := analyse(string(raw))
		return &e
	}
	k := keyOf(raw)
	pair := c.hash(k, raw) & (cacheSlots - 2)
	first := &c.slots[pair]
	e := first.Load()
	if e.is(k, raw) {
		return e
	}
	return c.second(e, k, pair, raw, analyse)
}

// second looks into the second slot of a pair; e is in the first.
func (c *cache) second(e *entry, k key, pair uint64, raw []byte, analyse func(raw string) entry) *entry {
	first, second := &c.slots[pair], &c.slots[pair+1]
	if old := second.Load(); old.is(k, raw) {
		first.Store(old)
		second.Store(e)
		return old
	}
	made := analyse(string(raw))
	made.key = k
	first.Store(&made)
	second.Store(e)
	return &made
}

// key is, of a word of up to keySize bytes, its bytes padded with zeros: with
// the length it is compared without the word being looked at.
type key struct{ lo, hi uint64 }

const keySize = 16

// keyOf may read what lies behind the word, up to its capacity, so as not to
// branch on its length.
func keyOf(raw []byte) key {
	n := uint(len(raw))
	if n > keySize {
		return key{}
	}
	var pad [keySize]byte
	b := pad[:]
	if cap(raw) >= keySize {
		b = raw[:keySize]
	} else {
		copy(b, raw)
	}
	return key{
		binary.LittleEndian.Uint64(b) & (1<<(8*n) - 1),
		binary.LittleEndian.Uint64(b[8:]) & (1<<(8*(max(n, 8)-8)) - 1),
	}
}

// hash need not withstand an enemy: a collision costs a recomputation.
func (c *cache) hash(k key, raw []byte) uint64 {
	if len(raw) > keySize {
		return maphash.Bytes(c.seed, raw)
	}
	hi, lo := bits.Mul64(k.lo^c.mix[0], k.hi^c.mix[1]^uint64(len(raw)))
	return hi ^ lo
}

// is reports whether an entry, if it is one, is that of a word.
func (e *entry) is(k key, raw []byte) bool {
	return e != nil && e.key == k && len(e.raw) == len(raw) && (len(raw) <= keySize || e.raw == string(raw))
}
