package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"quern/index/segment/vfs"
)

// benchFiles is a corpus of about 42 MB, 9,000 files, 80,000 passages.
var benchFiles = sync.OnceValue(func() []Change { return newCorpus(1).files(9000, 780) })

// closeBench closes benchEngine, if it was made.
var closeBench = func() {}

// benchEngine is an index of it, made once.
var benchEngine = sync.OnceValue(func() *Engine {
	e, err := Open(plainOptions())
	if err != nil {
		panic(err)
	}
	closeBench = func() { _ = e.Close() }
	if _, err := e.Apply(context.Background(), benchFiles()); err != nil {
		panic(err)
	}
	settle(e)
	return e
})

// settle does all background work.
func settle(e *Engine) {
	if err := errors.Join(e.mergeAll(context.Background()), e.refine(context.Background())); err != nil {
		panic(err)
	}
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// BenchmarkFirstIndex indexes all files, a hundred a batch.
func BenchmarkFirstIndex(b *testing.B) {
	files := benchFiles()
	b.SetBytes(bytesOf(files))
	for b.Loop() {
		e := openEngine(b, plainOptions())
		for batch := range slices.Chunk(files, 100) {
			apply(b, e, batch...)
		}
		settle(e)
		b.ReportMetric(float64(e.Snapshot().Stats().Passages), "passages")
	}
}

// BenchmarkHeap reports the heap that holds the index, text included.
func BenchmarkHeap(b *testing.B) {
	for b.Loop() {
		e := benchEngine()
		b.ReportMetric(heap(), "heap-MB")
		s := e.Snapshot().Stats()
		b.ReportMetric(float64(s.Bytes)/1e6, "estimate-MB")
		b.ReportMetric(float64(s.Passages), "passages")
		b.ReportMetric(float64(s.Terms), "terms")
	}
}

// BenchmarkUpdate changes one passage of a file, and then all of it.
func BenchmarkUpdate(b *testing.B) {
	e := benchEngine()
	c := newCorpus(2)
	fixed := c.text(1500)
	for _, bench := range []struct {
		name string
		text func(i int) string
	}{
		{"passage", func(i int) string { return fmt.Sprintf("new%d %s", i, fixed) }},
		{"file", func(int) string { return c.text(1500) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				change := putText("/zipf/one.txt", bench.text(i))
				start := time.Now()
				apply(b, e, change)
				times = append(times, time.Since(start))
			}
			report(b, times)
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	e := benchEngine()
	raw := cosine
	raw.TF = RawTF
	collapsed := cosine
	collapsed.CollapseDocument = true
	for _, bench := range []struct {
		name string
		o    SearchOptions
	}{{"tfidf", cosine}, {"raw", raw}, {"collapsed", collapsed}, {"bm25", bm25}} {
		b.Run(bench.name, func(b *testing.B) {
			c := newCorpus(3)
			var times []time.Duration
			for b.Loop() {
				q := c.query()
				start := time.Now()
				search(b, e.Snapshot(), q, bench.o)
				times = append(times, time.Since(start))
			}
			report(b, times)
		})
	}
}

// report adds the median and the 99th percentile.
func report(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	at := func(p int) float64 { return float64(times[p*(len(times)-1)/100].Microseconds()) }
	b.ReportMetric(at(50), "p50-µs")
	b.ReportMetric(at(99), "p99-µs")
}

// BenchmarkOpen opens the index of benchFiles as it lies on disk.
func BenchmarkOpen(b *testing.B) {
	o := plainOptions()
	o.FS, o.CommitEvery = vfs.NewMem(), time.Hour
	e := openEngine(b, o)
	for batch := range slices.Chunk(benchFiles(), 500) {
		apply(b, e, batch...)
	}
	must(b, e.refine(b.Context()))
	must(b, e.Close())
	for b.Loop() {
		e, err := Open(o)
		must(b, err)
		b.StopTimer()
		must(b, e.Close())
		b.StartTimer()
	}
	b.ReportMetric(float64(e.Snapshot().Stats().Passages), "passages")
	b.ReportMetric(float64(e.Snapshot().Stats().Terms), "terms")
}
