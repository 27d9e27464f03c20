package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quern/index/analysis"
	"quern/index/chunk"
	"quern/index/extract"
	"quern/index/rank"

	"pgregory.net/rapid"
)

// naiveBest is the model best once more, over all passages and without anything
// kept: terms are the analyzer's, all else is done anew.
type naiveBest struct {
	analyzer *analysis.Analyzer
	passages []bestPassage
	df       map[string]int
	length   int
}

type bestPassage struct {
	naiveHit
	seq      []string // the words of the text, in order
	tf       map[string]int
	length   int
	headings []string // terms of title and headings
	code     bool
}

func newNaiveBest(docs map[string]*Document, o Options) *naiveBest {
	a, err := analysis.New(o.Analysis)
	if err != nil {
		panic(err)
	}
	x := &naiveBest{analyzer: a, df: make(map[string]int)}
	for _, d := range docs {
		for n, p := range chunk.Split(d.Content, o.Chunk) {
			x.add(d, n, p, o)
		}
	}
	return x
}

func (x *naiveBest) add(d *Document, n int, p chunk.Passage, o Options) {
	code := isCode(d.Content.Type)
	text := d.Content.Text[p.Start:p.End]
	a := x.analyzer.Of(text, code)
	b := bestPassage{naiveHit: naiveHit{path: d.Path, n: n}, code: code}
	end := 0
	terms := a.Terms(string(text))
	a.Tokens(text, func(t analysis.Token) bool {
		if t.Start >= end {
			b.seq, end = append(b.seq, t.Term), t.End
		}
		return true
	})
	if o.HeadingTerms {
		path := p.Heading
		if p.HeadingOnly {
			path = path[:len(path)-1]
		}
		terms = append(terms, a.Terms(strings.Join(path, "\n"))...)
	}
	field := slices.Clone(p.Heading)
	if !slices.Contains(field, d.Content.Title) {
		field = append(field, d.Content.Title)
	}
	b.headings = a.Terms(strings.Join(field, "\n"))
	b.tf, b.length = count(terms), len(terms)
	for t := range b.tf {
		x.df[t]++
	}
	x.length += b.length
	x.passages = append(x.passages, b)
}

func (x *naiveBest) idf(t string) float64 {
	n, df := float64(len(x.passages)), float64(x.df[t])
	return rank.Log(1 + (n-df+.5)/(df+.5))
}

func saturated(length, average float64) float64 {
	return float64(1.2 * (1 - .75 + float64(.75*length)/average))
}

// terms of a query that count, in its order.
func (x *naiveBest) query(text string) (order []string) {
	stop := x.analyzer.StopTerms([]byte(text))
	var all []string
	for _, t := range x.analyzer.Terms(text) { // the queries here have one form
		if x.df[t] > 0 {
			all = append(all, t)
		}
	}
	for _, t := range all {
		if !stop[t] {
			order = append(order, t)
		}
	}
	if order == nil {
		return all
	}
	return order
}

func (x *naiveBest) base(p *bestPassage, query map[string]int) (sum float64) {
	norm := saturated(float64(p.length), float64(x.length)/float64(len(x.passages)))
	for _, t := range sortedTerms(query) {
		if tf := p.tf[t]; tf > 0 {
			sum += float64(float64(float64(query[t])*x.idf(t))*float64(tf)) / (float64(tf) + norm)
		}
	}
	return sum
}

