package analysis

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestOtherBytes compares with the table, for every byte beside every kind of
// neighbour.
func TestOtherBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for c := range 256 {
		for at := range 8 {
			for range 20 {
				var b [8]byte
				binary.LittleEndian.PutUint64(b[:], r.Uint64())
				b[at] = byte(c)
				got := otherBytes(binary.LittleEndian.Uint64(b[:]))
				for i := range b {
					if other := got>>(8*i+7)&1 != 0; other == alnum[b[i]] {
						t.Fatalf("byte %#x at %d of %x: other is %v", b[i], i, b, other)
					}
				}
				if got&0x7f7f7f7f7f7f7f7f != 0 {
					t.Fatalf("%x gives %x", b, got)
				}
			}
		}
	}
}

// TestKeysTellWordsApart, wherever the words stand.
func TestKeysTellWordsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 64)
	for range 20_000 {
		for i := range text {
			text[i] = "ab\x00"[r.IntN(3)]
		}
		n, at, at2 := r.IntN(keySize+1), r.IntN(40), r.IntN(40)
		a, b := text[at:at+n], text[at2:at2+n:at2+n]
		if (keyOf(a) == keyOf(b)) != (string(a) == string(b)) {
			t.Fatalf("%q and %q", a, b)
		}
	}
}
