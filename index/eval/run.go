package eval

import (
	"context"
	"fmt"
)

// Report is what was measured.
type Report struct {
	Set       string        `json:"set"`
	Questions int           `json:"questions"`
	Evidence  int           `json:"evidence"`
	K         int           `json:"k"`
	Words     int           `json:"words,omitempty"`
	Models    []ModelReport `json:"models"`
}

// ModelReport is what was measured of one model.
type ModelReport struct {
	Model string    `json:"model"`
	Sweep []Figures `json:"sweep"`
	MRR   float64   `json:"mrr"` // mean reciprocal rank of the first evidence
	// Elbow is the k from which recall rises no more (by RecallStep or more).
	Elbow int `json:"elbow"`
	// WithinWords is the recall of the best hits that fit into Report.Words.
	WithinWords float64 `json:"recall_within_words,omitempty"`
	// Curve has the figures of every k from 1 on.
	Curve []Point `json:"curve"`
	// Against compares with the first model, at Report.K.
	Against *Comparison `json:"against_first,omitempty"`
	Misses  []Miss      `json:"misses"`

	all []*ranking
}

// Point is recall and precision at one k.
type Point struct {
	K         int     `json:"k"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
}

// RecallStep is what counts as a rise of recall.
const RecallStep = 0.005

// Comparison is how a model differs from another, question by question: the
// means of the differences, and how probable they would be by chance.
type Comparison struct {
	Recall  float64 `json:"recall"`
	RecallP float64 `json:"recall_p"`
	NDCG    float64 `json:"ndcg"`
	NDCGP   float64 `json:"ndcg_p"`
	// Better and Worse count the questions whose nDCG differs.
	Better int `json:"better"`
	Worse  int `json:"worse"`
}

// Run asks every question of a set of every model. Its errors are the
// Searcher's, with the question's text, and ctx's.
func Run(ctx context.Context, s Searcher, set *Set, o Options) (*Report, error) {
	o.fill()
	r := &Report{Set: set.Name, Questions: len(set.Questions), K: o.K, Words: o.Words}
	for i := range set.Questions {
		r.Evidence += len(set.Questions[i].Evidence)
	}
	done := 0
	for _, model := range o.Models {
		m, err := runModel(ctx, s, set, model, &o, func() {
			done++
			if o.Progress != nil {
				o.Progress(done, len(o.Models)*len(set.Questions))
			}
		})
		if err != nil {
			return nil, err
		}
		if len(r.Models) > 0 {
			m.Against = compare(r.Models[0].all, m.all, o.K)
		}
		r.Models = append(r.Models, *m)
	}
	return r, nil
}

func runModel(ctx context.Context, s Searcher, set *Set, model string, o *Options, progress func()) (*ModelReport, error) {
	m := &ModelReport{Model: model, Misses: []Miss{}}
	collapse := set.wholeDocuments()
	for i := range set.Questions {
		q := &set.Questions[i]
		query := Query{Text: q.Text, Model: model, K: o.depth(), Collapse: collapse}
		if o.Words > 0 { // passages of ten words may all fit
			query.K = max(query.K, min(o.Words/10, maxDepth))
		}
		hits, err := s.Search(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("question %q: %w", q.Text, err)
		}
		r := judge(q, hits)
		m.all = append(m.all, r)
		if o.Diagnose {
			d := diagnosis{Searcher: s, query: query, limit: o.K, ranking: r}
			misses, err := d.misses(ctx)
			if err != nil {
				return nil, fmt.Errorf("question %q: %w", q.Text, err)
			}
			m.Misses = append(m.Misses, misses...)
		}
		progress()
	}
	m.measure(o)
	return m, nil
}

// wholeDocuments reports whether all evidence is documents: then a document is
// found once.
func (s *Set) wholeDocuments() bool {
	for i := range s.Questions {
		for j := range s.Questions[i].Evidence {
			if !s.Questions[i].Evidence[j].whole() {
				return false
			}
		}
	}
	return true
}

func (m *ModelReport) measure(o *Options) {
	for _, k := range o.Sweep {
		m.Sweep = append(m.Sweep, figures(m.all, k))
	}
	m.MRR = mean(m.all, (*ranking).reciprocal)
	for k := 1; k <= o.depth(); k++ {
		m.Curve = append(m.Curve, Point{
			K: k, Recall: mean(m.all, func(r *ranking) float64 { return r.recall(k) }),
			Precision: mean(m.all, func(r *ranking) float64 { return r.precision(k) }),
		})
	}
	m.Elbow = elbow(m.Curve)
	if o.Words > 0 {
		m.WithinWords = mean(m.all, func(r *ranking) float64 { return r.within(o.Words) })
	}
}

// elbow is the least k whose recall is within RecallStep of the last.
func elbow(curve []Point) int {
	last := curve[len(curve)-1].Recall
	for _, p := range curve {
		if p.Recall > last-RecallStep {
			return p.K
		}
	}
	return len(curve)
}

// compare compares b with a at k.
func compare(a, b []*ranking, k int) *Comparison {
	c := &Comparison{}
	var recallA, recallB, ndcgA, ndcgB []float64
	for i := range a {
		recallA, recallB = append(recallA, a[i].recall(k)), append(recallB, b[i].recall(k))
		x, y := a[i].ndcg(k), b[i].ndcg(k)
		ndcgA, ndcgB = append(ndcgA, x), append(ndcgB, y)
		c.Recall += recallB[i] - recallA[i]
		c.NDCG += y - x
		switch {
		case y > x:
			c.Better++
		case y < x:
			c.Worse++
		}
	}
	c.Recall /= float64(len(a))
	c.NDCG /= float64(len(a))
	c.RecallP, c.NDCGP = pValue(recallA, recallB), pValue(ndcgA, ndcgB)
	return c
}

// At is the figures of a model at k, measured anew if k is not of the sweep; false
// if the hits do not reach so far.
func (m *ModelReport) At(k int) (Figures, bool) {
	for _, f := range m.Sweep {
		if f.K == k {
			return f, true
		}
	}
	if m.all == nil || k < 1 || k > len(m.Curve) {
		return Figures{}, false
	}
	return figures(m.all, k), true
}
