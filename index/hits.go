package index

import (
	"cmp"
	"slices"

	"quern/index/analysis"
	"quern/index/segment"
)

// hits completes what was found.
func (r *run) hits(all []found) []Hit {
	var out []Hit
	var buf *segment.TextBuffer
	if r.o.Text {
		buf = &r.text
	}
	m := r.newMarker()
	for _, f := range all {
		h := Hit{
			Score: f.key.Score, Document: &f.doc.info,
			Passage: f.doc.passage(f.key.Passage, f.view, f.local, buf),
		}
		if r.o.Text {
			marks := m.marks(h.Text, f.doc.info.Type)
			h.Highlights, h.Snippet = spans(marks), snippet(marks)
		}
		out = append(out, h)
	}
	return out
}

// marker finds the words of a query in texts.
type marker struct {
	analyzer *analysis.Analyzer
	terms    map[string]int // places in query.terms
	q        *query
}

func (r *run) newMarker() *marker {
	m := &marker{analyzer: r.s.analyzer, q: r.q, terms: make(map[string]int, len(r.q.terms))}
	for i := range r.q.terms {
		m.terms[r.q.terms[i].name] = i
	}
	return m
}

// mark is a place in a text where a term or a phrase of the query stands.
type mark struct {
	start, end int
	key        int // of the term; below 0: of the phrase
	worth      float64
}

// marks finds the query's terms, whatever form of the word a text has, and its
// phrases whole. They are found in the text as shown, which may be longer or
// shorter than the source.
func (m *marker) marks(text, kind string) []mark {
	var out []mark
	for i, seq := range m.q.spans {
		seq.each([]byte(text), func(start, end int) bool {
			out = append(out, mark{start, end, -1 - i, phraseWorth * float64(len(seq.terms))})
			return true
		})
	}
	m.analyzer.Of([]byte(text), isCode(kind)).Tokens([]byte(text), func(t analysis.Token) bool {
		if i, ok := m.terms[t.Term]; ok {
			x := &m.q.terms[i]
			out = append(out, mark{t.Start, t.End, i, x.idf * x.boost})
		}
		return true
	})
	slices.SortStableFunc(out, func(a, b mark) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	return out
}

// spans are the places of marks, those that overlap made one.
func spans(marks []mark) [][2]int {
	var out [][2]int
	for _, m := range marks {
		if n := len(out); n > 0 && m.start < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m.end)
			continue
		}
		out = append(out, [2]int{m.start, m.end})
	}
	return out
}

const (
	// windowBytes is how long a snippet is at most.
	windowBytes = 200
	// phraseWorth is what each word of a phrase adds to a snippet.
	phraseWorth = 10
	// againWorth is the part of a term's worth that counts once more when it
	// comes again.
	againWorth = 0.05
)

// snippet is the part of a text of at most windowBytes, from the start of a mark to
// the end of one, whose marks are worth most: each term once by its rarity, and a
// little more for each time that it comes again. The earliest wins.
func snippet(marks []mark) [2]int {
	best, out := 0.0, [2]int{}
	seen := make(map[int]int)
	worth, first := 0.0, 0
	for last, m := range marks {
		worth += gain(m, seen[m.key])
		seen[m.key]++
		for first < last && m.end-marks[first].start > windowBytes {
			f := marks[first]
			seen[f.key]--
			worth -= gain(f, seen[f.key])
			first++
		}
		if worth > best*(1+roundingSlack) {
			best, out = worth, [2]int{marks[first].start, m.end}
		}
	}
	return out
}

// gain is what a mark adds whose term is there already so many times.
func gain(m mark, before int) float64 {
	if before > 0 {
		return againWorth * m.worth
	}
	return m.worth
}
