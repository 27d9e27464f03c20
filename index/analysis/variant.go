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
// language (of English for code), and for code one that also makes terms of the parts of names
// (HTTPServer: httpserver, http, server). With another stemmer, or the plain
// tokenizer, it is a itself as far as that goes. It is the same for the same text,
// wherever it stands.
func (a *Analyzer) Of(text []byte, code bool) *Analyzer {
	k := kind{a.options.Stemmer, code && a.options.Tokenizer == Unicode}
	switch {
	case k.stemmer == Auto && code:
		k.stemmer = English
	case k.stemmer == Auto:
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
// analysed in its own language if that can be told. If not, choose is asked which
// of the forms that the languages make of a word is meant; the first is the
// English one.
func (a *Analyzer) Query(text []byte, choose func(forms []string) string, yield func(Token) bool) {
	if a.options.Stemmer != Auto {
		a.Tokens(text, yield)
		return
	}
	of := queryLanguages(text)
	if len(of) == 1 {
		a.variant(kind{stemmer: of[0]}).Tokens(text, yield)
		return
	}
	for _, word := range a.everyForm(text, of) {
		t := word.Token
		if len(word.forms) > 1 {
			t.Term = choose(word.forms)
		}
		if !yield(t) {
			return
		}
	}
}

// queryWord is a word with all its forms; Term is the first.
type queryWord struct {
	Token
	forms []string
}

// everyForm analyses a text in several languages.
func (a *Analyzer) everyForm(text []byte, of []string) (words []queryWord) {
	at := map[[2]int]int{} // where a place's word is
	for i, language := range of {
		a.variant(kind{stemmer: language}).Tokens(text, func(t Token) bool {
			n, known := at[[2]int{t.Start, t.End}]
			switch {
			case i == 0 || !known:
				at[[2]int{t.Start, t.End}] = len(words)
				words = append(words, queryWord{t, []string{t.Term}})
			case !slices.Contains(words[n].forms, t.Term):
				words[n].forms = append(words[n].forms, t.Term)
			}
			return true
		})
	}
	slices.SortStableFunc(words, func(a, b queryWord) int { return a.Start - b.Start })
	return words
}

// StopTerms are the terms that the analyzer makes of the commonest words of a
// query's language, and of English: they say little about what it wants. The set
// must not be changed.
func (a *Analyzer) StopTerms(query []byte) map[string]bool {
	name := a.options.Stemmer
	if name == Auto {
		name = English
		if of := queryLanguages(query); len(of) == 1 {
			name = of[0]
		}
	}
	v := a.variant(kind{stemmer: name})
	v.common.Do(func() {
		list, _ := stopWords(English) // a built-in one is always there
		v.stopTerms = make(map[string]bool)
		for _, w := range append(list, commonWords(name)...) {
			v.stopTerms[v.finish(v.normalise(w))] = true
		}
	})
	return v.stopTerms
}
