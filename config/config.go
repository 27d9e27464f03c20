// Package config reads Quern's configuration: strict TOML, whose errors name
// file, line and key.
//
// A file is read in three steps. The toml package turns the text into values
// and refuses what is not TOML. A scanner (scan.go) walks the accepted text and
// notes the line of every key and array element. A decoder (decode.go) walks
// both side by side, fills a Config over the defaults and gathers every error
// of the file, not only the first.
//
// AddFolder and RemoveFolder edit the text of a file through the same scanner,
// so that comments, order and line ends stay as their author wrote them.
package config

import "time"

// Config is a whole configuration. Every field has a default; see Default.
type Config struct {
	// Path is the file it was read from, empty for none.
	Path      string
	Folders   []Folder
	Chunk     Chunk
	Analysis  Analysis
	Rank      Rank
	Embedding Embedding
	Daemon    Daemon
	// Extractors read the formats that quern itself does not, in the order of the
	// file.
	Extractors []Extractor
}

// Extractor is one [[extractor]] table: a command that reads files of a type.
type Extractor struct {
	// Type is the type of the files, as their names end, in lower case and without
	// a dot.
	Type string
	// Command is a program and its arguments. It gets the file on its standard input
	// and writes its text, in UTF-8, to its standard output.
	Command []string
}

// Folder is one [[folder]] table: a directory tree that is watched.
type Folder struct {
	Path           string // absolute and clean: ~ and $VAR are expanded
	Name           string
	Include        []string
	Exclude        []string
	Gitignore      bool
	Hidden         bool
	FollowSymlinks bool
	MaxFileSize    int64 // bytes
	Poll           Poll
	// WhenAbsent says what becomes of the folder's passages while it is not
	// there: "keep", "hide" or "drop".
	WhenAbsent string
	// Users and Groups are those who may search the folder of a daemon for all users,
	// by name or number; where both are empty, everybody.
	Users, Groups []string
}

// Poll says how a folder without events is kept up to date.
type Poll struct {
	// Mode is "auto", "never" or "interval".
	Mode     string
	Interval time.Duration
}

// Chunk is the [chunk] table.
type Chunk struct {
	Strategy     string // paragraph | auto | window | document
	MinWords     int
	MaxWords     int
	Overlap      int
	HeadingTerms bool
}

// Analysis is the [analysis] table.
type Analysis struct {
	Tokenizer      string // unicode | plain
	Stopwords      string // none | short | english | a path
	Stemmer        string // auto, none or a Snowball language
	MinLength      int
	FoldDiacritics bool
}

// Rank is the [rank] table.
type Rank struct {
	Model string // best | tfidf | bm25 | hybrid
	TF    string // log | raw
	K1, B float64
	// Lexical is hybrid's lexical model (best | tfidf | bm25), and Weight that of the
	// cosine beside it.
	Lexical string
	Weight  float64
}

// Daemon is the [daemon] table.
type Daemon struct {
	Socket       string
	DataDir      string
	Settle       time.Duration
	Threads      int
	MemoryBudget int64 // bytes
	PurgeAfter   time.Duration
	OnBattery    string // slow | pause | full
	// Users says whom the daemon answers: "owner", or "all" users of the machine.
	Users string
}
