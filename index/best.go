package index

import (
	"context"
	"slices"

	"quern/index/analysis"
	"quern/index/rank"
	"quern/index/segment"
)

// The model best is BM25 for the first choice, and then a closer look at the
// passages that have the highest scores: each of them is given, on top of its
// score, what the title and the headings above it, query words that stand side by
// side, and, in code, the parts of the query's names are worth. docs/ranking.md
// has the formulas and what each part was measured to be worth.
//
// Whatever is added is not negative, so that the passages looked at stay before
// all others, whose score is that of BM25. What is added depends on the live
// passages alone, as BM25 does: best is exact, too.
const (
	// bestK1 and bestB are BM25's parameters.
	bestK1, bestB = 1.2, 0.75
	// fieldWeight is what a word in the title or a heading counts, as a part of
	// what it counts in the text, for a field of fieldLength words.
	fieldWeight = 0.5
	fieldLength = 6
	// pairWeight is what two words in the query's order count.
	pairWeight = 0.5
)

// bestDepth is how many passages are looked at closely; tests set others.
var bestDepth = 100

// bonus is something that is added to a passage's score.
type bonus struct {
	kind   string // Heading, Pair or Part
	name   string
	weight float64 // what idf is multiplied by
	idf    float64
	tf     int
	length float64 // what is added to tf
}

// Kinds of bonus.
const (
	// HeadingBonus is for a term in the title or in a heading above the passage.
	HeadingBonus = "heading"
	// PairBonus is for two terms of the query that follow each other.
	PairBonus = "pair"
	// PartBonus is for a part of a name in the query, such as "executor" of
	// DiffExecutor, in a passage of code.
	PartBonus = "part"
)

func (b *bonus) value() float64 { return rank.BM25(b.weight, b.idf, float64(b.tf), b.length) }

// closer looks at passages closely.
type closer struct {
	s     *Snapshot
	q     *query
	idfs  map[string]float64 // of the query's terms
	pairs []pair
	parts []queryTerm // of the query's names, in byte order
	text  segment.TextBuffer
}

// pair is two neighbours of the query.
type pair struct{ first, second string }

func (s *Snapshot) newCloser(q *query) *closer {
	c := &closer{s: s, q: q, idfs: make(map[string]float64)}
	for i := range q.terms {
		c.idfs[q.terms[i].name] = q.terms[i].idf
	}
	last := ""
	for _, name := range q.order {
		if c.idfs[name] == 0 {
			continue
		}
		if p := (pair{last, name}); last != "" && last != name && !slices.Contains(c.pairs, p) {
			c.pairs = append(c.pairs, p)
		}
		last = name
	}
	for _, name := range q.parts {
		t := queryTerm{name: name, tf: 1}
		if t.find(s); t.df > 0 && c.idfs[name] == 0 {
			t.idf = rank.BM25IDF(q.n, t.df)
			c.parts = append(c.parts, t)
		}
	}
	return c
}

// bonuses of a passage, in the order in which they are added.
func (c *closer) bonuses(f *found) []bonus {
	text, code := f.view.text(f.local, &c.text), isCode(f.doc.info.Type)
	analyzer := c.s.analyzer.Of(text, code)
	out := c.headings(f, analyzer)
	if len(c.pairs) == 0 && (len(c.parts) == 0 || !code) {
		return out
	}
	counts, pairs := c.scan(analyzer, text)
	length := c.q.lengthNorm(f.view.PassageLength(f.local))
	for i, p := range c.pairs {
		if pairs[i] > 0 {
			idf := min(c.idfs[p.first], c.idfs[p.second])
			out = append(out, bonus{PairBonus, p.first + " " + p.second, pairWeight, idf, pairs[i], length})
		}
	}
	if !code {
		return out
	}
	for i := range c.parts {
		t := &c.parts[i]
		if n := counts[t.name]; n > 0 {
			out = append(out, bonus{PartBonus, t.name, 1, t.idf, n, length})
		}
	}
	return out
}

// headings are the bonuses of the title and the heading path.
func (c *closer) headings(f *found, a *analysis.Analyzer) []bonus {
	counts, length := make(map[string]int), 0
	count := func(text string) {
		a.Tokens([]byte(text), func(t analysis.Token) bool {
			counts[t.Term]++
			length++
			return true
		})
	}
	heading := f.doc.places[f.key.Passage].heading
	if title := f.doc.info.Title; !slices.Contains(heading, title) {
		count(title)
	}
	for _, h := range heading {
		count(h)
	}
	var out []bonus
	norm := rank.BM25Length(c.q.k1, c.q.b, length, fieldLength)
	for i := range c.q.terms {
		t := &c.q.terms[i]
		if n := counts[t.name]; n > 0 {
			out = append(out, bonus{HeadingBonus, t.name, fieldWeight * float64(t.tf), t.idf, n, norm})
		}
	}
	return out
}

