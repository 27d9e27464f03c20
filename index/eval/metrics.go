package eval

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// charsPerToken is the rule of thumb for what text costs a language model.
const charsPerToken = 4

// Figures are the means over all questions at one k.
type Figures struct {
	K         int     `json:"k"`
	Recall    float64 `json:"recall"`    // of the evidence, what is among the first k hits
	Precision float64 `json:"precision"` // of k hits, what is evidence
	HitRate   float64 `json:"hit_rate"`  // questions with any evidence among the first k
	NDCG      float64 `json:"ndcg"`
	Tokens    float64 `json:"tokens"` // of four characters, that the first k hits cost
}

// ranking is what became of one question.
type ranking struct {
	question *Question
	// ranks are those of the first hit that each piece of evidence is in, from
	// 1; 0 is none.
	ranks    []int
	covered  []float64 // by hit: the weight of the evidence found up to it
	relevant []int     // by hit: how many up to it are evidence
	tokens   []float64 // by hit: what the hits up to it cost
	words    []int     // by hit
	gained   []float64 // by hit: weight that it adds
	total    float64   // weight of all evidence
}

// judge finds the evidence among the hits.
func judge(q *Question, hits []Hit) *ranking {
	r := &ranking{question: q, ranks: make([]int, len(q.Evidence))}
	spans := make([]spanSet, len(q.Evidence))
	for i := range q.Evidence {
		r.total += q.Evidence[i].weight()
	}
	covered, relevant, tokens := 0.0, 0, 0.0
	for n := range hits {
		h, gain, evidence := &hits[n], 0.0, false
		for i := range q.Evidence {
			e := &q.Evidence[i]
			if !e.in(h) {
				continue
			}
			evidence = true
			if e.Bytes != [2]int{} {
				gain += float64(spans[i].add(max(e.Bytes[0], h.Bytes[0]), min(e.Bytes[1], h.Bytes[1])))
			} else if r.ranks[i] == 0 {
				gain++
			}
			if r.ranks[i] == 0 {
				r.ranks[i] = n + 1
			}
		}
		covered += gain
		if evidence {
			relevant++
		}
		tokens += math.Ceil(float64(utf8.RuneCountInString(h.Text)) / charsPerToken)
		r.covered, r.relevant = append(r.covered, covered), append(r.relevant, relevant)
		r.tokens, r.words = append(r.tokens, tokens), append(r.words, len(strings.Fields(h.Text)))
		r.gained = append(r.gained, gain)
	}
	return r
}

// spanSet is a set of bytes, as sorted spans.
type spanSet [][2]int

// add adds a span and returns how many of its bytes are new.
func (s *spanSet) add(start, end int) (fresh int) {
	fresh = end - start
	for _, old := range *s {
		fresh -= max(0, min(end, old[1])-max(start, old[0]))
	}
	var out spanSet
	for _, old := range *s {
		if old[1] < start || end < old[0] {
			out = append(out, old)
			continue
		}
		start, end = min(start, old[0]), max(end, old[1])
	}
	*s = append(out, [2]int{start, end})
	return fresh
}

// upTo is the value at k hits of a sum by hit.
func upTo[T int | float64](sums []T, k int) T {
	if k = min(k, len(sums)); k == 0 {
		return 0
	}
	return sums[k-1]
}

func (r *ranking) recall(k int) float64 { return upTo(r.covered, k) / r.total }

// precision divides by k even where there are fewer hits.
func (r *ranking) precision(k int) float64 { return float64(upTo(r.relevant, k)) / float64(k) }

func (r *ranking) hit(k int) float64 {
	if upTo(r.relevant, k) > 0 {
		return 1
	}
	return 0
}

// reciprocal is one over the rank of the first hit that is evidence.
func (r *ranking) reciprocal() float64 {
	for i, n := range r.relevant {
		if n > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// ndcg is the normalised discounted cumulative gain at k. The gain is the grade,
// once for each piece of evidence.
//
// Source: Järvelin & Kekäläinen, Cumulated Gain-based Evaluation of IR Techniques
// (2002), with the discount log2(rank + 1) of trec_eval's ndcg_cut.
func (r *ranking) ndcg(k int) float64 {
	var grades []float64
	got := 0.0
	for i, e := range r.question.Evidence {
		grades = append(grades, e.Grade)
		if n := r.ranks[i]; n > 0 && n <= k {
			got += e.Grade / math.Log2(float64(n)+1)
		}
	}
	slices.SortFunc(grades, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	best := 0.0
	for i, g := range grades[:min(k, len(grades))] {
		best += g / math.Log2(float64(i)+2)
	}
	return min(got/best, 1) // a hit may be several pieces of evidence
}

// within is the recall of the best hits that fit into so many words; a hit that
// does not fit is passed over.
func (r *ranking) within(words int) float64 {
	found := 0.0
	for i, n := range r.words {
		if n <= words {
			words -= n
			found += r.gained[i]
		}
	}
	return found / r.total
}

// figures are the means at k.
func figures(all []*ranking, k int) Figures {
	f := Figures{K: k}
	for _, r := range all {
		f.Recall += r.recall(k)
		f.Precision += r.precision(k)
		f.HitRate += r.hit(k)
		f.NDCG += r.ndcg(k)
		f.Tokens += upTo(r.tokens, k)
	}
	n := float64(len(all))
	f.Recall, f.Precision, f.HitRate, f.NDCG, f.Tokens = f.Recall/n, f.Precision/n, f.HitRate/n, f.NDCG/n, f.Tokens/n
	return f
}

// mean of a figure over the questions.
func mean(all []*ranking, f func(*ranking) float64) float64 {
	sum := 0.0
	for _, r := range all {
		sum += f(r)
	}
	return sum / float64(len(all))
}
