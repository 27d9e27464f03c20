package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	lang "quern/index/query"

	"pgregory.net/rapid"
)

func each[A, B any](list []A, f func(A) B) (out []B) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

// drawQuery draws clauses about the words of the property tests.
func drawQuery(t *rapid.T) *lang.Query {
	word := rapid.SampledFrom(append(words, "unseen", "ox-elk", "bee_cat.dog", "unseen-ox"))
	phrase := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(t, "words"), " ")
	})
	clause := rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "", "", "+", "-"}).Draw(t, "sign")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1:
			return sign + `"` + phrase.Draw(t, "phrase") + `"`
		case 2:
			return sign + rapid.SampledFrom([]string{"e*", "o*", "do*", "h*", "ox-e*", "q*", "zo*"}).Draw(t, "prefix")
		case 3:
			return sign + rapid.SampledFrom([]string{"elf~", "ant~2", "oxx~1", "eb~", "tac~2", "zoe~", "unseen~"}).Draw(t, "fuzzy")
		case 4:
			return strings.Trim(sign, "+") + `heading:` + rapid.SampledFrom(words).Draw(t, "heading")
		case 5:
			return strings.Trim(sign, "+") + `title:` + rapid.SampledFrom(words).Draw(t, "title")
		}
		return sign + word.Draw(t, "word")
	})
	text := strings.Join(rapid.SliceOfN(clause, 0, 4).Draw(t, "clauses"), " ")
	q, err := lang.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func findsLikeNaive(t interface{ Fatalf(string, ...any) }, s *Snapshot, n *naive, q *lang.Query, o SearchOptions) {
	r, err := s.Find(context.Background(), q, o)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	if o.K > 1<<32 {
		o.K = 1 << 32 // that Offset + K may not overflow here
	}
	total, want := n.find(q, o)
	got := each(r.Hits, func(h Hit) naiveHit { return naiveHit{h.Score, h.Document.Path, h.N} })
	if !r.counted(total) || !slices.Equal(got, want) {
		t.Fatalf("%s %+v:\ngot %d %v\nwant %d %v", q, o, r.Total, got, total, want)
	}
}

// find answers a query as docs/query.md says, passage by passage.
func (x *naive) find(q *lang.Query, o SearchOptions) (int, []naiveHit) {
	var ranking []int
	for i, c := range q.Clauses {
		if c.Occur != lang.Not && !c.Kind.IsField() {
			ranking = append(ranking, i)
		}
	}
	if len(ranking) == 1 && q.Clauses[ranking[0]].Kind == lang.Word && strings.ContainsAny(q.Clauses[ranking[0]].Text, "-_") {
		strict := &lang.Query{Clauses: slices.Clone(q.Clauses)}
		strict.Clauses[ranking[0]].Occur = lang.Must
		if total, hits := x.answer(strict, o); total > 0 {
			return total, hits
		}
	}
	return x.answer(q, o)
}

func (x *naive) answer(q *lang.Query, o SearchOptions) (int, []naiveHit) {
	query, boost := make(map[string]int), make(map[string]float64)
	for _, c := range q.Clauses {
		if c.Occur == lang.Not {
			continue
		}
		for t, b := range x.expand(c) {
			if x.df[t] > 0 {
				query[t]++
				boost[t] = max(boost[t], b)
			}
		}
		for _, t := range x.plain(c) {
			if x.df[t] > 0 {
				query[t]++
				boost[t] = 1
			}
		}
	}
	return x.choose(o, func(p naivePassage) float64 {
		for _, c := range q.Clauses {
			if c.Occur != lang.Any && x.matches(p, c) == (c.Occur == lang.Not) {
				return 0
			}
		}
		if len(q.Clauses) > 0 && !q.Ranks() {
			return 1
		}
		return x.score(p, query, boost, o)
	})
}

// plain are the terms of a clause that it has as it stands.
func (x *naive) plain(c lang.Clause) []string {
	switch c.Kind {
	case lang.Word, lang.Phrase:
		return x.terms.Terms(c.Text)
	case lang.Prefix:
		if i := strings.LastIndex(c.Text, "-"); i >= 0 {
			return x.terms.Terms(c.Text[:i])
		}
	}
	return nil
}

