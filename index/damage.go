package index

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"

	"quern/index/segment"
)

// Reading a mapped file can fail at every load, with a fault, and what is read
// can be damaged. So that not every loop has to carry an error, damage travels
// as a panic from the place of reading to the engine's methods, all of which
// read under guard.

// damaged is what a failed reading panics with, and the error that becomes of
// it.
type damaged struct {
	seg *seg
	err error
}

func (d *damaged) Error() string {
	return fmt.Sprintf("read the segment %s: %v", d.seg.label(), d.err)
}

func (d *damaged) Unwrap() error { return d.err }

func (s *seg) label() string {
	if s.name == "" {
		return "in memory"
	}
	return s.name
}

// must panics if a segment could not be read.
func (v *view) must(err error) {
	if err != nil {
		panic(&damaged{v.seg, err})
	}
}

// guard calls f, which reads segments of views, and returns what damage it met.
func guard(views []view, f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *damaged:
			err = p
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			if err = faulted(views, p.Addr()); err == nil {
				panic(p)
			}
		default:
			panic(p)
		}
	}()
	f()
	runtime.KeepAlive(views)
	return nil
}

// faulted names the segment whose map holds an address that could not be read;
// nil if none does.
func faulted(views []view, addr uintptr) error {
	for i := range views {
		for _, s := range []*seg{views[i].seg, views[i].derived} {
			if s != nil && contains(s.data, addr) {
				at := addr - uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
				return &damaged{s, fmt.Errorf("%w: the medium fails at byte %d", segment.ErrCorrupt, at)}
			}
		}
	}
	return nil
}

// contains reports whether an address lies in b.
func contains(b []byte, addr uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return addr >= start && addr-start < uintptr(len(b))
}

// read calls f with the snapshot under guard. If a segment is damaged it is set
// aside and f called again with what is left.
func (s *Snapshot) read(f func(s *Snapshot) error) (err error) {
	for {
		damage := guard(s.views, func() { err = f(s) })
		if damage == nil {
			return err
		}
		var d *damaged
		if !errors.As(damage, &d) || s.engine == nil {
			return damage
		}
		next, err := s.engine.setAside(d)
		if err != nil {
			return errors.Join(damage, err)
		}
		s = next
	}
}
