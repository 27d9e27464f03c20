package vfs

// Op names a call that Fault may make fail.
type Op string

// The calls of FS and File.
const (
	OpCreate  Op = "create"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
	OpMap     Op = "map"
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
	OpList    Op = "list"
	OpSyncDir Op = "syncdir"
	OpLock    Op = "lock"
)

// Fault passes every call on to FS unless Before, asked first, returns an
// error: then the call fails with it. A failing Write has written half of what
// it was given. Before may be called from several goroutines.
type Fault struct {
	FS     FS
	Before func(op Op, name string) error
}

// Create implements FS.
func (f *Fault) Create(name string) (File, error) {
	if err := f.Before(OpCreate, name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultFile{fs: f, name: name, File: file}, nil
}

// Map implements FS.
func (f *Fault) Map(name string) (*Mapping, error) {
	if err := f.Before(OpMap, name); err != nil {
		return nil, err
	}
	return f.FS.Map(name)
}

// Rename implements FS.
func (f *Fault) Rename(old, new string) error {
	if err := f.Before(OpRename, new); err != nil {
		return err
	}
	return f.FS.Rename(old, new)
}

// Remove implements FS.
func (f *Fault) Remove(name string) error {
	if err := f.Before(OpRemove, name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// List implements FS.
func (f *Fault) List() ([]Info, error) {
	if err := f.Before(OpList, ""); err != nil {
		return nil, err
	}
	return f.FS.List()
}

// SyncDir implements FS.
func (f *Fault) SyncDir() error {
	if err := f.Before(OpSyncDir, ""); err != nil {
		return err
	}
	return f.FS.SyncDir()
}

// Lock implements FS.
func (f *Fault) Lock(name string) (Lock, error) {
	if err := f.Before(OpLock, name); err != nil {
		return nil, err
	}
	return f.FS.Lock(name)
}

type faultFile struct {
	File
	fs   *Fault
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.Before(OpWrite, f.name); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *faultFile) Sync() error {
	if err := f.fs.Before(OpSync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Close() error {
	err := f.fs.Before(OpClose, f.name)
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}
