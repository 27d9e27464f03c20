package index

import (
	"bytes"
	"unicode/utf8"

	"quern/index/segment"
)

// automaton accepts the words within a number of edits of a pattern: insertions,
// deletions, substitutions and exchanges of neighbours, of characters. It is a
// non-deterministic automaton whose states, of which there is one for each
// place in the pattern and each number of edits, are bits, so that a step is a few
// operations on words.
//
// Source: Wu & Manber, Fast text searching allowing errors (1992), with the
// exchanges of Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau
// edit distances (2003).
type automaton struct {
	masks map[rune]uint64 // places where the character stands
	end   uint64          // the place behind the last
	edits int
	start states
}

// maxEdits is the most edits there can be.
const maxEdits = 2

// states are the places reached, by number of edits, and those where an exchange
// has begun.
type states struct {
	at      [maxEdits + 1]uint64
	swapped [maxEdits + 1]uint64
}

// newAutomaton makes an automaton; false if the pattern has more characters than
// it has room for, or is empty.
func newAutomaton(pattern string, edits int) (*automaton, bool) {
	n := utf8.RuneCountInString(pattern)
	if n == 0 || n > 60 || edits > maxEdits {
		return nil, false
	}
	a := &automaton{masks: make(map[rune]uint64), end: 1 << n, edits: edits}
	place := uint64(1)
	for _, r := range pattern {
		a.masks[r] |= place
		place <<= 1
	}
	for e := range edits + 1 {
		a.start.at[e] = 1<<(e+1) - 1 // the first characters may be missing
	}
	return a, true
}

// step reads a character. The places behind the end that it may reach have no
// meaning and do no harm.
func (a *automaton) step(s *states, r rune) (next states, alive bool) {
	m := a.masks[r]
	next.at[0] = s.at[0] & m << 1
	reached := next.at[0]
	for e := 1; e <= a.edits; e++ {
		next.at[e] = s.at[e]&m<<1 | // the same character
			s.at[e-1] | s.at[e-1]<<1 | // one too many, or another
			next.at[e-1]<<1 | // one is missing
			s.swapped[e]&m<<2
		next.swapped[e] = s.at[e-1] & (m >> 1)
		reached |= next.at[e] | next.swapped[e]
	}
	return next, reached&(a.end<<1-1) != 0
}

// accepts gives the least number of edits that lead to the states.
func (a *automaton) accepts(s *states) (edits int, ok bool) {
	for e := range a.edits + 1 {
		if s.at[e]&a.end != 0 {
			return e, true
		}
	}
	return 0, false
}

// dictWalker reads a dictionary in its order with an automaton, and keeps the states
// after each character of the current term, so that what it shares with the next
// need not be read again.
type dictWalker struct {
	*automaton
	path []visited
	term []byte // that the path has read, or the part of it that was enough
	dead int    // bytes of term that no accepted word begins with; 0: none
}

type visited struct {
	states
	end int // bytes read
}

// manySkipped is how many terms are passed over one by one before the place of
// the next that may be accepted is looked up.
const manySkipped = 24

// walk calls f with the number, the bytes and the edits of each accepted term.
func (a *automaton) walk(r *segment.Reader, f func(rank int, term []byte, edits int)) error {
	w := &dictWalker{automaton: a}
	c := r.Cursor()
	for skipped := 0; c.Next(); {
		term := c.Term()
		if w.dead > 0 && bytes.HasPrefix(term, w.term[:w.dead]) {
			if skipped++; skipped < manySkipped {
				continue
			}
			beyond := after(w.term[:w.dead])
			if beyond == nil {
				return nil
			}
			var err error
			if c, err = r.CursorAt(beyond); err != nil {
				return err
			}
			skipped = 0
			continue
		}
		skipped = 0
		if edits, ok := w.read(term); ok {
			f(c.Number(), term, edits)
		}
	}
	return c.Err()
}

// read reads a term from where it differs from the one before.
func (w *dictWalker) read(term []byte) (edits int, ok bool) {
	same := 0
	for same < min(len(term), len(w.term)) && term[same] == w.term[same] {
		same++
	}
	for len(w.path) > 0 && w.path[len(w.path)-1].end > same {
		w.path = w.path[:len(w.path)-1]
	}
	w.term, w.dead = append(w.term[:0], term...), 0
	at, now := 0, w.start
	if n := len(w.path); n > 0 {
		at, now = w.path[n-1].end, w.path[n-1].states
	}
	for at < len(term) {
		r, n := utf8.DecodeRune(term[at:])
		at += n
		next, alive := w.step(&now, r)
		if !alive {
			w.dead = at
			return 0, false
		}
		now = next
		w.path = append(w.path, visited{now, at})
	}
	return w.accepts(&now)
}

// after is the first string behind all that begin with a prefix; nil if there is
// none.
func after(prefix []byte) []byte {
	out := bytes.TrimRight(prefix, "\xff")
	if len(out) == 0 {
		return nil
	}
	out = bytes.Clone(out)
	out[len(out)-1]++
	return out
}