// extra adds what a closer look adds.
func (x *naiveBest) extra(p *bestPassage, text string, score float64) float64 {
	order, stop := x.query(text), x.analyzer.StopTerms([]byte(text))
	query, field := count(order), count(p.headings)
	add := func(weight, idf float64, tf int, norm float64) {
		if tf > 0 {
			score += float64(float64(weight*idf)*float64(tf)) / (float64(tf) + norm)
		}
	}
	for _, t := range sortedTerms(query) {
		add(.5*float64(query[t]), x.idf(t), field[t], saturated(float64(len(p.headings)), 6))
	}
	norm := saturated(float64(p.length), float64(x.length)/float64(len(x.passages)))
	var rare []string
	for _, t := range p.seq {
		if !stop[t] || query[t] > 0 {
			rare = append(rare, t)
		}
	}
	seen := map[string]bool{}
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if a == b || seen[a+" "+b] {
			continue
		}
		seen[a+" "+b] = true
		n := 0
		for j := 1; j < len(rare); j++ {
			if rare[j-1] == a && rare[j] == b {
				n++
			}
		}
		add(.5, math.Min(x.idf(a), x.idf(b)), n, norm)
	}
	if p.code {
		plain := count(x.analyzer.Terms(text))
		for _, t := range sortedTerms(count(x.analyzer.Of(nil, true).Terms(text))) {
			if plain[t] == 0 && !stop[t] && x.df[t] > 0 {
				add(1, x.idf(t), p.tf[t], norm)
			}
		}
	}
	return score
}

func (x *naiveBest) search(text string, o SearchOptions) (int, []naiveHit) {
	query := count(x.query(text))
	var found []bestPassage
	for i := range x.passages {
		p := x.passages[i]
		if o.Keep != nil && !o.Keep(&DocumentInfo{Path: p.path}) {
			continue
		}
		if p.score = x.base(&p, query); p.score > 0 {
			found = append(found, p)
		}
	}
	order := func(a, b bestPassage) int {
		return rank.Compare(rank.Key{Score: a.score, Path: a.path, Passage: a.n}, rank.Key{Score: b.score, Path: b.path, Passage: b.n})
	}
	slices.SortFunc(found, order)
	for i := range found[:min(bestDepth, len(found))] {
		found[i].score = x.extra(&found[i], text, found[i].score)
	}
	slices.SortFunc(found, order)
	var hits []naiveHit
	seen := map[string]bool{}
	for _, p := range found {
		if !o.CollapseDocument || !seen[p.path] {
			hits = append(hits, p.naiveHit)
		}
		seen[p.path] = true
	}
	return len(hits), hits[min(o.Offset, len(hits)):min(o.Offset+o.K, len(hits))]
}

// bestWords have pairs, stop words and names.
var bestWords = strings.Fields("ox elk ant bee the of oxElk elkHerd antBee")

// drawBest makes a document of one of three types.
func drawBest(t *rapid.T) *Document {
	text := func(name string, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bestWords), 0, most).Draw(t, name), " ")
	}
	path := rapid.SampledFrom(paths).Draw(t, "path")
	c := putText(path, text("words", 30)+"\n\n"+text("more", 20))
	if rapid.Bool().Draw(t, "structured") {
		c = put(path, structured(text("title", 3), []section{
			{strings.Fields(text("heading", 2)), text("body", 20) + "\n"}, {strings.Fields(text("heading", 2)), text("body", 9)},
		}))
	} else if rapid.Bool().Draw(t, "code") {
		c.Put.Content.Type = "go"
	}
	return c.Put
}

// TestBestAfterAnyHistory holds the model best after any changes against a fresh
// index and against the naive one, bit for bit; with few passages looked at
// closely, there are others behind them.
func TestBestAfterAnyHistory(t *testing.T) {
	defer func(depth int) { bestDepth = depth }(bestDepth)
	rapid.Check(t, func(rt *rapid.T) {
		bestDepth = rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "depth")
		o := drawOptions(rt)
		o.Analysis = analysis.Options{Tokenizer: analysis.Unicode, Stemmer: rapid.SampledFrom([]string{"none", "english", "auto"}).Draw(rt, "stemmer")}
		h := &history{opts: o, docs: make(map[string]*Document)}
		h.e = openEngine(t, o)
		defer h.e.Close()
		for range rapid.IntRange(1, 12).Draw(rt, "changes") {
			d := drawBest(rt)
			if rapid.IntRange(0, 4).Draw(rt, "kind") == 0 {
				delete(h.docs, d.Path)
				apply(t, h.e, remove(d.Path))
				continue
			}
			h.docs[d.Path] = d
			apply(t, h.e, Change{Put: d})
		}
		fresh := h.fresh(t, 0)
		defer fresh.Close()
		x := newNaiveBest(h.docs, o)
		for range 4 {
			q := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bestWords), 1, 5).Draw(rt, "query"), " ")
			so := SearchOptions{
				Model: Best, K: rapid.SampledFrom([]int{0, 1, 3, 200}).Draw(rt, "k"), Offset: rapid.SampledFrom([]int{0, 0, 2}).Draw(rt, "offset"),
				CollapseDocument: rapid.Bool().Draw(rt, "collapse"), Text: true,
			}
			if rapid.IntRange(0, 3).Draw(rt, "keep") == 0 {
				so.Keep = func(d *DocumentInfo) bool { return d.Path < "/e" }
			}
			h.sameBest(rt, fresh, x, q, so)
		}
	})
}

