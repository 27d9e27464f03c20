// Package vfs is the small file system the engine writes through: one flat
// directory of files that are written once, from start to end, and then only
// mapped, renamed or removed. OS is the real one; Mem loses on a crash what was
// not synced; Fault makes any call fail.
package vfs

import (
	"errors"
	"io"
)

// ErrLocked is returned by Lock when another process, or another owner in this
// one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// FS is one directory of files. A file's contents are durable after File.Sync;
// that a name exists, was renamed or removed is durable after SyncDir. Names
// hold no separators. Errors for a missing file satisfy fs.ErrNotExist.
type FS interface {
	// Create makes an empty file that only its owner may read, replacing
	// one of that name.
	Create(name string) (File, error)
	// Map gives the whole contents of a file, read only.
	Map(name string) (*Mapping, error)
	// Rename moves old to new, replacing new, in one step.
	Rename(old, new string) error
	Remove(name string) error
	// List gives the files in the order of their names.
	List() ([]Info, error)
	// SyncDir makes creations, renames and removals durable.
	SyncDir() error
	// Lock takes the named lock file, and the directory, or fails with
	// ErrLocked. It makes the directory anew if it is gone. The lock ends with
	// Close or with the process.
	Lock(name string) (Lock, error)
}

// Lock is a lock that is held.
type Lock interface {
	io.Closer
	// Held says whether the directory is still the one that was locked: another
	// may have taken its place, or none be there.
	Held() bool
}

// File is a file being written. Close without Sync promises nothing about the
// contents after a crash.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Info describes a file.
type Info struct {
	Name string
	Size int64 // bytes
}

// Mapping is the contents of a file. Data must not be changed, nor used once
// Close was called; reading it may fault (see runtime/debug.SetPanicOnFault)
// when the medium fails beneath a mapped file.
type Mapping struct {
	Data  []byte
	unmap func([]byte) error
}

// Close gives the memory back. It may be called once.
func (m *Mapping) Close() error {
	if m.unmap == nil {
		return nil
	}
	data := m.Data
	m.Data = nil
	return m.unmap(data)
}
