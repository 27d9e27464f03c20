package vfs

import (
	"cmp"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// Mem is a file system in memory that knows what a power cut would leave of
// it. It is safe for concurrent use.
type Mem struct {
	mu sync.Mutex
	// guarded by mu
	now     map[string]*memFile // what List shows
	durable map[string]*memFile // what a crash leaves for certain
	pending []dirOp             // changes of names since the last SyncDir, in order
	locks   map[string]int      // by name: which of those taken it is
	taken   int                 // locks so far
}

// memFile holds what was written; the first synced bytes survive a crash.
type memFile struct {
	data   []byte
	synced int
}

// dirOp sets (or, for nil, removes) the file at name; a rename is one op with
// both its halves.
type dirOp struct {
	name string
	file *memFile
	gone string // a name that disappears in the same step, or ""
}

// NewMem gives an empty file system.
func NewMem() *Mem {
	return &Mem{now: map[string]*memFile{}, durable: map[string]*memFile{}, locks: map[string]int{}}
}

// Crash gives the file system as the next start might find it: names changed
// since the last SyncDir are kept up to a random point of their order, and of
// each file's unsynced bytes a random part survives, its end possibly garbage.
// m itself is not changed and may go on.
func (m *Mem) Crash(r *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[string]*memFile{}
	for n, f := range m.durable {
		names[n] = f
	}
	for _, op := range m.pending[:r.IntN(len(m.pending)+1)] {
		op.apply(names)
	}
	after := NewMem()
	for _, n := range slices.Sorted(maps.Keys(names)) {
		f := names[n].crash(r)
		after.now[n], after.durable[n] = f, f
	}
	return after
}

func (f *memFile) crash(r *rand.Rand) *memFile {
	keep := f.synced + r.IntN(len(f.data)-f.synced+1)
	data := slices.Clone(f.data[:keep])
	if r.IntN(2) == 0 {
		for i := f.synced + r.IntN(keep-f.synced+1); i < keep; i++ {
			data[i] = byte(r.Uint32())
		}
	}
	return &memFile{data: data, synced: len(data)}
}

func (op dirOp) apply(names map[string]*memFile) {
	if op.gone != "" {
		delete(names, op.gone)
	}
	if op.name != "" {
		names[op.name] = op.file
	}
}

// change records a change of names; the caller holds mu.
func (m *Mem) change(op dirOp) {
	op.apply(m.now)
	m.pending = append(m.pending, op)
}

// Vanish removes the directory with all files and locks, as a user may do under
// a running program; what is mapped stays readable.
func (m *Mem) Vanish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.now)
	clear(m.durable)
	clear(m.locks)
	m.pending = nil
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &memFile{}
	m.change(dirOp{name: name, file: f})
	return &memWriter{fs: m, f: f}, nil
}

// Map implements FS. The contents are those of the moment.
func (m *Mem) Map(name string) (*Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.now[name]
	if !ok {
		return nil, &fs.PathError{Op: "map", Path: name, Err: fs.ErrNotExist}
	}
	return &Mapping{Data: f.data[:len(f.data):len(f.data)]}, nil
}

// Rename implements FS.
func (m *Mem) Rename(old, new string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.now[old]
	if !ok {
		return &fs.PathError{Op: "rename", Path: old, Err: fs.ErrNotExist}
	}
	m.change(dirOp{name: new, file: f, gone: old})
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.now[name]; !ok {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	m.change(dirOp{gone: name})
	return nil
}

// List implements FS.
func (m *Mem) List() ([]Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Info
	for n, f := range m.now {
		list = append(list, Info{Name: n, Size: int64(len(f.data))})
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range m.pending {
		op.apply(m.durable)
	}
	m.pending = nil
	return nil
}

// Lock implements FS.
func (m *Mem) Lock(name string) (Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] != 0 {
		return nil, &fs.PathError{Op: "lock", Path: name, Err: ErrLocked}
	}
	m.taken++
	m.locks[name] = m.taken
	return memLock{m, name, m.taken}, nil
}

type memLock struct {
	fs     *Mem
	name   string
	number int
}

func (l memLock) Held() bool {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	return l.fs.locks[l.name] == l.number
}

func (l memLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if l.fs.locks[l.name] == l.number {
		delete(l.fs.locks, l.name)
	}
	return nil
}

type memWriter struct {
	fs *Mem
	f  *memFile
}

func (w *memWriter) Write(p []byte) (int, error) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	w.f.data = append(w.f.data, p...)
	return len(p), nil
}

func (w *memWriter) Sync() error {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	w.f.synced = len(w.f.data)
	return nil
}

func (w *memWriter) Close() error { return nil }
