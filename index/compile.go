package index

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"quern/index/analysis"
	lang "quern/index/query"
)

// compiler makes a query of what was asked. Words, and those of phrases, are
// terms that rank; prefixes and fuzzy words are terms, too: those of the
// dictionary that they stand for. What must or must not be there becomes demands.
type compiler struct {
	s     *Snapshot
	q     *query
	terms map[string]*queryTerm

	// text is all the words that rank, which are analysed as one text, and
	// spans says which of them belong to which clause.
	text  strings.Builder
	spans []clauseSpan
}

// clauseSpan is the part of the ranked text that comes from a clause.
type clauseSpan struct {
	clause int
	end    int
	terms  []string
}

// newQuery makes a query of clauses. It fails with the cause of ctx, too.
func (s *Snapshot) newQuery(ctx context.Context, asked *lang.Query, o SearchOptions) (*query, error) {
	if o.Model == Hybrid {
		o = o.lexical()
	}
	q := &query{model: o.Model, tf: o.TF, k1: o.K1, b: o.B, n: s.passages}
	if err := q.choose(); err != nil {
		return nil, err
	}
	if s.passages > 0 {
		q.length = s.average()
	}
	q.constant = len(asked.Clauses) > 0 && !asked.Ranks()
	c := &compiler{s: s, q: q, terms: make(map[string]*queryTerm)}
	for i := range asked.Clauses {
		c.gather(i, &asked.Clauses[i])
	}
	if err := c.analyse(ctx); err != nil {
		return nil, err
	}
	for i := range asked.Clauses {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.clause(i, &asked.Clauses[i])
	}
	c.finish()
	q.text = strings.TrimSpace(c.text.String())
	return q, nil
}

// gather adds the words of a clause that rank to the text of the query.
func (c *compiler) gather(i int, x *lang.Clause) {
	text := x.Text
	switch {
	case x.Occur == lang.Not || x.Kind.IsField():
		return
	case x.Kind == lang.Prefix:
		text, _ = c.s.engine.cutPrefix(x.Text)
	case x.Kind == lang.Fuzzy:
		if _, ok := c.s.fuzzyTerm(x.Text); ok {
			return
		}
	}
	c.text.WriteString(text)
	c.text.WriteByte(' ')
	c.spans = append(c.spans, clauseSpan{clause: i, end: c.text.Len()})
}

// analyse makes terms of the text that was gathered.
func (c *compiler) analyse(ctx context.Context) error {
	n, at := 0, 0
	c.s.queryTokens(c.text.String(), func(t analysis.Token) bool {
		for at < len(c.spans)-1 && t.Start >= c.spans[at].end {
			at++
		}
		c.spans[at].terms = append(c.spans[at].terms, t.Term)
		c.term(t.Term, 1, "")
		if c.q.best {
			c.q.order = append(c.q.order, t.Term)
		}
		n++
		return n%1024 != 0 || ctx.Err() == nil
	})
	return context.Cause(ctx)
}

// term counts a term, which from, unless it is empty, stands for.
func (c *compiler) term(name string, boost float64, from string) *queryTerm {
	t := c.terms[name]
	if t == nil {
		t = &queryTerm{name: name}
		c.terms[name] = t
	}
	t.tf++
	t.boost = max(t.boost, boost)
	if from != "" && !slices.Contains(t.from, from) {
		t.from = append(t.from, from)
	}
	return t
}

// termsOf are the terms of a clause among the words that rank.
func (c *compiler) termsOf(i int) []string {
	for _, s := range c.spans {
		if s.clause == i {
			return s.terms
		}
	}
	return nil
}

// clause adds what a clause stands for and what it demands.
func (c *compiler) clause(i int, x *lang.Clause) {
	switch x.Kind {
	case lang.Word, lang.Phrase:
		c.words(i, x)
	case lang.Prefix, lang.Fuzzy:
		c.expansion(i, x)
	case lang.Heading:
		c.heading(x)
	case lang.Title, lang.Author:
		c.document(x)
	}
}

// words demands the words of a clause that Must or must Not be there: all of
// them, one after the other.
func (c *compiler) words(i int, x *lang.Clause) {
	if x.Kind != lang.Phrase && x.Occur == lang.Any {
		return
	}
	terms := c.termsOf(i)
	if x.Occur == lang.Not {
		terms = c.s.queryTerms(x.Text)
	}
	seq := c.s.sequence(x.Text)
	if x.Kind == lang.Phrase && x.Occur != lang.Not && len(seq.terms) > 1 {
		c.q.spans = append(c.q.spans, seq)
	}
	if len(terms) == 0 {
		return
	}
	d := demand{clause: x.String(), not: x.Occur == lang.Not}
	for _, t := range distinct(terms) {
		d.groups = append(d.groups, []ranks{c.s.ranksOf(t)})
	}
	if len(seq.terms) > 1 {
		d.check = seq
	}
	c.q.demands = append(c.q.demands, d)
}

func distinct(terms []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(terms)))
}

