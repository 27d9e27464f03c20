package index

import (
	"fmt"
	"iter"
	"maps"

	"quern/index/analysis"
	"quern/index/extract"
)

// Snapshot is the index at one generation. It never changes, whatever is
// applied to the engine later, and may be used from any goroutine.
type Snapshot struct {
	analyzer *analysis.Analyzer
	opts     *Options

	generation uint64
	views      []view // in the order of their pids

	table *termTable
	names []string      // by term number: the terms this snapshot knows
	dfs   pages[uint32] // by term number

	docs  pages[*document] // by slot; nil where there is none
	paths pathTable

	passages  int   // N
	length    int64 // Σ |p|
	terms     int   // with df > 0
	postings  int64 // Σ df
	documents int
	text      int64 // bytes of the documents' text
	folders   map[string]FolderStats
}

// Generation counts the batches that changed something.
func (s *Snapshot) Generation() uint64 { return s.generation }

// find returns the slot of a path.
func (s *Snapshot) find(path string) (uint32, bool) { return s.paths.find(&s.docs, path) }

func (s *Snapshot) document(path string) (*document, bool) {
	slot, ok := s.find(path)
	if !ok {
		return nil, false
	}
	return s.docs.at(int(slot)), true
}

// Document returns what is known of the document at path.
func (s *Snapshot) Document(path string) (*DocumentInfo, bool) {
	d, ok := s.document(path)
	if !ok {
		return nil, false
	}
	return &d.info, true
}

// Documents returns all documents, in no particular order. They must not be
// changed.
func (s *Snapshot) Documents() iter.Seq[*DocumentInfo] {
	return func(yield func(*DocumentInfo) bool) {
		for slot := range s.docs.len() {
			if d := s.docs.at(slot); d != nil && !yield(&d.info) {
				return
			}
		}
	}
}

// Passages returns the document at path and its passages as indexed. The
// error wraps ErrNotFound if there is none.
func (s *Snapshot) Passages(path string) (*DocumentInfo, []Passage, error) {
	d, ok := s.document(path)
	if !ok {
		return nil, nil, fmt.Errorf("passages of %q: %w", path, ErrNotFound)
	}
	out := make([]Passage, len(d.passages))
	for n := range out {
		v, local := s.locate(d.passages[n].pid)
		out[n] = d.passage(n, v.lengths[local], true)
	}
	return &d.info, out, nil
}

func (s *Snapshot) locate(pid uint64) (*view, int) {
	i, local := locate(s.views, pid)
	return &s.views[i], local
}

// passage returns passage n, with its text if wanted.
func (d *document) passage(n int, length uint32, text bool) Passage {
	a := &d.passages[n]
	p := Passage{
		N: n, Lines: [2]int{a.first, a.last}, Bytes: [2]int{a.start, a.end},
		Heading: a.heading, Length: int(length),
	}
	if text {
		p.Text = extract.Decode(d.text[a.start:a.end])
	}
	return p
}

// DF returns how many passages contain a term, in the form that the analyzer
// gives it.
func (s *Snapshot) DF(term string) int {
	_, df := s.lookup(term)
	return df
}

// lookup returns the number of a term and its df; 0 if no passage has it.
func (s *Snapshot) lookup(term string) (id uint32, df int) {
	id, ok := s.table.id(term)
	if !ok || int(id) >= s.dfs.len() {
		return 0, 0
	}
	return id, int(s.dfs.at(int(id)))
}

// average is the mean length of a passage in terms.
func (s *Snapshot) average() float64 { return float64(s.length) / float64(s.passages) }

// Stats counts what the snapshot holds.
func (s *Snapshot) Stats() Stats {
	folders := maps.Clone(s.folders)
	if folders == nil {
		folders = make(map[string]FolderStats)
	}
	return Stats{
		Generation: s.generation, Documents: s.documents, Passages: s.passages,
		Terms: s.terms, Length: s.length, Bytes: s.bytes(), Folders: folders,
	}
}

// bytes estimates the memory held.
func (s *Snapshot) bytes() int64 {
	const (
		perDocument = 300 // the document, its paths and its places in the tables
		perPassage  = 100 // its place, number, norms
		perTerm     = 100 // its string, its entry in the table, df and drift
	)
	n := s.text + perDocument*int64(s.documents) + perPassage*int64(s.passages) + perTerm*int64(len(s.names))
	for i := range s.views {
		n += s.views[i].bytes()
	}
	return n
}
