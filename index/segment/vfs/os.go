package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is returned by Map for what is no regular file.
var ErrNotRegular = errors.New("not a regular file")

// OS is a directory of the operating system's file system.
type OS struct{ dir string }

// NewOS makes the directory, private to its owner, if it is not there.
func NewOS(dir string) (*OS, error) {
	o := &OS{dir: dir}
	return o, o.make()
}

func (o *OS) make() error {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.Chmod(o.dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory private: %w", err)
	}
	return nil
}

// Dir is the directory's path.
func (o *OS) Dir() string { return o.dir }

func (o *OS) path(name string) string { return filepath.Join(o.dir, name) }

// Create implements FS.
func (o *OS) Create(name string) (File, error) {
	return os.OpenFile(o.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|neverWait, 0o600)
}

// Map implements FS.
func (o *OS) Map(name string) (*Mapping, error) {
	f, err := os.OpenFile(o.path(name), os.O_RDONLY|neverWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("map %s: %w", f.Name(), ErrNotRegular)
	}
	if st.Size() == 0 {
		return &Mapping{}, nil
	}
	return mapFile(f, st.Size())
}

// Rename implements FS.
func (o *OS) Rename(old, new string) error { return os.Rename(o.path(old), o.path(new)) }

// Remove implements FS.
func (o *OS) Remove(name string) error { return os.Remove(o.path(name)) }

// List implements FS. Directories are left out.
func (o *OS) List() ([]Info, error) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range entries {
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if st.Mode().IsRegular() {
			list = append(list, Info{Name: e.Name(), Size: st.Size()})
		}
	}
	return list, nil
}

// SyncDir implements FS.
func (o *OS) SyncDir() error { return syncDir(o.dir) }

// Lock implements FS.
func (o *OS) Lock(name string) (Lock, error) {
	if err := o.make(); err != nil {
		return nil, err
	}
	return lockDir(o.dir, name)
}
