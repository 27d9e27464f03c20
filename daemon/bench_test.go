package daemon_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quern/ipc"
)

// corpusFiles and corpusWords give about 42 MB of text: 9,000 files of 800 words.
const (
	corpusFiles = 9000
	corpusWords = 800
	vocabulary  = 100_000
)

// zipf draws words as they occur in natural text: the n-th most frequent has a
// frequency of about 1/n.
type zipf struct {
	r *rand.Rand
}

func (z zipf) word() string {
	rank := int(math.Exp(z.r.Float64()*math.Log(vocabulary))) - 1
	return fmt.Sprintf("w%05x", rank*7919%vocabulary)
}

func (z zipf) text(words int) string {
	var b strings.Builder
	for i := range words {
		b.WriteString(z.word())
		if i%80 == 79 {
			b.WriteString("\n\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// corpus writes the benchmark's files. QUERN_BENCH_FOLDER names a folder of real
// text to be used instead.
func corpus(b *testing.B) string {
	b.Helper()
	if folder := os.Getenv("QUERN_BENCH_FOLDER"); folder != "" {
		return folder
	}
	dir := b.TempDir()
	z := zipf{rand.New(rand.NewPCG(1, 1))}
	for i := range corpusFiles {
		sub := filepath.Join(dir, fmt.Sprint("d", i%90))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.txt", i)), []byte(z.text(corpusWords)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// BenchmarkDaemon measures the first index of a whole corpus, a search over the
// socket, and the time from a write to the answer that sees it.
func BenchmarkDaemon(b *testing.B) {
	notes := corpus(b)
	dir := shortDir(b)
	start := time.Now()
	h := startOn(b, dir, notes, "[[folder]]\npath = \""+notes+"\"\n")
	h.sync()
	first := time.Since(start)
	s := call[ipc.StatusResult](h, ipc.MethodStatus, ipc.StatusParams{})
	b.Logf("first index: %v for %d files, %d passages, %d terms; resident %d MiB",
		first.Round(time.Millisecond), s.Files.Indexed, s.Passages, s.Terms, s.Memory>>20)
	queries := sampleQueries(b, notes)
	for _, model := range []string{"tfidf", "bm25"} {
		b.Run("search/"+model, func(b *testing.B) { benchSearch(b, h, queries, model) })
	}
	b.Run("write-search", func(b *testing.B) { benchFresh(b, h) })
}

func benchSearch(b *testing.B, h *harness, queries []string, model string) {
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		q := queries[len(times)%len(queries)]
		begin := time.Now()
		var r ipc.SearchResult
		if err := h.client.Call(context.Background(), ipc.MethodSearch, ipc.SearchParams{Query: q, Model: model}, &r); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin))
	}
	quantiles(b, times)
}

func benchFresh(b *testing.B, h *harness) {
	var times []time.Duration
	dir := b.TempDir()
	call[ipc.FoldersResult](h, ipc.MethodFoldersAdd, ipc.FolderParams{Path: dir, Temporary: true})
	h.sync()
	for b.Loop() {
		word := fmt.Sprint("fresh", len(times))
		begin := time.Now()
		if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("the "+word+" word"), 0o600); err != nil {
			b.Fatal(err)
		}
		if r := h.search(word); len(r.Hits) != 1 {
			b.Fatalf("%s is not found", word)
		}
		times = append(times, time.Since(begin))
	}
	quantiles(b, times)
}

func quantiles(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	for name, q := range map[string]float64{"p50-µs": .5, "p99-µs": .99} {
		b.ReportMetric(float64(times[int(q*float64(len(times)-1))].Microseconds()), name)
	}
}

// sampleQueries takes one to six words from one place of the corpus each.
func sampleQueries(b *testing.B, notes string) []string {
	b.Helper()
	var files []string
	_ = filepath.WalkDir(notes, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	r := rand.New(rand.NewPCG(2, 2))
	var out []string
	for len(out) < 300 {
		data, err := os.ReadFile(files[r.IntN(len(files))])
		words := strings.Fields(string(data))
		if err != nil || len(words) < 10 {
			continue
		}
		at := r.IntN(len(words) - 6)
		out = append(out, strings.ToValidUTF8(strings.Join(words[at:at+1+r.IntN(6)], " "), ""))
	}
	return out
}
