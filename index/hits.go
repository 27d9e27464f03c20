package index

import (
	"quern/index/analysis"
	"quern/index/segment"
)

// hits completes what was found.
func (r *run) hits(all []found) []Hit {
	words := make(map[string]bool, len(r.q.terms))
	for i := range r.q.terms {
		words[r.q.terms[i].name] = true
	}
	var out []Hit
	var buf *segment.TextBuffer
	if r.o.Text {
		buf = &r.text
	}
	for _, f := range all {
		h := Hit{
			Score: f.key.Score, Document: &f.doc.info,
			Passage: f.doc.passage(f.key.Passage, f.view, f.local, buf),
		}
		if r.o.Text {
			h.Highlights = r.s.highlight(h.Text, f.doc.info.Type, words)
		}
		out = append(out, h)
	}
	return out
}

// highlight finds the words of a text whose term is wanted. They are found in
// the text as shown, which may be longer or shorter than the source.
func (s *Snapshot) highlight(text, kind string, wanted map[string]bool) [][2]int {
	var out [][2]int
	end := 0
	s.analyzer.Of([]byte(text), isCode(kind)).Tokens([]byte(text), func(t analysis.Token) bool {
		if wanted[t.Term] && t.Start >= end {
			out = append(out, [2]int{t.Start, t.End})
			end = t.End
		}
		return true
	})
	return out
}
