package index

import (
	"slices"
	"strings"

	"quern/index/analysis"
)

// sequence is words that are to stand one after the other, in the form that
// the analyzer gives them, stop words included. Postings know no places: that
// the words do stand so is seen in the text.
type sequence struct {
	words *analysis.Analyzer
	terms []string
}

// sequence makes the sequence of a text's words.
func (s *Snapshot) sequence(text string) *sequence {
	a := s.engine.words()
	return &sequence{words: a, terms: a.Terms(text)}
}

// passes looks for the sequence in a passage: in its text, or in one of its
// headings if they count as text.
func (x *sequence) passes(r *run, v *view, local int) bool {
	if x.in(v.text(local, &r.text)) {
		return true
	}
	return r.s.engine.opts.HeadingTerms && slices.ContainsFunc(r.headings(v, local), func(h string) bool { return x.in([]byte(h)) })
}

// in looks for the sequence in a text.
func (x *sequence) in(text []byte) bool {
	found := false
	x.each(text, func(_, _ int) bool {
		found = true
		return false
	})
	return found
}

// each calls f with where the sequence stands, until f returns false. Of places
// that overlap it takes the first.
func (x *sequence) each(text []byte, f func(start, end int) bool) {
	if len(x.terms) == 0 {
		return
	}
	var last []analysis.Token // as many as the sequence has
	x.words.Tokens(text, func(t analysis.Token) bool {
		if len(last) == len(x.terms) {
			copy(last, last[1:])
			last[len(last)-1] = t
		} else {
			last = append(last, t)
		}
		if t.Term != x.terms[len(x.terms)-1] || !x.equal(last) {
			return true
		}
		start := last[0].Start
		last = last[:0]
		return f(start, t.End)
	})
}

func (x *sequence) equal(tokens []analysis.Token) bool {
	if len(tokens) != len(x.terms) {
		return false
	}
	for i := range tokens {
		if tokens[i].Term != x.terms[i] {
			return false
		}
	}
	return true
}

// headings are those above a passage.
func (r *run) headings(v *view, local int) []string {
	d := r.record(v, uint32(v.PassageDoc(local)))
	n := d.number(v.PassageID(local))
	if n < 0 {
		return nil
	}
	return d.places[n].heading
}

// headingWords are words that are to be in a passage's heading path.
type headingWords []string

func (w headingWords) passes(r *run, v *view, local int) bool {
	headings := r.headings(v, local)
	return len(headings) > 0 && hasAll(r.s.engine.words().Terms(strings.Join(headings, "\n")), w)
}
