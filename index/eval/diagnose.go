package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is why a piece of evidence is not among the first k hits.
type Kind string

// Kinds of misses. A larger k mends only the first.
const (
	// Ranking: the evidence shares terms with the question, and stands further
	// down.
	Ranking Kind = "ranking"
	// WordForm: it shares no term, but has another form or spelling of a word
	// of the question.
	WordForm Kind = "word form"
	// Gap: it says what was asked in other words.
	Gap Kind = "vocabulary gap"
	// NotIndexed: there is no such passage in the index.
	NotIndexed Kind = "not indexed"
)

// Miss is a piece of evidence that is missed at k.
type Miss struct {
	Question string `json:"question"` // its id
	Query    string `json:"query"`
	Evidence string `json:"evidence"`
	Kind     Kind   `json:"kind"`
	// Rank is where it is found, which is the k that reaches it; 0 if it is
	// beyond the hits looked at (Ranking only).
	Rank int `json:"rank,omitempty"`
	// Forms are words of the question and the forms that the evidence has
	// (WordForm only).
	Forms [][2]string `json:"forms,omitempty"`
	// Terms are the evidence's own rarest terms (Gap only).
	Terms []string `json:"terms,omitempty"`
	// Reason says why it is not indexed.
	Reason string `json:"reason,omitempty"`
}

const (
	// maxDepth is how many hits are looked through for missed evidence.
	maxDepth = 1000
	// rareTerms is how many terms of the evidence are shown.
	rareTerms = 5
)

// diagnosis says why a question's evidence is missed.
type diagnosis struct {
	Searcher
	query   Query
	limit   int // the k
	ranking *ranking
	deep    []Hit // the hits to maxDepth, once they are asked for
}

// misses diagnoses all evidence that is not among the first hits. A span of
// bytes that is covered in part counts as found.
func (d *diagnosis) misses(ctx context.Context) ([]Miss, error) {
	var out []Miss
	q := d.ranking.question
	for i := range q.Evidence {
		rank := d.ranking.ranks[i]
		if rank > 0 && rank <= d.limit {
			continue
		}
		m := Miss{Question: q.ID, Query: q.Text, Evidence: q.Evidence[i].String(), Kind: Ranking, Rank: rank}
		if rank == 0 {
			if err := d.look(ctx, &q.Evidence[i], &m); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// look finds out about evidence that is not among the hits asked for.
func (d *diagnosis) look(ctx context.Context, e *Evidence, m *Miss) error {
	rank, err := d.deepRank(ctx, e)
	if err != nil || rank > 0 {
		m.Rank = rank
		return err
	}
	if e.Path == "" {
		m.Kind, m.Reason = NotIndexed, fmt.Sprintf("none of the first %d hits has the phrase (write the path before it to learn more)", maxDepth)
		return nil
	}
	passages, err := d.Passages(ctx, e.Path)
	if errors.Is(err, ErrNotIndexed) {
		m.Kind, m.Reason = NotIndexed, err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	here := slices.DeleteFunc(slices.Clone(passages), func(h Hit) bool { return !e.in(&h) })
	if len(here) == 0 {
		m.Kind, m.Reason = NotIndexed, fmt.Sprintf("the document has %d passages, and none is this one", len(passages))
		return nil
	}
	return d.words(ctx, here, m)
}

// deepRank is the evidence's rank among the first maxDepth hits, or 0.
func (d *diagnosis) deepRank(ctx context.Context, e *Evidence) (int, error) {
	if d.deep == nil {
		q := d.query
		q.K = maxDepth
		var err error
		if d.deep, err = d.Search(ctx, q); err != nil {
			return 0, err
		}
	}
	for i := range d.deep {
		if e.in(&d.deep[i]) {
			return i + 1, nil
		}
	}
	return 0, nil
}

// words compares the words of the question with those of the passages.
func (d *diagnosis) words(ctx context.Context, passages []Hit, m *Miss) error {
	for _, h := range passages {
		terms, err := d.Terms(ctx, d.query.Text, h)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(terms, func(t Term) bool { return t.TF > 0 }) {
			return nil // shared: a matter of ranking
		}
	}
	var text strings.Builder
	for _, h := range passages {
		text.WriteString(h.Text + "\n")
	}
	if m.Forms = forms(d.query.Text, text.String()); len(m.Forms) > 0 {
		m.Kind = WordForm
		return nil
	}
	terms, err := d.Terms(ctx, passages[0].Text, passages[0])
	if err != nil {
		return err
	}
	m.Kind, m.Terms = Gap, rarest(terms)
	return nil
}

// rarest gives the names of the passage's terms that the fewest others have.
func rarest(terms []Term) []string {
	terms = slices.DeleteFunc(terms, func(t Term) bool { return t.TF == 0 })
	slices.SortStableFunc(terms, func(a, b Term) int {
		return cmp.Or(a.DF-b.DF, b.TF-a.TF, len(b.Name)-len(a.Name))
	})
	var out []string
	for _, t := range terms[:min(rareTerms, len(terms))] {
		out = append(out, t.Name)
	}
	return out
}