// scan counts the terms of a text that matter, and the pairs of the query: terms
// with nothing between them but the commonest words.
func (c *closer) scan(a *analysis.Analyzer, text []byte) (counts map[string]int, pairs []int) {
	counts, pairs = make(map[string]int), make([]int, len(c.pairs))
	last, end := "", 0
	a.Tokens(text, func(t analysis.Token) bool {
		counts[t.Term]++
		if t.Start < end { // a part of a name, whose whole has been
			return true
		}
		end = t.End
		if c.q.stop[t.Term] && c.idfs[t.Term] == 0 {
			return true
		}
		if last != "" {
			if i := slices.Index(c.pairs, pair{last, t.Term}); i >= 0 {
				pairs[i]++
			}
		}
		last = ""
		if c.idfs[t.Term] > 0 {
			last = t.Term
		}
		return true
	})
	return counts, pairs
}

// raise adds the bonuses of a passage to its score.
func (c *closer) raise(f *found) {
	for _, b := range c.bonuses(f) {
		f.key.Score += b.value()
	}
}

// best answers a query by the model best.
func (s *Snapshot) best(ctx context.Context, q *query, o SearchOptions) (*Result, error) {
	first := o
	first.K, first.Offset, first.CollapseDocument = bestDepth, 0, false
	r, top, err := s.rank(ctx, q, first)
	if err != nil {
		return nil, err
	}
	c := s.newCloser(q)
	for i := range top {
		if i%16 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.raise(&top[i])
	}
	slices.SortFunc(top, func(a, b found) int { return rank.Compare(a.key, b.key) })
	if o.CollapseDocument {
		top = oneOfEach(top)
	}
	total, atLeast := r.count()
	complete := !atLeast && total <= bestDepth
	if complete {
		total = len(top)
	} else if o.CollapseDocument || o.Offset+o.K > bestDepth {
		if top, total, atLeast, err = s.further(ctx, q, o, top); err != nil {
			return nil, err
		}
	}
	top = asWanted(top, o)
	r.o.Text = o.Text
	res := &Result{Generation: s.generation, Passages: s.passages, Total: total, TotalAtLeast: atLeast, Hits: r.hits(top)}
	r.scratch.release()
	return res, nil
}

// further adds to the passages looked at, top, those that come after them, as far
// as they are wanted, and counts all.
func (s *Snapshot) further(ctx context.Context, q *query, o SearchOptions, top []found) ([]found, int, bool, error) {
	wanted := o
	wanted.K, wanted.Offset = min(o.K, s.passages)+min(max(o.Offset, 0), s.passages), 0
	if o.K <= 0 {
		wanted.K = 0
	}
	r, rest, err := s.rank(ctx, q, wanted)
	if err != nil {
		return nil, 0, false, err
	}
	defer r.scratch.release()
	seen := make(map[rank.Key]bool, len(top))
	id := func(f *found) rank.Key {
		k := rank.Key{Path: f.key.Path, Passage: f.key.Passage}
		if o.CollapseDocument {
			k.Passage = 0
		}
		return k
	}
	for i := range top {
		seen[id(&top[i])] = true
	}
	for i := range rest {
		if !seen[id(&rest[i])] {
			top = append(top, rest[i])
		}
	}
	total, atLeast := r.count()
	return top, total, atLeast, nil
}

// oneOfEach keeps the first passage of each document.
func oneOfEach(all []found) []found {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(f found) bool {
		again := seen[f.key.Path]
		seen[f.key.Path] = true
		return again
	})
}

// asWanted is what the options want of all hits.
func asWanted(all []found, o SearchOptions) []found {
	from := min(max(o.Offset, 0), len(all))
	return all[from : from+min(max(o.K, 0), len(all)-from)]
}

// closely says whether a passage is one of those that are looked at closely, and
// if it is, what is added to its score.
func (s *Snapshot) closely(ctx context.Context, q *query, o SearchOptions, path string, n int) (out []bonus, ok bool, err error) {
	o.K, o.Offset, o.CollapseDocument, o.Text = bestDepth, 0, false, false
	r, top, err := s.rank(ctx, q, o)
	if err != nil {
		return nil, false, err
	}
	defer r.scratch.release()
	for i := range top {
		if k := &top[i].key; k.Path == path && k.Passage == n {
			return s.newCloser(q).bonuses(&top[i]), true, nil
		}
	}
	return nil, false, nil
}
