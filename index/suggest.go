package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quern/index/analysis"
	lang "quern/index/query"
	"quern/index/segment"
)

const (
	// maxSuggestions bounds what is suggested, maxMisspelt the words that are
	// looked at, and maxTried the ways to write each.
	maxSuggestions = 3
	maxMisspelt    = 8
	maxTried       = 3
	// manyWords is how many words are hardly typed.
	manyWords = 5
	// formPassages is in how many passages a term's usual form is looked up.
	formPassages = 64
	// tinyWord is from how many characters a word may be misspelt: two letters
	// are near to any other two.
	tinyWord = 3
	// littleWord is up to how many characters a word is misspelt by one edit
	// only.
	littleWord = 4
)

// Suggest gives queries like one that finds nothing, the likeliest first, each of
// which finds something under the same options: with words of the index in place
// of those that it does not have, within two edits, or split or joined; and with
// nothing demanded that was only asked for more closely than there are answers. All
// words come from documents that Keep admits.
func (s *Snapshot) Suggest(ctx context.Context, asked *lang.Query, o SearchOptions) (out []string, err error) {
	err = s.read(func(s *Snapshot) error {
		x := &suggester{s: s, ctx: ctx, o: o}
		x.o.K, x.o.Offset, x.o.Text, x.o.Count, x.o.FoldDuplicates = 1, 0, false, false, false
		out, err = x.suggest(asked)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("suggest: %w", err)
	}
	return out, nil
}

type suggester struct {
	s     *Snapshot
	ctx   context.Context
	o     SearchOptions
	words []spelling
	out   []string
}

// spelling is a word of the query, and how else it might be written: best first.
// One that the index has stands only as it is.
type spelling struct {
	clause int
	text   string
	tried  []attempt
}

// attempt is another way to write a word, or this and the next as one.
type attempt struct {
	text string
	both bool
}

func (x *suggester) suggest(asked *lang.Query) ([]string, error) {
	x.split(asked)
	known := !slices.ContainsFunc(x.words, func(w spelling) bool { return len(w.tried) > 0 })
	if len(x.words) > manyWords { // pasted: its words are as they should be
		if err := x.offer(relaxed(asked, nil, true)); err != nil || len(x.out) > 0 {
			return x.out, err
		}
	}
	for _, loose := range []bool{false, true} {
		if !known {
			if err := x.respell(asked, loose); err != nil {
				return nil, err
			}
		} else if loose {
			if err := x.offer(relaxed(asked, nil, loose)); err != nil {
				return nil, err
			}
		}
		if len(x.out) > 0 {
			break
		}
	}
	return x.out, nil
}

// respell offers the query with the best spelling of each word, and then with the
// others of each in turn.
func (x *suggester) respell(asked *lang.Query, loose bool) error {
	best := make([]int, len(x.words))
	if err := x.offer(relaxed(asked, x.written(best), loose)); err != nil {
		return err
	}
	for i := range x.words {
		for n := 1; n < len(x.words[i].tried) && len(x.out) < maxSuggestions; n++ {
			other := slices.Clone(best)
			other[i] = n
			if err := x.offer(relaxed(asked, x.written(other), loose)); err != nil {
				return err
			}
		}
	}
	return nil
}

// written is the text of each clause with the spellings chosen.
func (x *suggester) written(chosen []int) map[int]string {
	texts := make(map[int][]string)
	for i := 0; i < len(x.words); i++ {
		w := x.words[i]
		text := w.text
		if len(w.tried) > 0 {
			a := w.tried[min(chosen[i], len(w.tried)-1)]
			text = a.text
			if a.both {
				i++
				texts[x.words[i].clause] = append(texts[x.words[i].clause], "")
			}
		}
		texts[w.clause] = append(texts[w.clause], text)
	}
	out := make(map[int]string)
	for clause, words := range texts {
		out[clause] = strings.TrimSpace(strings.Join(words, " "))
	}
	return out
}

// relaxed is a query with other words, and, if it is to be loose, with phrases
// and musts as words.
func relaxed(asked *lang.Query, texts map[int]string, loose bool) *lang.Query {
	q := &lang.Query{Verbatim: asked.Verbatim}
	for i, c := range asked.Clauses {
		if t, ok := texts[i]; ok {
			c.Text = t
		}
		if c.Text == "" {
			continue
		}
		if loose && c.Occur == lang.Must && !c.Kind.IsField() {
			c.Occur = lang.Any
			if c.Kind == lang.Phrase {
				c.Kind = lang.Word
			}
		}
		q.Clauses = append(q.Clauses, c)
	}
	return q
}

// offer suggests a query if it finds something.
func (x *suggester) offer(q *lang.Query) error {
	text := q.String()
	if len(x.out) == maxSuggestions || slices.Contains(x.out, text) {
		return nil
	}
	res, err := x.s.find(x.ctx, q, x.o)
	if err == nil && len(res.Hits) > 0 {
		x.out = append(x.out, text)
	}
	return err
}

// split takes the words of the query, and finds spellings of those that the index
// does not have.
func (x *suggester) split(asked *lang.Query) {
	for i, c := range asked.Clauses {
		if c.Occur == lang.Not || c.Kind != lang.Word && c.Kind != lang.Phrase {
			continue
		}
		for _, w := range strings.Fields(c.Text) {
			x.words = append(x.words, spelling{clause: i, text: w})
		}
	}
	misspelt := 0
	for i := range x.words {
		w := &x.words[i]
		if utf8.RuneCountInString(w.text) < tinyWord {
			continue
		}
		if term, ok := x.s.fuzzyTerm(w.text); ok && x.s.termDF(term) == 0 && misspelt < maxMisspelt && x.ctx.Err() == nil {
			misspelt++
			next := ""
			if i+1 < len(x.words) {
				next = x.words[i+1].text
			}
			w.tried = x.attempts(w.text, term, next)
		}
	}
}

// attempts are other ways to write a word: joined with the next, if that is as
// unknown, one edit away, joined with one that is known, split, two edits away.
func (x *suggester) attempts(word, term, next string) []attempt {
	joined := next != "" && x.s.known(word+next)
	if joined && !x.s.known(next) {
		return []attempt{{text: word + next, both: true}}
	}
	near := x.near(term)
	one := slices.IndexFunc(near, func(e expansion) bool { return e.edits > 1 })
	if one < 0 {
		one = len(near)
	}
	var out []attempt
	out = x.forms(out, near[:one])
	if joined {
		out = append(out, attempt{text: word + next, both: true})
	}
	if halves := x.halves(word); halves != "" {
		out = append(out, attempt{text: halves})
	}
	return x.forms(out, near[one:])
}

// near are the terms that a misspelt one may be: those that begin alike first.
func (x *suggester) near(term string) []expansion {
	edits := 2
	if utf8.RuneCountInString(term) <= littleWord {
		edits = 1
	}
	first, _ := utf8.DecodeRuneInString(term)
	unlike := func(e expansion) int {
		if r, _ := utf8.DecodeRuneInString(e.name); r == first {
			return 0
		}
		return 1
	}
	found := x.s.within(term, edits)
	slices.SortStableFunc(found, func(a, b expansion) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(unlike(a), unlike(b)))
	})
	return found
}