// expansion finds the terms that a prefix or a fuzzy word stands for.
func (c *compiler) expansion(i int, x *lang.Clause) {
	var found []expansion
	most := maxPrefixed
	switch _, fuzzy := c.s.fuzzyTerm(x.Text); {
	case x.Kind == lang.Prefix:
		found = c.s.beginning(x.Text)
	case fuzzy:
		found, most = c.s.near(x.Text, x.Edits), maxFuzzy
	default: // several words, or none
		c.words(i, x)
		return
	}
	if x.Occur != lang.Not {
		c.expand(x, found[:min(len(found), most)])
	}
	if x.Occur == lang.Any {
		return
	}
	d := demand{clause: x.String(), not: x.Occur == lang.Not, groups: [][]ranks{nil}}
	for _, e := range found {
		d.groups[0] = append(d.groups[0], e.ranks)
	}
	before := c.termsOf(i) // the last word
	if d.not {
		text, _ := c.s.engine.cutPrefix(x.Text)
		before = c.s.queryTerms(text)
	}
	for _, t := range distinct(before) {
		d.groups = append(d.groups, []ranks{c.s.ranksOf(t)})
	}
	c.q.demands = append(c.q.demands, d)
}

func (c *compiler) expand(x *lang.Clause, found []expansion) {
	plain := *x
	plain.Occur = lang.Any
	from := plain.String()
	for _, e := range found {
		c.term(e.name, e.boost(), from)
	}
	if len(found) == 0 {
		c.q.dropped = append(c.q.dropped, from)
	}
}

// heading demands words of the heading path. Where headings count as text, the
// words' postings say where to look.
func (c *compiler) heading(x *lang.Clause) {
	d := demand{clause: x.String(), not: x.Occur == lang.Not, check: headingWords(c.s.engine.words().Terms(x.Text))}
	if c.s.engine.opts.HeadingTerms {
		for _, t := range distinct(c.s.analyzer.Terms(x.Text)) {
			d.groups = append(d.groups, []ranks{c.s.ranksOf(t)})
		}
	}
	c.q.demands = append(c.q.demands, d)
}

// document demands words of the title or of the author.
func (c *compiler) document(x *lang.Clause) {
	a := c.s.engine.words()
	wanted, not := a.Terms(x.Text), x.Occur == lang.Not
	author := x.Kind == lang.Author
	c.q.keep = append(c.q.keep, documentTest{x.String(), func(i *DocumentInfo) bool {
		text := i.Title
		if author {
			text = i.Author
		}
		return hasAll(a.Terms(text), wanted) != not
	}})
}

// documentTest is a demand on the document of a passage.
type documentTest struct {
	clause string
	test   func(*DocumentInfo) bool
}

// hasAll reports whether all the wanted are there.
func hasAll(terms, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(terms, w) })
}

// finish looks the terms up and puts them in order.
func (c *compiler) finish() {
	q := c.q
	for _, t := range c.terms {
		if t.find(c.s); t.df == 0 {
			q.dropped = append(q.dropped, t.name)
			continue
		}
		slices.Sort(t.from)
		q.terms = append(q.terms, *t)
	}
	slices.Sort(q.dropped)
	q.dropped = slices.Compact(q.dropped)
	slices.SortFunc(q.terms, func(a, b queryTerm) int { return strings.Compare(a.name, b.name) })
	if q.best {
		text := c.text.String()
		q.stop = c.s.analyzer.StopTerms([]byte(text))
		q.parts = q.nameParts(c.s, text)
		q.dropStopTerms()
	}
	q.weigh()
}

// keeping is a test for documents that this one and the query's pass.
func (q *query) keeping(keep func(*DocumentInfo) bool) func(*DocumentInfo) bool {
	if len(q.keep) == 0 {
		return keep
	}
	return func(i *DocumentInfo) bool {
		return (keep == nil || keep(i)) && !slices.ContainsFunc(q.keep, func(k documentTest) bool { return !k.test(i) })
	}
}

// find answers a query. One that is a single name of several words, such as
// v1.2-rc1, foo-bar or a@b.c, is answered by the passages that have its words one
// after the other, if there are any: who writes a name means that.
func (s *Snapshot) find(ctx context.Context, asked *lang.Query, o SearchOptions) (*Result, error) {
	if i, ok := s.compound(asked); ok {
		strict := &lang.Query{Clauses: slices.Clone(asked.Clauses)}
		strict.Clauses[i].Occur = lang.Must
		q, err := s.newQuery(ctx, strict, o)
		if err != nil {
			return nil, err
		}
		if res, err := s.search(ctx, q, o); err != nil || res.Total > 0 {
			return res, err
		}
	}
	q, err := s.newQuery(ctx, asked, o)
	if err != nil {
		return nil, err
	}
	return s.search(ctx, q, o)
}

// compound finds the one clause of a query that ranks, if it is a name of several
// words, held together by signs.
func (s *Snapshot) compound(asked *lang.Query) (clause int, ok bool) {
	clause = -1
	for i := range asked.Clauses {
		x := &asked.Clauses[i]
		switch {
		case x.Occur == lang.Not || x.Kind.IsField():
		case clause >= 0 || x.Kind != lang.Word || x.Occur != lang.Any:
			return 0, false
		default:
			clause = i
		}
	}
	return clause, clause >= 0 && !asked.Verbatim && s.isName(asked.Clauses[clause].Text)
}

// isName reports whether a text is several words without white space between
// them, and each apart from the next: scripts that have no white space are cut
// into words that touch.
func (s *Snapshot) isName(text string) bool {
	n, end, apart := 0, 0, true
	s.engine.words().Tokens([]byte(text), func(t analysis.Token) bool {
		apart = apart && (n == 0 || t.Start > end && isSigns(text[end:t.Start]))
		n, end = n+1, t.End
		return apart && n < maxName
	})
	return apart && n > 1 && n < maxName
}

// maxName is more words than a name has.
const maxName = 64

// isSigns reports whether a text is ASCII, and not blank.
func isSigns(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r <= ' ' }) < 0
}
