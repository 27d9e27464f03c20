package index

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"quern/index/analysis"
	"quern/index/chunk"
)

// The macro-benchmark is a test that runs only when it is given passages:
//
//	go test -run TestMacro -v -macro corpus.txt -queries queries.txt ./index
var (
	macroCorpus   = flag.String("macro", "", "file of passages, one a line")
	macroQueries  = flag.String("queries", "", "file of queries, one a line")
	macroPassages = flag.Int("passages", 100_000, "how many passages to index")
	macroDir      = flag.String("index", "", "directory that keeps the index; if one is there it is only asked")
	macroRounds   = flag.Int("rounds", 5, "how often each query is asked")
)

// passagesPerFile is how many passages make a document of the benchmark.
const passagesPerFile = 20

// macro is a run of the benchmark.
type macro struct {
	*testing.T
	e       *Engine
	threads int // 1 while it is built; 0, for all, when it was opened again
	dir     string
	file    *os.File
	docs    [][2]int64 // where each document's lines are in file
	text    int64
}

func TestMacro(t *testing.T) {
	if *macroCorpus == "" {
		t.Skip("no -macro")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as the daemon does
	m := &macro{T: t, dir: *macroDir, threads: 1}
	if m.dir == "" {
		m.dir = t.TempDir()
	}
	if _, err := os.Stat(filepath.Join(m.dir, manifestName)); err == nil {
		m.reopen()
		m.query("after opening")
		must(t, m.e.Close())
		return
	}
	m.read()
	m.build()
	m.query("after building")
	m.update()
	must(t, m.e.Close())
	m.docs, m.threads = nil, 0
	m.reopen()
	m.query("after opening")
	must(t, m.e.Close())
}

// read finds the documents. Their text stays in the file.
func (m *macro) read() {
	var err error
	m.file, err = os.Open(*macroCorpus)
	must(m, err)
	m.Cleanup(func() { m.file.Close() })
	lines := bufio.NewScanner(m.file)
	lines.Buffer(nil, 1<<20)
	at := int64(0)
	for n := 0; n < *macroPassages && lines.Scan(); n++ {
		if n%passagesPerFile == 0 {
			m.docs = append(m.docs, [2]int64{at, at})
		}
		at += int64(len(lines.Bytes())) + 1
		m.docs[len(m.docs)-1][1] = at
	}
	m.text = at
}

// lines are the passages of document i.
func (m *macro) lines(i int) []string {
	b := make([]byte, m.docs[i][1]-m.docs[i][0])
	_, err := m.file.ReadAt(b, m.docs[i][0])
	must(m, err)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func (m *macro) options() Options {
	return Options{
		Chunk:    chunk.Options{Strategy: chunk.Paragraph, MinWords: 1, MaxWords: 1000, Overlap: 0},
		Analysis: analysis.Options{Tokenizer: "plain", Stopwords: "none", Stemmer: "none", MinLength: 1},
		Threads:  m.threads, Dir: m.dir,
	}
}

func (m *macro) change(i int, lines []string) Change {
	return putText(fmt.Sprintf("/corpus/%07d.txt", i), strings.Join(lines, "\n\n"))
}

func (m *macro) build() {
	var err error
	before := rssAnon()
	m.e, err = Open(m.options())
	must(m, err)
	start, cpu, peak := time.Now(), cpuSeconds(), 0.0
	var batch []Change
	for i := range m.docs {
		batch = append(batch, m.change(i, m.lines(i)))
		if len(batch) == 64 || i == len(m.docs)-1 {
			apply(m, m.e, batch...)
			batch = nil
			peak = max(peak, rssAnon()-before)
		}
	}
	must(m, m.e.Flush(m.Context()))
	wall, used := time.Since(start), cpuSeconds()-cpu
	start, cpu = time.Now(), cpuSeconds()
	must(m, m.e.refine(m.Context()))
	for more := true; more; {
		more, err = m.e.mergeDisk(m.Context())
		must(m, err)
	}
	must(m, m.e.Flush(m.Context()))
	s := m.e.Snapshot().Stats()
	m.Logf("built %d passages, %d documents, %d terms, %.1f MB of text", s.Passages, s.Documents, s.Terms, mb(m.text))
	m.Logf("wall %.1f s, cpu %.1f s: %.0f passages a CPU second; then merging and refining %.1f s, cpu %.1f s",
		wall.Seconds(), used, float64(s.Passages)/used, time.Since(start).Seconds(), cpuSeconds()-cpu)
	m.Logf("peak anonymous memory %.0f MB beside the corpus; on disk %.1f MB, %.3f of the text, %d segments",
		peak, mb(s.DiskBytes), float64(s.DiskBytes)/float64(m.text), s.Segments)
	m.sections()
}

// sections says what takes the room on disk.
func (m *macro) sections() {
	sums := map[string]int64{}
	for i := range m.e.Snapshot().views {
		for name, n := range m.e.Snapshot().views[i].Sections() {
			sums[name] += n
		}
	}
	names := []string{}
	for n := range sums {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return int(sums[b] - sums[a]) })
	for _, n := range names {
		m.Logf("    %-14s %8.2f MB %.3f", n, mb(sums[n]), float64(sums[n])/float64(m.text))
	}
}

func mb(n int64) float64 { return float64(n) / 1e6 }

func (m *macro) query(when string) {
	queries, err := os.ReadFile(*macroQueries)
	if err != nil {
		m.Logf("no queries: %v", err)
		return
	}
	list := strings.Split(strings.TrimSpace(string(queries)), "\n")
	collapsed := cosine
	collapsed.CollapseDocument = true
	for _, c := range []struct {
		name string
		o    SearchOptions
	}{{"tf-idf", cosine}, {"bm25", bm25}, {"collapsed", collapsed}} {
		m.ask(when+": first "+c.name, list, c.o, 1)
		m.ask(when+": "+c.name, list, c.o, *macroRounds)
	}
}

// ask asks all queries so many times.
func (m *macro) ask(what string, list []string, o SearchOptions, rounds int) {
	var times, best []time.Duration
	for round := range rounds {
		for i, q := range list {
			start := time.Now()
			search(m, m.e.Snapshot(), q, o)
			took := time.Since(start)
			if times = append(times, took); round == 0 {
				best = append(best, took)
			}
			best[i] = min(best[i], took)
		}
	}
	slices.Sort(times)
	slices.Sort(best)
	at := func(times []time.Duration, p int) float64 {
		return float64(times[p*(len(times)-1)/100].Nanoseconds()) / 1e3
	}
	m.Logf("%s µs p10 %.0f p50 %.0f p90 %.0f p99 %.0f; best of %d p50 %.0f p99 %.0f", what,
		at(times, 10), at(times, 50), at(times, 90), at(times, 99), rounds, at(best, 50), at(best, 99))
}

func (m *macro) update() {
	r := rand.New(rand.NewPCG(1, 1))
	var seen, durable, edits []time.Duration
	cpu := cpuSeconds()
	for range 200 {
		i := r.IntN(len(m.docs))
		one := m.lines(r.IntN(len(m.docs)))
		seen = append(seen, m.timed(func() { apply(m, m.e, m.change(i, one)) }))
		one[r.IntN(len(one))] += " changed"
		edits = append(edits, m.timed(func() { apply(m, m.e, m.change(i, one)) }))
	}
	m.Logf("200 files replaced and edited: cpu %.2f ms each", (cpuSeconds()-cpu)*1e3/400)
	durable = append(durable, m.timed(func() { must(m, m.e.Flush(m.Context())) }))
	m.show("replace a file of 20 passages, searchable", seen)
	m.show("edit one passage of 20, searchable", edits)
	m.show("commit of all these", durable)
}

func (m *macro) timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func (m *macro) show(what string, times []time.Duration) {
	slices.Sort(times)
	at := func(p int) float64 { return float64(times[p*(len(times)-1)/100].Nanoseconds()) / 1e6 }
	m.Logf("%s: ms p50 %.2f p99 %.2f", what, at(50), at(99))
}

func (m *macro) reopen() {
	runtime.GC()
	debug.FreeOSMemory()
	before := rssAnon()
	for range 3 {
		var err error
		d := m.timed(func() { m.e, err = Open(m.options()) })
		must(m, err)
		m.Logf("open %.1f ms, drift %.3f", d.Seconds()*1e3, m.e.Snapshot().drift)
		must(m, m.e.Close())
	}
	var err error
	m.e, err = Open(m.options())
	must(m, err)
	runtime.GC()
	debug.FreeOSMemory()
	m.Logf("idle anonymous memory %.1f MB more than without an index (%.1f in all)", rssAnon()-before, rssAnon())
}

// rssAnon is the anonymous memory of the process in MB; 0 where there is no
// /proc.
func rssAnon() float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(b)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "RssAnon: %f kB", &kb); err == nil {
			return kb / 1e3
		}
	}
	return 0
}
