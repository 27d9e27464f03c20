package index

import (
	"fmt"

	"quern/index/segment"
	"quern/index/segment/vfs"
)

// keepDirectory sees to it that the data directory is the one that was locked. A
// user may remove it under the running engine; then it is made anew, and restore
// writes again what is mapped.
func (e *Engine) keepDirectory() error {
	st := e.store
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.lock.Held() {
		return nil
	}
	lock, err := st.fs.Lock(lockName)
	if err != nil {
		return fmt.Errorf("the data directory was removed or replaced: %w", err)
	}
	_ = st.lock.Close() // nothing is behind it any more
	st.lock = lock
	e.log.Warn("the data directory was removed; it is written anew")
	if err := writeTag(st.fs); err != nil {
		e.log.Warn("back-ups will not skip the index", "file", cacheTag, "error", err)
	}
	return nil
}

// restore proves that the files of a snapshot are there, and writes again those
// that are not. One of another size was tampered with: it is damaged.
func (st *store) restore(s *Snapshot) error {
	list, err := st.fs.List()
	if err != nil {
		return fmt.Errorf("list the data directory: %w", err)
	}
	sizes := make(map[string]int64, len(list))
	for _, f := range list {
		sizes[f.Name] = f.Size
	}
	for i := range s.views {
		v := &s.views[i]
		size, there := sizes[v.name]
		switch {
		case there && size == v.Size():
		case there:
			return &damaged{v.seg, fmt.Errorf("%w: the file has %d bytes, not %d", segment.ErrCorrupt, size, v.Size())}
		default:
			err := error(nil)
			if damage := guard(s.views, func() { err = st.copyOut(v) }); damage != nil {
				return damage
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyOut writes a segment's file from its map.
func (st *store) copyOut(v *view) error {
	v.must(v.CheckAll())
	return writeWhole(st.fs, v.name, func(f vfs.File) error {
		_, err := f.Write(v.data)
		return err
	})
}
