// Package segment is the on-disk format of the index: immutable, checksummed
// files of passages. A segment holds the sorted dictionary of its terms, their
// postings, the forward index (the terms of each passage), the passages' text,
// and the document records written with them. FORMAT.md gives the bytes.
//
// A Builder makes a segment from passages, Merge makes one from several, and
// Open reads one from bytes, mapped or in memory: a segment just built and one
// on disk are the same thing to a reader.
//
// Within a segment passages, documents and terms have local numbers: passages
// in ascending order of their global id, documents in ascending order of
// theirs, terms in byte order. Ascending term numbers are thus the canonical
// order of summation.
//
// A damaged file gives ErrCorrupt, never a panic or a wrong answer: what
// concerns the whole segment is proved when it is opened, the rest when it is
// first read.
package segment

import (
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by every error about bytes that are not those of a
// segment, or not those that were written.
var ErrCorrupt = errors.New("damaged segment")

// ErrVersion is wrapped by the error about a segment of another format version.
var ErrVersion = errors.New("segment of another format version")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

func versionErr(v uint32) error {
	return fmt.Errorf("%w: version %d, this program reads %d", ErrVersion, v, Version)
}
