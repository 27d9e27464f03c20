package index

import "sync"

// termTable numbers the terms of an index. Numbers are only ever added, so
// that a snapshot may go on using those it knows; when most are dead, a new
// table replaces it (see Engine.compactTerms). Only the writer calls intern.
type termTable struct {
	mu  sync.RWMutex // guards ids
	ids map[string]uint32

	// names is the writer's; a snapshot holds the part that it knows.
	names []string
}

func newTermTable() *termTable { return &termTable{ids: make(map[string]uint32)} }

// id returns the number of a term. It may be newer than the caller's snapshot.
func (t *termTable) id(term string) (uint32, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, ok := t.ids[term]
	return id, ok
}

// intern returns the numbers of terms, adding those that are new.
func (t *termTable) intern(terms []string) []uint32 {
	out := make([]uint32, len(terms))
	var fresh []int
	for i, term := range terms { // the writer alone changes ids: no lock to read
		id, ok := t.ids[term]
		if !ok {
			fresh = append(fresh, i)
		}
		out[i] = id
	}
	if len(fresh) == 0 {
		return out
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range fresh {
		id := uint32(len(t.names))
		name := terms[i]
		t.names = append(t.names, name)
		t.ids[name] = id
		out[i] = id
	}
	return out
}
