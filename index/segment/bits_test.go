package segment

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

var r2ctx = context.Background()

func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for w := uint(0); w <= 32; w++ {
		for _, n := range []int{0, 1, 3, 4, 7, 127, 128} {
			vals := make([]uint32, n)
			for i := range vals {
				vals[i] = uint32(r.Uint64() & (1<<w - 1))
			}
			b := appendPacked(nil, vals, w)
			if len(b) != packedLen(n, w) {
				t.Fatalf("%d numbers of %d bits take %d bytes, not %d", n, w, len(b), packedLen(n, w))
			}
			if got := width(vals); got > w {
				t.Fatalf("width %d of numbers of %d bits", got, w)
			}
			got := make([]uint32, n)
			unpack(got, append(b, make([]byte, overread)...), w)
			if !slices.Equal(got, vals) {
				t.Fatalf("width %d: %v became %v", w, vals, got)
			}
		}
	}
}

func TestColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		n, shift := r.IntN(600), r.IntN(56)
		vals := make([]uint64, n)
		base := r.Uint64() >> 8
		for i := range vals {
			vals[i] = base + r.Uint64()>>(8+shift)
		}
		slices.Sort(vals)
		var w columnWriter
		for _, v := range vals {
			w.add(v)
		}
		c, err := openColumn(slices.Concat(w.parts()...), n)
		if err != nil {
			t.Fatal(err)
		}
		var block [columnBlock]uint64
		for i, v := range vals {
			if i%columnBlock == 0 {
				if got := c.block(i/columnBlock, &block); got != min(columnBlock, n-i) {
					t.Fatalf("block of %d numbers, not %d", got, min(columnBlock, n-i))
				}
			}
			if got := block[i%columnBlock]; got != v {
				t.Fatalf("entry %d of %d is %d in its block, not %d", i, n, got, v)
			}
			if got := c.get(i); got != v {
				t.Fatalf("entry %d of %d is %d, not %d", i, n, got, v)
			}
			j, _ := slices.BinarySearch(vals, v)
			if got := c.search(v); got != j {
				t.Fatalf("search(%d) = %d, not %d", v, got, j)
			}
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	vals := make([]uint32, BlockSize)
	for i := range vals {
		vals[i] = uint32(i) & 0x7f
	}
	src := append(appendPacked(nil, vals, 7), make([]byte, overread)...)
	b.SetBytes(BlockSize * 4)
	for b.Loop() {
		unpack(vals, src, 7)
	}
}

func benchModels() []model {
	r := rand.New(rand.NewPCG(5, 5))
	ms := randomModels(r, 20000, 20000)
	for i := range ms {
		ms[i].Text = ms[i].Text[:min(len(ms[i].Text), 700)]
	}
	return ms
}

func BenchmarkBuild(b *testing.B) {
	ms := benchModels()
	for b.Loop() {
		bld := NewBuilder()
		for _, m := range ms {
			bld.AddPassage(m.Passage, slices.Values(m.terms))
		}
		if err := bld.Write(io.Discard, WriteOptions{Compress: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(ms)*b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkMerge(b *testing.B) {
	ms := benchModels()
	in := []Input{
		{Reader: build(b, ms[:10000], nil, true)},
		{Reader: build(b, ms[10000:], nil, true)},
	}
	for b.Loop() {
		if _, err := Merge(r2ctx, io.Discard, in, MergeOptions{Compress: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(ms)*b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkPostings(b *testing.B) {
	seg := build(b, benchModels(), nil, false)
	t, _, _ := seg.Lookup([]byte("t0"))
	var p Postings
	for b.Loop() {
		if err := seg.Postings(t, &p); err != nil {
			b.Fatal(err)
		}
		for p.Next() {
		}
	}
	b.ReportMetric(float64(p.DF()*b.N)/b.Elapsed().Seconds()/1e6, "Mpostings/s")
}

// BenchmarkUnpackSums decodes the passages of a block of postings.
func BenchmarkUnpackSums(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, w := range []uint{3, 6, 11, 20} {
		vals := make([]uint32, BlockSize)
		for i := range vals {
			vals[i] = uint32(r.Uint64() & (1<<w - 1))
		}
		packed := append(appendPacked(nil, vals, w), make([]byte, overread)...)
		b.Run(fmt.Sprint(w), func(b *testing.B) {
			for b.Loop() {
				unpackSums(vals, packed, w, 0)
			}
		})
	}
}

// TestUnpackSums holds it against adding up what unpack gives.
func TestUnpackSums(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for w := uint(0); w <= 32; w++ {
		for _, n := range []int{0, 1, 3, 5, 127, 128} {
			vals, got := make([]uint32, n), make([]uint32, n)
			for i := range vals {
				vals[i] = uint32(r.Uint64() & (1<<w - 1))
			}
			packed := append(appendPacked(nil, vals, w), make([]byte, overread)...)
			sum := uint64(r.Uint32())
			next := unpackSums(got, packed, w, uint32(sum))
			for i, v := range vals {
				sum += uint64(v)
				if got[i] != uint32(sum) || packedAt(packed, i, w) != v {
					t.Fatalf("width %d: number %d is %d, not %d; packed %d, not %d", w, i, got[i], uint32(sum), packedAt(packed, i, w), v)
				}
				sum++
			}
			if next != sum {
				t.Fatalf("width %d: the next would be %d, not %d", w, next, sum)
			}
		}
	}
}
