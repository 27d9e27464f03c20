// Command watch does for scripts/bench-watch.sh what a shell is too slow for: it
// makes trees of files, and measures how long a saved file takes to be found.
//
//	watch -make DIR -dirs N -files N      files of one paragraph, spread over directories
//	watch -latency SOCKET -in DIR -n N    quantiles in milliseconds, as name=value lines
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("watch: ")
	make := flag.String("make", "", "make a tree in this directory")
	dirs := flag.Int("dirs", 1, "directories of the tree, ten in each")
	files := flag.Int("files", 1, "files of the tree")
	latency := flag.String("latency", "", "measure with the daemon at this socket")
	in := flag.String("in", "", "save files in this directory")
	n := flag.Int("n", 100, "files to save, one after the other")
	busy := flag.Bool("busy", false, "stop when the daemon has nothing else to do any more")
	limit := flag.Duration("limit", time.Minute, "the longest wait for one")
	flag.Parse()
	var err error
	switch {
	case *make != "":
		err = tree(*make, *dirs, *files)
	case *latency != "" && *in != "":
		err = latencies(*latency, *in, *n, *busy, *limit)
	default:
		err = errors.New("nothing to do: give -make or -latency with -in")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// tree makes directories, each with up to ten others in it, and spreads files of a
// few words over them.
func tree(root string, dirs, files int) error {
	paths := []string{root}
	for i := 0; len(paths) < dirs; i++ {
		paths = append(paths, filepath.Join(paths[i/10], strconv.Itoa(i%10)))
	}
	for _, p := range paths {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return err
		}
	}
	for i := range files {
		text := fmt.Sprintf("billing refunds plan%d card%d renew%d monthly\n", i%97, i%1009, i)
		if err := os.WriteFile(filepath.Join(paths[i%len(paths)], fmt.Sprintf("f%d.txt", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// latencies saves files one after the other, each when the last was found, and
// asks without sync until it is.
func latencies(socket, dir string, n int, busy bool, limit time.Duration) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	replies := bufio.NewReader(conn)
	times := make([]float64, 0, n)
	for i := range n {
		word := fmt.Sprintf("latency%dx%d", os.Getpid(), i)
		if err := os.WriteFile(filepath.Join(dir, word+".txt"), []byte(word+"\n"), 0o600); err != nil {
			return err
		}
		took, pending, err := untilFound(conn, replies, word, limit)
		if err != nil {
			return err
		}
		times = append(times, took.Seconds()*1000)
		if busy && i >= 5 && pending == 0 {
			break
		}
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[min(len(times)-1, int(q*float64(len(times))))] }
	fmt.Printf("n=%d\np50=%.0f\np99=%.0f\nmax=%.0f\n", len(times), at(0.5), at(0.99), at(1))
	return nil
}

func untilFound(conn net.Conn, replies *bufio.Reader, word string, limit time.Duration) (took time.Duration, pending int, err error) {
	start := time.Now()
	for time.Since(start) < limit {
		if _, err := fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":%q,"k":1}}`+"\n", word); err != nil {
			return 0, 0, err
		}
		line, err := replies.ReadBytes('\n')
		if err != nil {
			return 0, 0, err
		}
		var reply struct {
			Result struct {
				Hits    []json.RawMessage
				Pending int
			}
			Error json.RawMessage
		}
		if err := json.Unmarshal(line, &reply); err != nil || reply.Error != nil {
			return 0, 0, fmt.Errorf("%s (%v)", line, err)
		}
		if len(reply.Result.Hits) > 0 {
			return time.Since(start), reply.Result.Pending, nil
		}
		time.Sleep(time.Millisecond)
	}
	return 0, 0, fmt.Errorf("%s is not found within %v", word, limit)
}
