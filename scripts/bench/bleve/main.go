// Command bleve is the small HTTP server that scripts/bench-socket.sh compares Quern
// with: bleve over the passages of a folder, on a Unix socket.
//
//	bleve FOLDER INDEX SOCKET
//
// It answers GET /v1/search?q=…&k=… with the hits and their text, and indexes one
// file anew every 100 ms meanwhile.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2"
)

type passage struct {
	Text string `json:"text"`
}

// add puts a file's passages into the batch.
func add(b *bleve.Batch, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, p := range bytes.Split(bytes.TrimSpace(data), []byte("\n\n")) {
		if err := b.Index(fmt.Sprintf("%s#%d", path, i), passage{string(p)}); err != nil {
			return err
		}
	}
	return nil
}

func build(folder string, index bleve.Index) (paths []string, err error) {
	batch := index.NewBatch()
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		paths = append(paths, path)
		if err := add(batch, path); err != nil || batch.Size() < 2000 {
			return err
		}
		err = index.Batch(batch)
		batch.Reset()
		return err
	})
	if err == nil {
		err = index.Batch(batch)
	}
	return paths, err
}

// update goes on until the program ends.
func update(index bleve.Index, paths []string) {
	for {
		time.Sleep(100 * time.Millisecond)
		batch := index.NewBatch()
		if add(batch, paths[rand.IntN(len(paths))]) == nil {
			if err := index.Batch(batch); err != nil {
				log.Print(err)
			}
		}
	}
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: bleve FOLDER INDEX SOCKET")
	}
	index, err := bleve.New(os.Args[2], bleve.NewIndexMapping())
	if err != nil {
		log.Fatal(err)
	}
	paths, err := build(os.Args[1], index)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("unix", os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	go update(index, paths)
	http.HandleFunc("GET /v1/search", func(w http.ResponseWriter, r *http.Request) {
		k, _ := strconv.Atoi(r.URL.Query().Get("k"))
		req := bleve.NewSearchRequestOptions(bleve.NewMatchQuery(r.URL.Query().Get("q")), k, 0, false)
		req.Fields = []string{"text"}
		res, err := index.SearchInContext(r.Context(), req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if err := json.NewEncoder(w).Encode(res); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.Serve(l, nil))
}
