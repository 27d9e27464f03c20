package index

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"quern/index/analysis"
)

const (
	// maxPrefixed and maxFuzzy bound how many terms a prefix and a fuzzy word
	// stand for: the most frequent, and the nearest.
	maxPrefixed = 128
	maxFuzzy    = 64
	// shortWord is up to how many characters a fuzzy word has one edit, if it
	// says no number.
	shortWord = 5
)

// ranks are a term's numbers by view; -1: the view does not have it.
type ranks []int

// expansion is a term of the dictionary that a prefix or a fuzzy word stands for.
type expansion struct {
	name  string
	df    int
	edits int
	ranks ranks
}

// boost is what the term counts for: half for each edit.
func (e *expansion) boost() float64 { return 1 / float64(int(1)<<e.edits) }

// ranksOf looks a term up in all segments.
func (s *Snapshot) ranksOf(name string) ranks {
	t := queryTerm{name: name}
	t.find(s)
	return t.ranks
}

// dictionary gathers terms from all segments.
type dictionary struct {
	s     *Snapshot
	found map[string]*expansion
}

// add takes a term of a view, if a live passage has it.
func (d *dictionary) add(i, rank int, name []byte, edits int) {
	e := d.found[string(name)]
	if e == nil {
		df := int(d.s.stats.at(int(d.s.views[i].GID(rank))).df)
		if df == 0 {
			return
		}
		e = &expansion{name: string(name), df: df, edits: edits, ranks: slices.Repeat(ranks{-1}, len(d.s.views))}
		d.found[e.name] = e
	}
	e.ranks[i] = rank
}

// list gives the terms, the nearest first, then the most frequent, then by name.
func (d *dictionary) list() []expansion {
	out := make([]expansion, 0, len(d.found))
	for _, e := range d.found {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b expansion) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(b.df, a.df), strings.Compare(a.name, b.name))
	})
	return out
}

// beginning finds the terms of the words that begin as the last word of a text
// does.
func (s *Snapshot) beginning(text string) []expansion {
	d := &dictionary{s, make(map[string]*expansion)}
	_, prefix := s.engine.cutPrefix(text)
	if prefix == "" {
		return nil
	}
	for i := range s.views {
		d.addPrefixed(i, []byte(prefix))
	}
	for _, t := range s.stemsOf(prefix) {
		for i := range s.views {
			if rank, ok := s.views[i].rank([]byte(t)); ok {
				d.add(i, rank, []byte(t), 0)
			}
		}
	}
	return d.list()
}

func (d *dictionary) addPrefixed(i int, prefix []byte) {
	v := &d.s.views[i]
	c, err := v.CursorAt(prefix)
	v.must(err)
	for c.Next() && bytes.HasPrefix(c.Term(), prefix) {
		d.add(i, c.Number(), c.Term(), 0)
	}
	v.must(c.Err())
}

// stemsOf are terms of words that begin with the prefix though the terms need
// not: the prefix's own, and those of the prefix and one letter more. The stem of
// billing is bill, which does not begin with billin.
func (s *Snapshot) stemsOf(prefix string) []string {
	terms := s.analyzer.Terms(prefix)
	if s.analyzer.Options().Stemmer != analysis.None {
		for c := 'a'; c <= 'z'; c++ {
			if t := s.analyzer.Terms(prefix + string(c)); len(t) == 1 {
				terms = append(terms, t...)
			}
		}
	}
	return distinct(terms)
}

// cutPrefix splits a text before its last word, which it gives in the form that
// words have before they are stemmed.
func (e *Engine) cutPrefix(text string) (before, prefix string) {
	last := analysis.Token{}
	e.forms().Tokens([]byte(text), func(t analysis.Token) bool {
		last = t
		return true
	})
	return text[:last.Start], last.Term
}

// fuzzyTerm is the term of a fuzzy word; false if the text is not one word.
func (s *Snapshot) fuzzyTerm(text string) (string, bool) {
	terms := s.analyzer.Terms(text)
	if len(terms) != 1 {
		return "", false
	}
	return terms[0], true
}

// near finds the terms within so many edits of the term of a word; 0 leaves the
// number to the length of the word.
func (s *Snapshot) near(word string, edits int) []expansion {
	term, ok := s.fuzzyTerm(word)
	if !ok {
		return nil
	}
	if edits == 0 {
		edits = 2
		if utf8.RuneCountInString(word) <= shortWord {
			edits = 1
		}
	}
	return s.within(term, edits)
}

// within finds the terms within so many edits of a term.
func (s *Snapshot) within(term string, edits int) []expansion {
	d := &dictionary{s, make(map[string]*expansion)}
	a, ok := newAutomaton(term, edits)
	if !ok { // too long to be misspelt
		return d.list()
	}
	for i := range s.views {
		v := &s.views[i]
		v.must(a.walk(v.seg.Reader, func(rank int, name []byte, edits int) { d.add(i, rank, name, edits) }))
	}
	return d.list()
}
