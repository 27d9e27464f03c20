package index

import (
	"cmp"
	"slices"

	"quern/index/analysis"
	"quern/index/rank"
)

// Telling returns the words of some passages that find others like them: every
// occurrence, in the order of the text, of the words whose terms are among the
// most terms that weigh most. A term weighs (1 + ln tf) · idf, with tf counted
// in all the passages together and idf as in TFIDF; of equal weights the term
// first in byte order is taken. Terms that no other passage contains are left
// out; own says that the passages given are in the index themselves. A search
// for the words is a search for those terms as often as the passages have them.
func (s *Snapshot) Telling(passages []string, own bool, most int) []string {
	all := map[string]*termCount{}
	for i, text := range passages {
		s.analyzer.Tokens([]byte(text), func(t analysis.Token) bool {
			c := all[t.Term]
			if c == nil {
				c = &termCount{last: -1}
				all[t.Term] = c
			}
			c.add(i)
			return true
		})
	}
	chosen := s.heaviest(all, own, most)
	var words []string
	for _, text := range passages {
		words = s.wordsOf(text, chosen, words)
	}
	return words
}

// termCount counts a term in passages.
type termCount struct {
	tf, passages int
	last         int // the last passage that has it
}

func (c *termCount) add(passage int) {
	c.tf++
	if c.last != passage {
		c.passages++
		c.last = passage
	}
}

// wordsOf appends the words of a text whose terms are wanted; terms that share
// characters are one word.
func (s *Snapshot) wordsOf(text string, wanted map[string]bool, words []string) []string {
	end := 0 // of the last word
	s.analyzer.Tokens([]byte(text), func(t analysis.Token) bool {
		switch {
		case !wanted[t.Term] || t.End <= end:
		case t.Start < end:
			words[len(words)-1] += text[end:t.End]
			end = t.End
		default:
			words, end = append(words, text[t.Start:t.End]), t.End
		}
		return true
	})
	return words
}

// heaviest are the most terms with the largest weights.
func (s *Snapshot) heaviest(counts map[string]*termCount, own bool, most int) map[string]bool {
	type weighed struct {
		term   string
		weight float64
	}
	var all []weighed
	for term, c := range counts {
		df, others := s.DF(term), 0
		if others = df; own {
			others -= c.passages
		}
		if others > 0 {
			all = append(all, weighed{term, rank.LogTF(uint32(c.tf)) * rank.IDF(s.passages, df)})
		}
	}
	slices.SortFunc(all, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
	})
	out := map[string]bool{}
	for _, w := range all[:min(most, len(all))] {
		out[w.term] = true
	}
	return out
}
