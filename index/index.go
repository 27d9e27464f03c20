// Package index is the engine: changed documents go in with Apply, queries are
// answered from an immutable Snapshot. Answers are exact: whatever the history
// of changes, they are bit for bit those of a fresh index of the same
// documents.
//
// Passages lie in immutable segments (package segment), in memory at first and
// then in files (store.go, manifest.go, load.go), which the background merges
// (loops.go, merge.go). What changes about a passage, and the df of every term,
// are kept beside them in copy-on-write pages (pages.go), so that a new snapshot
// costs what has changed. A batch is planned (plan.go), its new passages are
// analysed and made into a segment (prepare.go), and it is committed
// (commit.go). Norms, which every change moves, are kept approximately, with a
// proof of how far off they are (drift.go, norms.go); a search finds by them the
// few passages that may be among the best, and computes those exactly
// (search.go, visit.go, choose.go, exact.go), passing by the blocks of passages
// that cannot hold any (prune.go, list.go, block.go). A damaged file is set aside
// (damage.go, aside.go), a removed directory written again (keep.go).
package index

import (
	"errors"
	"log/slog"
	"time"

	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
	"quern/index/segment"
	"quern/index/segment/vfs"
)

// ErrNotFound is returned for a document or passage that is not in the index.
var ErrNotFound = errors.New("not in the index")

// Options configure an Engine. They decide what the index holds: an engine
// with other options gives other answers.
type Options struct {
	Chunk    chunk.Options
	Analysis analysis.Options
	// HeadingTerms makes the words of a passage's heading path count as
	// terms of the passage.
	HeadingTerms bool
	// Threads bounds the goroutines that analyse one batch, and those that
	// answer one search if it is much work; 0 means the number of CPUs.
	Threads int
	Log     *slog.Logger

	// Dir is the data directory, made if it is not there. Without it, and
	// without FS, the index lives in memory and ends with the engine.
	Dir string
	// FS is used instead of Dir if it is set.
	FS vfs.FS
	// MemoryBudget bounds, in bytes, what is held in memory before it is
	// written to disk; 0 means 64 MiB.
	MemoryBudget int64
	// CommitEvery is how long a change may wait before it is made durable;
	// 0 means 2 seconds. A sixteenth of PurgeAfter is the most.
	CommitEvery time.Duration
	// PurgeAfter is the time by which the text of a document that is gone
	// is gone from the disk, too; 0 means one hour.
	PurgeAfter time.Duration
	// Embedder makes the vectors of Hybrid; nil: they are learned from the index
	// itself.
	Embedder Embedder
	// Run, if set, does work of Apply that is spread over several goroutines: it
	// calls its argument, once, and returns when that has returned. It is for those
	// who want it done at another priority.
	Run func(work func())
	// OnDamage, if set, is told of each damaged file that was set aside,
	// from any goroutine: documents are missing and must be put again.
	OnDamage func(error)

	// What tests set to have small indexes pruned.
	maxima   segment.Maxima
	visitAll int
	// What tests set to have few passages checked late, or sought one by one.
	eagerChecks, selectiveShare int
}

// Document is one file as read. Path identifies it and breaks ties.
type Document struct {
	Path     string // absolute
	Folder   string // name of its folder
	Rel      string // within the folder, slash-separated
	Modified time.Time
	Size     int64 // bytes of the file
	// Fingerprint is the caller's own note of how the file looked, such as
	// its device, inode and change time. It is kept as it is.
	Fingerprint string
	Content     *extract.Document
}

// Change is one change to the set of documents. Exactly one of Put, Remove and
// Move is set.
type Change struct {
	// Put adds the document, or replaces the one at its path.
	Put *Document
	// Remove is the path of a document to remove; one that is not there is
	// no error.
	Remove string
	// Move renames a document; nothing of it is read or analysed again.
	Move *Move
}

// Move says that the document at From is now the one described by To, whose
// Content is nil. A document already at To.Path is replaced. Type, title and what
// else its content says stay: a document whose new name makes it another format must be put anew.
type Move struct {
	From string
	To   Document
}

// Model names a ranking model.
type Model string

// Models.
const (
	TFIDF Model = "tfidf"
	BM25  Model = "bm25"
	Best  Model = "best" // see best.go
)

// TF names how often-repeated terms are weighted by TF-IDF.
type TF string

// Term frequency weightings: 1 + ln tf, and tf itself.
const (
	LogTF TF = "log"
	RawTF TF = "raw"
)

