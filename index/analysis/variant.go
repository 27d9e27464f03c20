package analysis

import (
	"fmt"
	"slices"
	"sync"
)

// Auto names no stemmer but the choice of one by the language of each text; see
// Analyzer.Of.
const Auto = "auto"

// family are the Analyzers of the same options for texts of several kinds.
type family struct {
	mu      sync.Mutex // guards all fields below
	members map[kind]*Analyzer
}

// kind is what a text is written in.
type kind struct {
	stemmer string
	code    bool
}

// Of returns the Analyzer for a text: with the stemmer Auto, that of the text's
// language, and for code one that also makes terms of the parts of names
// (HTTPServer: httpserver, http, server). With another stemmer, or the plain
// tokenizer, it is a itself as far as that goes. It is the same for the same text,
// wherever it stands.
func (a *Analyzer) Of(text []byte, code bool) *Analyzer {
	k := kind{a.options.Stemmer, code && a.options.Tokenizer == Unicode}
	if k.stemmer == Auto {
		k.stemmer = languageOf(text)
	}
	return a.variant(k)
}

func (a *Analyzer) variant(k kind) *Analyzer {
	if k == a.kind {
		return a
	}
	f := a.family
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.members[k]
	if v == nil {
		o := a.options
		o.Stemmer = k.stemmer
		v = memberOf(o, k, f, a.words)
		f.members[k] = v
	}
	return v
}

// memberOf makes a member of a family, whose options are right.
func memberOf(o Options, k kind, f *family, stop []string) *Analyzer {
	stem, err := newStemmer(k.stemmer)
	if err != nil {
		panic(fmt.Sprintf("stemmer of a language that was found: %v", err))
	}
	a := &Analyzer{options: o, kind: k, family: f, stem: stem, words: stop, cache: newCache()}
	a.stop = a.stopSet()
	return a
}

// Query calls yield with the terms of a query. With the stemmer Auto it is
// analysed in its own language if that can be told, else in all that it may be in:
// a word then has a term for each form that they make of it. Those after the
// first are Other.
func (a *Analyzer) Query(text []byte, yield func(Token) bool) {
	if a.options.Stemmer != Auto {
		a.Tokens(text, yield)
		return
	}
	languages := queryLanguages(text)
	if len(languages) == 1 {
		a.variant(kind{stemmer: languages[0]}).Tokens(text, yield)
		return
	}
	for _, t := range a.everyForm(text, languages) {
		if !yield(t) {
			return
		}
	}
}

// everyForm gives the terms that any of the languages makes of a text, each once
// a place.
func (a *Analyzer) everyForm(text []byte, languages []string) []Token {
	var all []Token
	seen := map[Token]bool{}
	for i, language := range languages {
		a.variant(kind{stemmer: language}).Tokens(text, func(t Token) bool {
			if i == 0 || !seen[t] {
				seen[t] = true
				t.Other = i > 0
				all = append(all, t)
			}
			return true
		})
	}
	slices.SortStableFunc(all, func(a, b Token) int { return a.Start - b.Start })
	return all
}

// StopTerms are the terms that the analyzer makes of the commonest words of
// English and, with another stemmer, of its language: they say little about what
// a query wants.
func (a *Analyzer) StopTerms() map[string]bool {
	set := map[string]bool{}
	add := func(v *Analyzer, words []string) {
		for _, w := range words {
			set[v.stemmed(v.stopForm(w))] = true
		}
	}
	english, _ := stopWords(English) // a built-in list is always there
	add(a, english)
	if a.options.Stemmer != Auto {
		add(a, commonWords(a.options.Stemmer))
		return set
	}
	for _, l := range languages {
		v := a.variant(kind{stemmer: l.name})
		add(v, commonWords(l.name))
	}
	return set
}