// forms adds words for terms, as the documents that may be seen write them.
func (x *suggester) forms(out []attempt, terms []expansion) []attempt {
	for i := 0; i < len(terms) && len(out) < maxTried; i++ {
		if form := x.form(&terms[i]); form != "" {
			out = append(out, attempt{text: form})
		}
	}
	return out
}

// form is how a term is mostly written, in the first passages that have it; empty
// if no document that Keep admits does.
func (x *suggester) form(e *expansion) string {
	forms := make(map[string]int)
	left := formPassages
	var list segment.Postings
	var buf segment.TextBuffer
	for i, rank := range e.ranks {
		v := &x.s.views[i]
		if rank < 0 {
			continue
		}
		v.read(rank, &list)
		for left > 0 && list.Next() {
			for _, p := range list.Docs {
				if left > 0 && !v.isDead(int(p)) && x.admits(v, int(p)) {
					left--
					x.count(forms, v.text(int(p), &buf), e.name)
				}
			}
		}
		v.must(list.Err())
	}
	best := ""
	for form, n := range forms {
		if c := cmp.Or(cmp.Compare(n, forms[best]), cmp.Compare(len(best), len(form)), strings.Compare(best, form)); best == "" || c > 0 {
			best = form
		}
	}
	return best
}

// count counts the forms that a term has in a text.
func (x *suggester) count(forms map[string]int, text []byte, term string) {
	x.s.analyzer.Tokens(text, func(t analysis.Token) bool {
		if t.Term == term {
			forms[strings.ToLower(string(text[t.Start:t.End]))]++
		}
		return true
	})
}

// admits asks Keep for the document of a passage.
func (x *suggester) admits(v *view, local int) bool {
	if x.o.Keep == nil {
		return true
	}
	i, ord, ok := x.s.findSlot(uint32(v.PassageDoc(local)))
	return ok && x.o.Keep(&x.s.document(i, ord).info)
}

// halves splits a word into two that the index has, those of which the rarer is
// the most frequent.
func (x *suggester) halves(word string) string {
	best, out := 0, ""
	for at := range word {
		if at < 2 || utf8.RuneCountInString(word[at:]) < 2 {
			continue
		}
		if df := min(x.s.dfOf(word[:at]), x.s.dfOf(word[at:])); df > best {
			best, out = df, word[:at]+" "+word[at:]
		}
	}
	return out
}

// termDF is how many passages have a term.
func (s *Snapshot) termDF(term string) int {
	if g, ok := s.gid([]byte(term)); ok {
		return int(s.stats.at(int(g)).df)
	}
	return 0
}

// dfOf is termDF for a word that is one term; 0 for any other text.
func (s *Snapshot) dfOf(word string) int {
	term, ok := s.fuzzyTerm(word)
	if !ok {
		return 0
	}
	return s.termDF(term)
}

func (s *Snapshot) known(word string) bool { return s.dfOf(word) > 0 }