// SearchOptions choose the model and the hits.
type SearchOptions struct {
	// K is how many hits to return, after skipping Offset; K ≤ 0 returns none.
	K, Offset int
	Model     Model
	TF        TF      // TFIDF only
	K1, B     float64 // BM25 only
	// CollapseDocument keeps each document's best passage.
	CollapseDocument bool
	// Lexical is the lexical model of Hybrid; "" means Best. Weight is that of the
	// cosine; 0 means DefaultHybridWeight.
	Lexical Model
	Weight  float64
	// Keep, if set, is asked for each document that holds a hit; it changes
	// no score.
	Keep func(*DocumentInfo) bool
	// Count has Result.Total counted exactly, however many hits there are.
	Count bool
	// Text adds each hit's text, highlights and snippet.
	Text bool
	// FoldDuplicates puts hits that are nearly the same text as a better one
	// under it, and goes on to further hits until there are K. Total counts
	// them all.
	FoldDuplicates bool
}

// DocumentInfo is what the index knows of a document.
type DocumentInfo struct {
	Path, Folder, Rel, Type, Title string
	Modified                       time.Time
	Size                           int64
	Passages                       int
	Fingerprint                    string
	// Author, Date, Extracted and Truncated are those of extract.Document.
	Author    string
	Date      time.Time
	Extracted bool
	Truncated string
}

// Result is the answer to a query.
type Result struct {
	Generation uint64
	Passages   int // N
	Total      int // hits after Keep and collapsing
	// TotalAtLeast says that there may be more hits than Total: the search
	// passed by passages that could not be among those wanted.
	TotalAtLeast bool
	// Lost says that the search met a damaged file: it is answered from what is
	// left, and documents that will be put again (see Options.OnDamage) may be
	// missing.
	Lost bool
	// Degraded is why a hybrid search had no vectors, or "".
	Degraded string
	Hits     []Hit
}

// Hit is a passage found.
type Hit struct {
	Score    float64
	Document *DocumentInfo
	Passage
	// Highlights are half-open byte offsets in Text of the words whose term
	// the query has, and of its phrases. Snippet is the part that has the most
	// of them; it is empty if there are none.
	Highlights [][2]int
	Snippet    [2]int
	// Duplicates are hits of nearly the same text, if they are folded.
	Duplicates []Duplicate
}

// Duplicate is a hit that is folded into another.
type Duplicate struct {
	Document *DocumentInfo
	N        int
	Lines    [2]int
}

// Passage is a span of a document as indexed.
type Passage struct {
	N       int // number within the document, from 0
	Lines   [2]int
	Bytes   [2]int
	Heading []string
	Page    int    // from 1; 0 where the format has none
	Length  int    // |p| in terms
	Text    string // UTF-8, \n line ends
}

// Explanation accounts for a score: the contributions, added in order, are it.
type Explanation struct {
	Model                  Model
	Lexical                Model // of Hybrid; "" for the others
	TF                     TF
	Score                  float64
	Passages               int
	QueryNorm, PassageNorm float64 // TFIDF
	Length                 int
	AverageLength          float64 // BM25
	K1, B                  float64 // BM25
	Terms                  []TermExplanation
	Dropped                []string // query terms that no passage contains
	Hybrid                 *HybridExplanation
	// Demands are what the query asks of a passage besides its score. One that
	// does not meet them all is no hit.
	Demands []DemandExplanation
	// For Best: whether the passage was looked at closely, and what was added for
	// it, in the order of adding.
	Closely bool
	Bonuses []BonusExplanation
}

// DemandExplanation says of a part of the query whether the passage meets it.
type DemandExplanation struct {
	Clause string
	Met    bool
}

// TermExplanation is one query term's part in a score.
type TermExplanation struct {
	Term            string
	QueryTF, TF, DF int
	// From are the prefixes and fuzzy words that the term is an expansion
	// of, and Boost, if it is not 1, what its weight in the query was
	// multiplied by.
	From  []string
	Boost float64
	IDF   float64
	// QueryWeight and PassageWeight are those before normalising. For BM25,
	// idf times the query's tf, and tf over tf plus the length's part.
	QueryWeight, PassageWeight float64
	Contribution               float64
}

// BonusExplanation is what the model best adds to a score: weight · idf · tf /
// (tf + length).
type BonusExplanation struct {
	Kind                string // HeadingBonus, PairBonus or PartBonus
	Name                string // the term, or the two terms
	TF                  int
	Weight, IDF, Length float64
	Contribution        float64
}

// Stats count what a snapshot holds.
type Stats struct {
	Generation uint64
	Documents  int
	Passages   int   // N
	Terms      int   // distinct terms with df > 0
	Length     int64 // sum of |p|
	Bytes      int64 // estimate of the memory held
	Segments   int   // on disk and in memory
	Dead       int   // passages not yet merged away
	DiskBytes  int64 // of the segments on disk
	// Committed is the generation that a crash would leave, and CommittedAt
	// the time it was made durable; both are zero for an index in memory.
	Committed   uint64
	CommittedAt time.Time
	// WriteError is why the last attempt to write the index to disk failed, nil
	// if it did not. It is tried again and again.
	WriteError error
	// Folders counts documents and passages by folder name.
	Folders map[string]FolderStats
}

// FolderStats count one folder's part.
type FolderStats struct{ Documents, Passages int }
