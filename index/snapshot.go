package index

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"quern/index/analysis"
	"quern/index/segment"
)

// Snapshot is the index at one generation. It never changes, whatever is
// applied to the engine later, and may be used from any goroutine.
//
// Its methods read files. If one proves damaged they set it aside, tell
// Options.OnDamage, and answer from the engine's next snapshot, which is
// without what was lost.
type Snapshot struct {
	engine   *Engine
	analyzer *analysis.Analyzer

	generation uint64
	views      []view          // in the order of their pids
	stats      pages[termStat] // by gid
	drift      float64         // bound of |idf - reference|, see drift.go
	slots      int             // documents' slots are below it
	// derived is the norms file that norms or stats may lie in; nil if none.
	derived *seg

	totals
	folders map[string]FolderStats
}

// totals are counts of what is live.
type totals struct {
	passages  int   // N
	length    int64 // Σ |p|
	terms     int   // with df > 0
	postings  int64 // Σ df
	documents int
}

// Generation counts the batches that changed something.
func (s *Snapshot) Generation() uint64 { return s.generation }

// Document returns what is known of the document at path.
func (s *Snapshot) Document(path string) (info *DocumentInfo, ok bool) {
	_ = s.read(func(s *Snapshot) error {
		info, ok = nil, false
		if d, found := s.lookPath(path); found {
			info, ok = &d.info, true
		}
		return nil
	})
	return info, ok
}

// Documents returns all documents, in no particular order. They must not be
// changed.
func (s *Snapshot) Documents() iter.Seq[*DocumentInfo] {
	return func(yield func(*DocumentInfo) bool) {
		for i := range s.views {
			if !s.documentsOf(&s.views[i], yield) {
				return
			}
		}
	}
}

// documentsOf yields the documents of one view. A record that cannot be read is
// left out: its document is to be put again.
func (s *Snapshot) documentsOf(v *view, yield func(*DocumentInfo) bool) bool {
	more := true
	v.eachLiveDoc(func(ord int) {
		if !more {
			return
		}
		var info *DocumentInfo
		err := guard(s.views, func() {
			path, data, err := v.Document(ord)
			v.must(err)
			info, err = decodeInfo(string(path), data)
			v.must(err)
		})
		if d := (*damaged)(nil); errors.As(err, &d) {
			_, _ = s.engine.setAside(d) // told to OnDamage
			return
		}
		more = yield(info)
	})
	return more
}

// Passages returns the document at path and its passages as indexed. The
// error wraps ErrNotFound if there is none.
func (s *Snapshot) Passages(path string) (info *DocumentInfo, out []Passage, err error) {
	err = s.read(func(s *Snapshot) error {
		d, ok := s.lookPath(path)
		if !ok {
			return fmt.Errorf("passages of %q: %w", path, ErrNotFound)
		}
		info, out = &d.info, make([]Passage, len(d.places))
		var buf segment.TextBuffer
		for n := range out {
			v, local := s.locate(d, n)
			out[n] = d.passage(n, v, local, &buf)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return info, out, nil
}

// locate finds passage n of a document.
func (s *Snapshot) locate(d *document, n int) (*view, int) {
	i, local, ok := locate(s.views, d.places[n].pid)
	if !ok {
		s.views[d.view].must(fmt.Errorf("%w: passage %d of %q is not there", segment.ErrCorrupt, n, d.info.Path))
	}
	return &s.views[i], local
}

// passage returns passage n, with its text if there is a buffer to read it.
func (d *document) passage(n int, v *view, local int, buf *segment.TextBuffer) Passage {
	a := &d.places[n]
	p := Passage{
		N: n, Lines: [2]int{a.first, a.last}, Bytes: [2]int{a.start, a.end},
		Heading: a.heading, Page: a.page, Length: int(v.PassageLength(local)),
	}
	if buf != nil {
		p.Text = string(v.text(local, buf))
	}
	return p
}

// DF returns how many passages contain a term, in the form that the analyzer
// gives it.
func (s *Snapshot) DF(term string) (df int) {
	_ = s.read(func(s *Snapshot) error {
		df = s.termDF(term)
		return nil
	})
	return df
}

// average is the mean length of a passage in terms.
func (s *Snapshot) average() float64 { return float64(s.length) / float64(s.passages) }

// Stats counts what the snapshot holds.
func (s *Snapshot) Stats() Stats {
	folders := maps.Clone(s.folders)
	if folders == nil {
		folders = make(map[string]FolderStats)
	}
	st := Stats{
		Generation: s.generation, Documents: s.documents, Passages: s.passages,
		Terms: s.terms, Length: s.length, Folders: folders, Segments: len(s.views),
		Bytes: int64(8 * s.stats.len()),
	}
	st.Committed, st.CommittedAt, st.WriteError = s.engine.committed()
	for i := range s.views {
		v := &s.views[i]
		st.Dead += v.Passages() - v.live
		st.Bytes += int64(v.Passages()) * 8
		if v.name != "" {
			st.DiskBytes += v.Size()
		} else {
			st.Bytes += v.Size()
		}
	}
	return st
}

// memory splits off the views that are not on disk: those from it on.
func (s *Snapshot) memory() int {
	i := slices.IndexFunc(s.views, func(v view) bool { return v.name == "" })
	if i < 0 {
		return len(s.views)
	}
	return i
}

// memoryBytes is the size of what is not on disk.
func (s *Snapshot) memoryBytes() (n int64) {
	for i := s.memory(); i < len(s.views); i++ {
		n += s.views[i].Size()
	}
	return n
}

func (s *Snapshot) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d, %d documents, %d passages:", s.generation, s.documents, s.passages)
	for i := range s.views {
		v := &s.views[i]
		fmt.Fprintf(&b, " [%s %d/%d]", v.label(), v.live, v.Passages())
	}
	return b.String()
}
