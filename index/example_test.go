package index_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"quern/index"
	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
)

func ExampleEngine() {
	engine, err := index.Open(index.Options{Chunk: chunk.Default(), Analysis: analysis.Default()})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	put := func(path, text string) index.Change {
		content, err := extract.Extract(path, []byte(text))
		if err != nil {
			log.Fatal(err)
		}
		return index.Change{Put: &index.Document{Path: path, Content: content}}
	}
	ctx := context.Background()
	_, err = engine.Apply(ctx, []index.Change{
		put("/help/refunds.txt", "Refunds go back to the original card after billing approves them."),
		put("/help/plans.txt", "Billing plans renew each year."),
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := engine.Snapshot().Search(ctx, "refunded billing", index.SearchOptions{K: 10, Text: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		fmt.Printf("%.3f %s#%d %v\n", hit.Score, hit.Document.Path, hit.N, hit.Highlights)
	}
	// Output:
	// 0.379 /help/refunds.txt#0 [[0 7] [43 50]]
	// 0.194 /help/plans.txt#0 [[0 7]]
}

// An index in a directory is there again when it is opened next.
func ExampleOpen_directory() {
	dir, err := os.MkdirTemp("", "quern")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	options := index.Options{
		Chunk: chunk.Default(), Analysis: analysis.Default(), Dir: dir,
		OnDamage: func(err error) { log.Print(err) }, // compare Documents with the files and put what is missing
	}
	engine, err := index.Open(options)
	if err != nil {
		log.Fatal(err)
	}
	content, err := extract.Extract("/help/plans.txt", []byte("Billing plans renew each year."))
	if err != nil {
		log.Fatal(err)
	}
	put := index.Change{Put: &index.Document{Path: "/help/plans.txt", Fingerprint: "inode 12", Content: content}}
	if _, err := engine.Apply(context.Background(), []index.Change{put}); err != nil {
		log.Fatal(err)
	}
	if err := engine.Close(); err != nil { // makes it durable
		log.Fatal(err)
	}

	if engine, err = index.Open(options); err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	for d := range engine.Snapshot().Documents() {
		fmt.Println(d.Path, d.Fingerprint, d.Passages)
	}
	// Output:
	// /help/plans.txt inode 12 1
}