// expand are the terms that a clause stands for, with their boosts.
func (x *naive) expand(c lang.Clause) map[string]float64 {
	if c.Kind != lang.Prefix && c.Kind != lang.Fuzzy {
		return nil
	}
	key := c.String()
	if out, ok := x.expanded[key]; ok {
		return out
	}
	out := make(map[string]float64)
	x.expanded[key] = out
	for t := range x.df {
		switch c.Kind {
		case lang.Prefix:
			if strings.HasPrefix(t, strings.ToLower(c.Text[strings.LastIndex(c.Text, "-")+1:])) {
				out[t] = 1
			}
		case lang.Fuzzy:
			edits := cmp.Or(c.Edits, 1+len([]rune(c.Text))/6)
			if d := editDistance(c.Text, t); d <= edits {
				out[t] = 1 / float64(int(1)<<d)
			}
		}
	}
	return out
}

func (x *naive) matches(p naivePassage, c lang.Clause) bool {
	switch c.Kind {
	case lang.Heading:
		return hasAll(slices.Concat(p.headings...), x.words.Terms(c.Text))
	case lang.Title:
		return hasAll(p.title, x.words.Terms(c.Text))
	}
	expanded := c.Kind == lang.Fuzzy || c.Kind == lang.Prefix
	terms := x.plain(c)
	switch {
	case !expanded && len(terms) == 0:
		return c.Occur != lang.Not
	case expanded && !slices.ContainsFunc(sortedTerms(p.tf), func(t string) bool { return x.expand(c)[t] > 0 }):
		return false
	case slices.ContainsFunc(terms, func(t string) bool { return p.tf[t] == 0 }):
		return false
	}
	seq := x.words.Terms(c.Text)
	if expanded || len(seq) == 1 {
		return true
	}
	return containsSequence(p.words, seq) ||
		x.opts.HeadingTerms && slices.ContainsFunc(p.headings, func(h []string) bool { return containsSequence(h, seq) })
}

func containsSequence(words, seq []string) bool {
	for i := range words {
		if i+len(seq) <= len(words) && slices.Equal(words[i:i+len(seq)], seq) {
			return true
		}
	}
	return false
}

// editDistance counts insertions, deletions, substitutions and exchanges of
// neighbours, none of which touches another's characters.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case x[i-1] == y[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], 1+d[i-2][j-2])
			}
		}
	}
	return d[len(x)][len(y)]
}

func TestAutomatonCountsEdits(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abcß東")), 0, 7, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, edits := word.Filter(func(s string) bool { return s != "" }).Draw(t, "pattern"), rapid.IntRange(1, maxEdits).Draw(t, "edits")
		a, ok := newAutomaton(pattern, edits)
		if !ok {
			t.Fatal("no automaton")
		}
		terms := rapid.SliceOfN(word, 1, 20).Draw(t, "terms")
		slices.Sort(terms)
		w := &dictWalker{automaton: a}
		for _, term := range terms {
			want := editDistance(pattern, term)
			got, ok := w.read([]byte(term))
			if ok != (want <= edits) || ok && got != want {
				t.Fatalf("%s to %s: %d, %v; %d within %d", pattern, term, got, ok, want, edits)
			}
			if w.dead > 0 && ok {
				t.Fatalf("%s is accepted and has no future", term)
			}
		}
	})
}

// TestFewPassagesAmongMany: what few passages have in common with a frequent word,
// whose postings are passed by in blocks, adds up as elsewhere.
func TestFewPassagesAmongMany(t *testing.T) {
	o := plainOptions()
	o.selectiveShare, o.eagerChecks = 1, eagerChecks
	e := openEngine(t, o)
	docs := make(map[string]*Document)
	var batch []Change
	for i := range 700 {
		text := "gnu hen"
		if i%5 == 0 {
			text = "hen elk"
		}
		if i%29 == 0 {
			text += " gnu ox gnu"
		}
		c := putText(fmt.Sprintf("/%03d", i), text)
		docs[c.Put.Path] = c.Put
		batch = append(batch, c)
	}
	apply(t, e, batch...)
	n := newNaive(docs, o)
	for _, q := range []string{"+ox gnu", "gnu hen -hen +ox", `+ox "ox gnu" elk gnu`, "+elk gnu hen"} {
		findsLikeNaive(t, e.Snapshot(), n, mustParse(t, q), SearchOptions{K: 800})
	}
}
