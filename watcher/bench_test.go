package watcher

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// applyAll ends batches as fast as they come, until ctx ends.
func applyAll(ctx context.Context, w *Watcher) {
	for {
		b, err := w.Next(ctx)
		if err != nil {
			return
		}
		w.Done(b)
	}
}

// BenchmarkScan scans 500 directories of 20 files.
func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	for d := range 500 {
		dir := fmt.Sprintf("%s/%d/%d", root, d%25, d)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(fmt.Sprintf("%s/%d.txt", dir, f), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		w, err := New(Options{CookieDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		go applyAll(ctx, w)
		if err := w.SetRoots([]Root{{Path: root}}); err != nil {
			b.Fatal(err)
		}
		if err := w.Sync(ctx); err != nil {
			b.Fatal(err)
		}
		cancel()
		w.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10000, "µs/file")
}

// BenchmarkSync is the time from a write to its being applied.
func BenchmarkSync(b *testing.B) {
	root := b.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w, err := New(Options{CookieDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	go applyAll(ctx, w)
	if err := w.SetRoots([]Root{{Path: root}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := os.WriteFile(root+"/f", []byte("x"), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := w.Sync(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
