// Package watcher tells which files of some directory trees have changed, and
// loses no change: events are hints, the scan is the truth.
package watcher

import (
	"log/slog"
	"time"
)

// Op says what happened to a path.
type Op uint8

// Operations.
const (
	// Write: the regular file is new, or its content or place may differ
	// from what was last reported.
	Write Op = iota + 1
	// Remove: the file is gone, or is no longer one to index.
	Remove
	// Skip: the path is there but will not be indexed, for Change.Reason
	// (a FIFO, a socket, a device, a file that is too large, an unreadable directory).
	Skip
)

// Info is a file's identity as the file system tells it.
type Info struct {
	Dev, Ino uint64
	Size     int64
	Modified time.Time
	Changed  time.Time // ctime, zero where the platform has none
}

// Change is one settled change.
type Change struct {
	Op     Op
	Path   string // absolute, clean
	Root   string // path of the innermost root that holds it
	Info   Info   // Write only
	Reason string // Skip only
}

// Filter decides what of a root is indexed. It is asked before a watch is
// added; rel is slash-separated and relative to the root. It must be safe for
// concurrent use.
type Filter interface {
	// Dir reports whether the directory may hold files to index.
	Dir(rel string) bool
	// File reports whether the file is to be indexed.
	File(rel string) bool
}

// Root is a directory tree to watch. A root may lie inside another: a file
// belongs to the innermost.
type Root struct {
	Path           string // absolute, clean
	Filter         Filter // nil: everything
	FollowSymlinks bool
	MaxFileSize    int64         // larger files are skipped; 0: no limit
	Poll           time.Duration // > 0: rescan at this interval; 0: events alone
}

// Options configure a Watcher.
type Options struct {
	// Settle is the quiet time after a file's last event before it is
	// reported; at the latest it is reported after 4 × Settle.
	Settle time.Duration
	// CookieDir is an existing directory of the daemon's own in which the
	// watcher writes the files that make Sync a barrier.
	CookieDir string
	// Exclude are directories that are never reported nor watched: the
	// daemon's own data, log and socket directories.
	Exclude []string
	Log     *slog.Logger
}
