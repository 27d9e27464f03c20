// Command socketload writes a synthetic corpus, and asks a search server on a Unix
// socket from many connections at once; scripts/bench-socket.sh runs it.
//
//	socketload gen DIR PASSAGES       files of ten passages of 80 words each
//	socketload run [flags] SOCKET     queries a second, and the times of answers
//
// Every connection sends a query when the last is answered. The words of corpus
// and queries are Zipf-distributed, the same in every run.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	vocabulary   = 100_000
	filePassages = 10
	passageWords = 80
)

type zipf struct{ *rand.Rand }

func (z zipf) word() string {
	rank := int(math.Exp(z.Float64()*math.Log(vocabulary))) - 1
	return fmt.Sprintf("w%05x", rank*7919%vocabulary)
}

func (z zipf) words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = z.word()
	}
	return strings.Join(out, " ")
}

func (z zipf) file() []byte {
	var b bytes.Buffer
	for range filePassages {
		b.WriteString(z.words(passageWords) + "\n\n")
	}
	return b.Bytes()
}

func fileName(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("d%02d", i%100), fmt.Sprintf("f%d.txt", i))
}

func generate(dir string, passages int) error {
	z := zipf{rand.New(rand.NewPCG(1, 1))}
	for i := range passages / filePassages {
		name := fileName(dir, i)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, z.file(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 4 && os.Args[1] == "gen" {
		n, err := strconv.Atoi(os.Args[3])
		if err == nil {
			err = generate(os.Args[2], n)
		}
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	if len(os.Args) < 3 || os.Args[1] != "run" {
		log.Fatal("usage: socketload gen DIR PASSAGES | socketload run [flags] SOCKET")
	}
	run(os.Args[2:])
}

func run(args []string) {
	f := flag.NewFlagSet("run", flag.ExitOnError)
	name := f.String("name", "server", "the first column")
	proto := f.String("proto", "lines", "lines or http")
	conns := f.String("conns", "1,64,1000", "numbers of connections")
	seconds := f.Float64("seconds", 5, "for each number")
	edit := f.String("edit", "", "a corpus of which one file is written anew every 100 ms meanwhile")
	passages := f.Int("passages", 0, "passages of that corpus")
	pid := f.Int("pid", 0, "the server, whose memory is told")
	stalled := f.Int("stalled", 0, "further connections that send 64 requests for large answers and read nothing")
	_ = f.Parse(args)
	socket := f.Arg(0)
	if *edit != "" {
		go editFiles(*edit, *passages/filePassages)
	}
	for range *stalled {
		if err := stall(socket); err != nil {
			log.Fatal(err)
		}
	}
	for _, n := range strings.Split(*conns, ",") {
		n, err := strconv.Atoi(n)
		if err != nil {
			log.Fatal(err)
		}
		times, failed := load(socket, *proto, n, time.Duration(*seconds*float64(time.Second)))
		if len(times) == 0 {
			log.Fatalf("%s: no answer at all, %d errors", *name, failed)
		}
		slices.Sort(times)
		at := func(q float64) float64 {
			return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1000
		}
		fmt.Printf("| %s | %d | %.0f | %.2f | %.2f | %d | %d |\n", *name, n, float64(len(times)) / *seconds, at(.5), at(.99), failed, resident(*pid))
	}
}

// editFiles goes on until the program ends.
func editFiles(dir string, files int) {
	z := zipf{rand.New(rand.NewPCG(3, 3))}
	for {
		// A file that cannot be written shows as a server without work.
		_ = os.WriteFile(fileName(dir, z.IntN(files)), z.file(), 0o600)
		time.Sleep(100 * time.Millisecond)
	}
}

// stall leaves a connection open that reads nothing.
func stall(socket string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	z := zipf{rand.New(rand.NewPCG(9, 9))}
	go func() { // ends with the program
		for i := range 64 {
			_, _ = fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%d,"method":"search","params":{"query":%q,"k":100}}`+"\n", i, z.words(4))
		}
	}()
	return nil
}

// load asks from n connections for so long.
func load(socket, proto string, n int, length time.Duration) (times []time.Duration, failed int64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var errs atomic.Int64
	end := time.Now().Add(length)
	for i := range n {
		wg.Go(func() {
			z := zipf{rand.New(rand.NewPCG(uint64(i), 7))}
			ask, done, err := dial(socket, proto)
			if err != nil {
				errs.Add(1)
				return
			}
			defer done()
			var own []time.Duration
			for time.Now().Before(end) {
				query, start := z.words(1+z.IntN(4)), time.Now()
				if err := ask(query); err != nil {
					errs.Add(1)
					return
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	wg.Wait()
	return times, errs.Load()
}

// dial connects and returns what asks one query.
func dial(socket, proto string) (ask func(string) error, done func(), err error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(c, 64<<10)
	ask = func(query string) error {
		_, err := fmt.Fprintf(c, `{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":%q,"k":10}}`+"\n", query)
		if err != nil {
			return err
		}
		line, err := r.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			_, err = r.ReadSlice('\n')
		}
		if bytes.Contains(line, []byte(`"error"`)) {
			return fmt.Errorf("%.200s", line)
		}
		return err
	}
	if proto == "http" {
		ask = func(query string) error {
			_, err := fmt.Fprintf(c, "GET /v1/search?k=10&q=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", url.QueryEscape(query))
			if err != nil {
				return err
			}
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
				return fmt.Errorf("status %d: %v", resp.StatusCode, err)
			}
			return nil
		}
	}
	return ask, func() { _ = c.Close() }, nil
}

// resident is a process's memory in MiB, as Linux tells it.
func resident(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() >> 20
}
