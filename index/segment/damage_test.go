package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// small is a segment of a few kilobytes with every feature: skip tables, tails,
// packed text, documents.
func small(t testing.TB) ([]byte, dump) {
	r := rand.New(rand.NewPCG(3, 3))
	ms, ds := randomModels(r, 12, 30), randomDocs(r, 3)
	for i := range ms {
		ms[i].Text = ms[i].Text[:min(200, len(ms[i].Text))]
	}
	for i := range 150 {
		ms = append(ms, model{Passage: Passage{ID: ms[len(ms)-1].ID + 1}, terms: []string{"every"}})
		if i%50 == 0 {
			ms[len(ms)-1].terms = []string{"every", "every", "every"}
		}
	}
	return bytesOf(t, ms, ds, true), expected(ms, ds)
}

func bytesOf(t testing.TB, ms []model, ds []modelDoc, compress bool) []byte {
	t.Helper()
	b := NewBuilder()
	for _, m := range ms {
		b.AddPassage(m.Passage, slices.Values(m.terms))
	}
	for _, d := range ds {
		b.AddDocument(d.id, d.path, []byte(d.data))
	}
	var buf bytes.Buffer
	if err := b.Write(&buf, WriteOptions{Compress: compress, GID: gidIn}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// read is what a careful user of a damaged file does.
func read(b []byte) (dump, error) {
	r, err := Open(b, false)
	if err != nil {
		return dump{}, err
	}
	return dumpOf(r)
}

// TestEveryFlippedByte flips bits of every byte: each must be noticed, or change
// nothing that is read.
func TestEveryFlippedByte(t *testing.T) {
	b, want := small(t)
	unnoticed := 0
	for i := range b {
		for _, x := range []byte{0x01, 0x80, 0xff} {
			b[i] ^= x
			got, err := read(b)
			switch {
			case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion):
				t.Fatalf("byte %d: %v is not ErrCorrupt", i, err)
			case err == nil && !reflect.DeepEqual(got, want):
				t.Fatalf("byte %d flipped by %#x: another answer without an error", i, x)
			case err == nil:
				unnoticed++
			}
			if r, err := Open(b, false); err == nil && r.CheckAll() == nil {
				t.Fatalf("byte %d flipped by %#x: CheckAll sees nothing", i, x)
			}
			b[i] ^= x
		}
	}
	t.Logf("%d bytes, %d flips of 3 a byte were harmless", len(b), unnoticed)
}

// TestFlippedInLaterChunks: what is proved only when it is read.
func TestFlippedInLaterChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	ms, ds := randomModels(r, 1500, 2000), randomDocs(r, 100)
	b, want := bytesOf(t, ms, ds, false), expected(ms, ds)
	opened := 0
	for range 60 {
		i := r.IntN(len(b))
		flip := byte(1) << r.IntN(8)
		b[i] ^= flip
		if _, err := Open(b, false); err == nil {
			opened++
		}
		got, err := read(b)
		if err == nil && !reflect.DeepEqual(got, want) || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d of %d flipped: another answer, or %v", i, len(b), err)
		}
		if b, err := Open(b, false); err == nil && b.CheckAll() == nil {
			t.Fatalf("byte %d flipped: CheckAll sees nothing", i)
		}
		b[i] ^= flip
	}
	if opened == 0 {
		t.Error("every flip was seen at the opening: the test tests nothing")
	}
}

func TestEveryTruncation(t *testing.T) {
	b, _ := small(t)
	for n := range b {
		if _, err := Open(b[:n:n], false); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("the first %d of %d bytes open with %v", n, len(b), err)
		}
		zeros := append(slices.Clone(b[:n]), make([]byte, len(b)-n)...)
		if _, err := Open(zeros, false); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("with zeros from byte %d on it opens with %v", n, err)
		}
	}
}

func TestOtherVersion(t *testing.T) {
	b, _ := small(t)
	binary.LittleEndian.PutUint32(b[8:], Version+1)
	binary.LittleEndian.PutUint32(b[len(b)-trailer+8:], Version+1)
	reseal(b)
	if _, err := Open(b, false); !errors.Is(err, ErrVersion) {
		t.Fatalf("a segment of version %d opens with %v", Version+1, err)
	}
}

// reseal makes all checksums right again, as far as the trailer can be made
// sense of.
func reseal(b []byte) {
	if len(b) < trailer {
		return
	}
	size := binary.LittleEndian.Uint64(b[len(b)-trailer:])
	if size > uint64(len(b)-trailer) {
		return
	}
	foot := b[size : len(b)-16]
	for c := 0; c*chunkSize < int(size) && c*8+8 <= len(foot); c++ {
		binary.LittleEndian.PutUint64(foot[c*8:], xxh3.Hash(b[c*chunkSize:min((c+1)*chunkSize, int(size))]))
	}
	binary.LittleEndian.PutUint64(b[len(b)-16:], xxh3.Hash(foot))
}

// exercise reads all of what may be nonsense: it must end, without a panic.
func exercise(b []byte) {
	r, err := Open(b, false)
	if err != nil {
		return
	}
	_, _ = dumpOf(r)
	_ = r.Verify()
	for _, term := range []string{"", "every", "t4", "zz"} {
		_, _, _ = r.Lookup([]byte(term))
		if c, err := r.CursorAt([]byte(term)); err == nil {
			c.Next()
		}
	}
	var p Postings
	for t := range min(r.Terms(), 50) {
		if r.Postings(t, &p) == nil {
			for p.Skip(uint32(t * 3)) {
				if p.Skip(p.Docs[len(p.Docs)-1] + 1) {
					break
				}
			}
		}
	}
	_ = r.FindPath("/d/1", func(int) bool { return true })
	r.FindPassage(7)
	r.FindDocument(7)
	_, _ = Merge(r2ctx, &bytes.Buffer{}, []Input{{Reader: r}}, MergeOptions{Compress: true})
}

// TestNonsenseWithRightChecksums changes bytes and makes the checksums right:
// what no medium does, but what a bug or an enemy may.
func TestNonsenseWithRightChecksums(t *testing.T) {
	good, _ := small(t)
	r := rand.New(rand.NewPCG(9, 9))
	for range 6000 {
		b := slices.Clone(good)
		for range 1 + r.IntN(4) {
			i := r.IntN(len(b))
			if r.IntN(3) == 0 {
				i = len(b) - 1 - r.IntN(len(b)/4)
			}
			b[i] = byte(r.Uint32()) >> r.IntN(8)
		}
		reseal(b)
		exercise(b)
	}
}

func FuzzOpen(f *testing.F) {
	b, _ := small(f)
	f.Add(b)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		exercise(b)
		b = slices.Clone(b)
		reseal(b)
		exercise(b)
	})
}