func (h *history) sameBest(t *rapid.T, fresh *Engine, x *naiveBest, q string, o SearchOptions) {
	a, err := h.e.Snapshot().Search(context.Background(), q, o)
	b, errFresh := fresh.Snapshot().Search(context.Background(), q, o)
	if err != nil || errFresh != nil {
		t.Fatal(err, errFresh)
	}
	total, want := x.search(q, o)
	for _, r := range []*Result{a, b} {
		var got []naiveHit
		for _, hit := range r.Hits {
			got = append(got, naiveHit{hit.Score, hit.Document.Path, hit.N})
		}
		if !slices.Equal(got, want) || !r.counted(total) {
			t.Fatalf("%q %+v:\n got %d %v\nwant %d %v", q, o, r.Total, got, total, want)
		}
	}
	for _, hit := range a.Hits {
		e, err := h.e.Snapshot().Explain(q, o, hit.Document.Path, hit.N)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, term := range e.Terms {
			sum += term.Contribution
		}
		for _, bonus := range e.Bonuses {
			sum += bonus.Contribution
		}
		if sum != hit.Score || e.Score != hit.Score {
			t.Fatalf("%q %+v: score %v, explained as %v, contributions %v: %+v", q, o, hit.Score, e.Score, sum, e)
		}
	}
}

// What is above a passage, and words side by side, bring it to the front.
func TestBestPrefersHeadingsPairsAndNames(t *testing.T) {
	o := plainOptions()
	o.Analysis = analysis.Default()
	o.HeadingTerms = true
	e := openEngine(t, o)
	code := func(path, text string) Change {
		c := putText(path, text)
		c.Put.Content.Type = extract.TypeOf(path)
		return c
	}
	apply(t, e,
		putText("/apart.txt", "notes of a month and the train that they came with to release"),
		putText("/pair.txt", "with the train that they came and a month of to release notes"),
		put("/headed.md", structured("Gardening", []section{{[]string{"Watering", "Roses"}, "every second day in the morning, more in summer\n"}})),
		putText("/plain.txt", "roses want watering every second day in the morning, more in summer, says an old book on gardening of mine\n"),
		code("/a.go", "type poolWorker struct { queue chan jobItem }"),
		code("/b.txt", "the poolWorker has a queue, and workers pool their tips"),
	)
	for query, best := range map[string]string{
		"release notes": "/pair.txt", "watering roses": "/headed.md", "job item of a worker": "/a.go", "WorkerPool queue": "/a.go",
	} {
		r := search(t, e.Snapshot(), query, SearchOptions{K: 3, Model: Best})
		if len(r.Hits) == 0 || r.Hits[0].Document.Path != best {
			t.Errorf("%q finds %s", query, show(r))
		}
	}
	if r := search(t, e.Snapshot(), "the of", SearchOptions{K: 3, Model: Best}); len(r.Hits) == 0 {
		t.Error("a query of stop words alone finds nothing")
	}
	if _, err := e.Snapshot().Search(t.Context(), "x", SearchOptions{Model: "none such"}); !strings.Contains(fmt.Sprint(err), `"best"`) {
		t.Errorf("an unknown model: %v", err)
	}
}
