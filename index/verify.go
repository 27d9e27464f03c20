package index

import (
	"errors"
	"fmt"
	"maps"
	"math"
)

// Verify reads the whole index and proves that its parts agree: every segment
// in itself, the statistics with the postings, the documents with their
// passages. The error lists what does not; it wraps segment.ErrCorrupt for a
// damaged file, which the engine sets aside.
func (s *Snapshot) Verify() error {
	errs := s.check(s.derived, func() error { return checkNorms(s.derived.data) })
	for i := range s.views {
		errs = append(errs, s.check(s.views[i].seg, s.views[i].Verify)...)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	damage := guard(s.views, func() { errs = append(errs, s.verifyCounts(), s.verifyDocuments()) })
	return errors.Join(append(errs, damage)...)
}

// check sets a file aside if it is damaged, as proof says.
func (s *Snapshot) check(file *seg, proof func() error) []error {
	if file == nil {
		return nil
	}
	err := guard(s.views, func() {
		if err := proof(); err != nil {
			panic(&damaged{file, err})
		}
	})
	var d *damaged
	if !errors.As(err, &d) {
		return nil
	}
	_, aside := s.engine.setAside(d)
	return []error{err, aside}
}

// verifyCounts counts all anew and compares.
func (s *Snapshot) verifyCounts() error {
	again := *s
	x := &edit{Snapshot: &again, txn: math.MaxUint64, w: &writerState{}}
	x.count()
	x.recount()
	for gid := range max(s.stats.len(), x.stats.len()) {
		if have, want := s.df(gid), again.df(gid); have != want {
			return fmt.Errorf("term %d has df %d, counted %d", gid, have, want)
		}
	}
	if s.totals != again.totals {
		return fmt.Errorf("totals are %+v, counted %+v", s.totals, again.totals)
	}
	if !maps.Equal(s.folders, again.folders) {
		return fmt.Errorf("folders are %v, counted %v", s.folders, again.folders)
	}
	return nil
}

func (s *Snapshot) df(gid int) uint32 {
	if gid >= s.stats.len() {
		return 0
	}
	return s.stats.at(gid).df
}

// verifyDocuments proves that each live passage belongs to exactly the document
// that it names, and each document has its passages.
func (s *Snapshot) verifyDocuments() error {
	x := &edit{Snapshot: s}
	listed := 0
	for i := range s.views {
		var err error
		s.views[i].eachLiveDoc(func(ord int) {
			d := s.document(i, ord)
			listed += len(d.places)
			if err == nil && !x.isWhole(d) {
				err = fmt.Errorf("%q lacks passages", d.info.Path)
			}
			for n := range d.places {
				if v, local := s.locate(d, n); err == nil && v.PassageDoc(local) != uint64(d.slot) {
					err = fmt.Errorf("passage %d of %q belongs to another document", n, d.info.Path)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	if listed != s.passages {
		return fmt.Errorf("documents have %d passages of %d", listed, s.passages)
	}
	return nil
}
