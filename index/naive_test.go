package index

import (
	"math"

	"quern/index/rank"
	"slices"
	"strings"

	"quern/index/analysis"
	"quern/index/chunk"
)

// naive is the ranking once more, over all passages, with nothing kept from
// one index to the next: it is slow, and short enough to be believed.
type naive struct {
	passages []naivePassage
	df       map[string]int
	length   int

	opts  Options
	terms *analysis.Analyzer
	words *analysis.Analyzer // without stop words

	expanded map[string]map[string]float64 // what clauses stand for
}

type naivePassage struct {
	path   string
	folder string
	n      int
	tf     map[string]int
	length int

	words    []string   // of the text, stop words included
	headings [][]string // the same of each heading
	title    []string
}

func newNaive(docs map[string]*Document, o Options) *naive {
	a, err := analysis.New(o.Analysis)
	if err != nil {
		panic(err)
	}
	o.Analysis.Stopwords = analysis.None
	words, err := analysis.New(o.Analysis)
	if err != nil {
		panic(err)
	}
	x := &naive{df: make(map[string]int), opts: o, terms: a, words: words, expanded: make(map[string]map[string]float64)}
	for _, d := range docs {
		for n, p := range chunk.Split(d.Content, o.Chunk) {
			terms := a.Terms(string(d.Content.Text[p.Start:p.End]))
			if o.HeadingTerms {
				headings := p.Heading
				if p.HeadingOnly {
					headings = headings[:len(headings)-1]
				}
				terms = append(terms, a.Terms(strings.Join(headings, "\n"))...)
			}
			tf := count(terms)
			for t := range tf {
				x.df[t]++
			}
			x.length += len(terms)
			x.passages = append(x.passages, naivePassage{
				d.Path, d.Folder, n, tf, len(terms),
				words.Terms(string(d.Content.Text[p.Start:p.End])), each(p.Heading, words.Terms), words.Terms(d.Content.Title),
			})
		}
	}
	return x
}

func (x *naive) weight(t string, tf int, o SearchOptions) float64 {
	idf := rank.Log(float64(1+len(x.passages))/float64(1+x.df[t])) + 1
	if o.TF == RawTF {
		return float64(float64(tf) * idf)
	}
	return float64((1 + rank.Log(float64(tf))) * idf)
}

func (x *naive) norm(tf map[string]int, boost map[string]float64, o SearchOptions) float64 {
	sum := 0.0
	for _, t := range sortedTerms(tf) {
		w := x.weight(t, tf[t], o)
		if boost != nil {
			w *= boost[t]
		}
		sum += float64(w * w)
	}
	return math.Sqrt(sum)
}

func sortedTerms(tf map[string]int) []string {
	var out []string
	for t := range tf {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

func (x *naive) score(p naivePassage, query map[string]int, boost map[string]float64, o SearchOptions) float64 {
	sum := 0.0
	for _, t := range sortedTerms(query) {
		tf := p.tf[t]
		switch {
		case tf == 0:
		case o.Model == BM25:
			n, df := float64(len(x.passages)), float64(x.df[t])
			idf := rank.Log(1 + (n-df+0.5)/(df+0.5))
			average := float64(x.length) / n
			length := o.K1 * (1 - o.B + o.B*float64(p.length)/average)
			sum += float64(float64(query[t])*boost[t]*idf) * float64(tf) / (float64(tf) + float64(length))
		default:
			sum += float64(x.weight(t, query[t], o) * boost[t] / x.norm(query, boost, o) * (x.weight(t, tf, o) / x.norm(p.tf, nil, o)))
		}
	}
	return sum
}

type naiveHit struct {
	score float64
	path  string
	n     int
}

// search returns the total and the hits for terms.
func (x *naive) search(terms []string, o SearchOptions) (int, []naiveHit) {
	query, boost := make(map[string]int), make(map[string]float64)
	for _, t := range terms {
		if x.df[t] > 0 {
			query[t]++
			boost[t] = 1
		}
	}
	return x.choose(o, func(p naivePassage) float64 { return x.score(p, query, boost, o) })
}

// choose returns the total and the hits, of a score for every passage.
func (x *naive) choose(o SearchOptions, score func(naivePassage) float64) (int, []naiveHit) {
	var hits []naiveHit
	for _, p := range x.passages {
		if o.Keep != nil && !o.Keep(&DocumentInfo{Path: p.path, Folder: p.folder}) {
			continue
		}
		if s := score(p); s > 0 {
			hits = append(hits, naiveHit{s, p.path, p.n})
		}
	}
	slices.SortFunc(hits, func(a, b naiveHit) int {
		switch {
		case a.score != b.score:
			return int(math.Copysign(1, b.score-a.score))
		case a.path != b.path:
			return strings.Compare(a.path, b.path)
		}
		return a.n - b.n
	})
	if o.CollapseDocument {
		seen := make(map[string]bool)
		hits = slices.DeleteFunc(hits, func(h naiveHit) bool {
			again := seen[h.path]
			seen[h.path] = true
			return again
		})
	}
	total := len(hits)
	return total, hits[min(o.Offset, total):min(o.Offset+o.K, total)]
}
