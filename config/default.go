package config

import (
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// Default returns the configuration of an empty file: no folders, and the
// default of every key.
func Default() Config {
	return Config{
		Chunk: Chunk{
			Strategy:     "paragraph",
			MinWords:     25,
			MaxWords:     120,
			Overlap:      30,
			HeadingTerms: true,
		},
		Analysis: Analysis{
			Tokenizer:      "unicode",
			Stopwords:      "none",
			Stemmer:        "auto",
			MinLength:      1,
			FoldDiacritics: true,
		},
		Rank:      Rank{Model: "best", TF: "log", K1: 0.9, B: 0.4, Lexical: "best", Weight: 0.15},
		Embedding: Embedding{Kind: EmbeddingLSA, Batch: 32, Timeout: 30 * time.Second},
		Daemon: Daemon{
			Settle:       50 * time.Millisecond,
			MemoryBudget: 64 << 20,
			PurgeAfter:   time.Hour,
			OnBattery:    BatterySlow,
			Users:        UsersOwner,
		},
	}
}

// DefaultFolder returns a folder at path, an absolute path, with the default
// of every other key. Its name is the last element of path.
func DefaultFolder(path string) Folder {
	path = filepath.Clean(path)
	return Folder{
		Path:        path,
		Name:        folderName(path),
		Include:     []string{"**"},
		Gitignore:   true,
		MaxFileSize: 64 << 20,
		Poll:        Poll{Mode: PollAuto},
		WhenAbsent:  AbsentKeep,
	}
}

// Values of Poll.Mode.
const (
	PollAuto     = "auto"
	PollNever    = "never"
	PollInterval = "interval"
)

// Values of Daemon.OnBattery.
const (
	BatterySlow  = "slow"
	BatteryPause = "pause"
	BatteryFull  = "full"
)

// Values of Daemon.Users.
const (
	UsersOwner = "owner"
	UsersAll   = "all"
)

// Values of Folder.WhenAbsent.
const (
	AbsentKeep = "keep"
	AbsentHide = "hide"
	AbsentDrop = "drop"
)

// SameIndex reports whether an index built under o is also right under c:
// whether their chunk and analysis tables are equal. It compares the name of a
// stop-word list, not the words in it.
func (c Config) SameIndex(o Config) bool {
	return c.Chunk == o.Chunk && c.Analysis == o.Analysis
}

// folderName derives a valid folder name from a path. Directory names may hold
// bytes that a name must not; those become underscores.
func folderName(path string) string {
	base := filepath.Base(path)
	if base == string(filepath.Separator) || base == "." {
		return "root"
	}
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if !nameRune(r) {
			return '_'
		}
		return r
	}, base))
	if name == "" {
		return "folder"
	}
	return name
}

// nameRune reports whether r may stand in a folder's name. Separators may not,
// so that a name is never taken for a path.
func nameRune(r rune) bool {
	return r != '/' && r != '\\' && r != unicode.ReplacementChar && !unicode.IsControl(r)
}
