// Package analysis turns text into terms: tokenizer, stop words, stemmer. The
// same Analyzer serves passages and queries, so that both meet in one form.
package analysis

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Tokenizers.
const (
	Unicode = "unicode"
	Plain   = "plain"
)

// None names no stop words and no stemmer; Short and English are the built-in
// stop-word lists.
const (
	None    = "none"
	Short   = "short"
	English = "english"
)

// Options choose the parts of an Analyzer.
type Options struct {
	// Tokenizer is "unicode" (NFKC, case folding, UAX #29 words, CJK
	// bigrams) or "plain" (lower-cased maximal runs of categories L and N).
	Tokenizer string
	// Stopwords is "none", "short", "english" or the path of a list, one
	// word a line.
	Stopwords string
	// Stemmer is "none", the name of a Snowball language, or "auto": that of
	// each text's own language (see Analyzer.Of).
	Stemmer string
	// MinLength in characters: shorter words are dropped, before stemming.
	MinLength int
	// FoldDiacritics strips combining marks (unicode tokenizer only).
	FoldDiacritics bool
}

// Token is a term and where its word stands.
type Token struct {
	Term string
	// Start and End are half-open byte offsets into the text given.
	Start, End int
}

// ErrOptions is what New's errors about the options themselves wrap.
var ErrOptions = errors.New("bad analysis options")

// Default returns the unicode tokenizer with diacritics folded, no stop words
// and the English stemmer.
func Default() Options {
	return Options{Tokenizer: Unicode, Stopwords: None, Stemmer: English, MinLength: 1, FoldDiacritics: true}
}

// Analyzer turns text into terms as its options say. It is safe for concurrent
// use, and keeps a bounded cache of the words it met last.
type Analyzer struct {
	options Options
	kind    kind
	family  *family // a itself among others
	words   []string
	stop    map[string]struct{} // words in the form that is compared
	stem    *stemmer            // nil for none
	cache   *cache

	common    sync.Once
	stopTerms map[string]bool // made when first asked for
}

// New returns an Analyzer. It reads the stop-word list when that is a file.
// Its errors name the option, its value and the valid ones, and wrap
// ErrOptions or the file's own error. An empty Stopwords or Stemmer means none.
func New(o Options) (*Analyzer, error) {
	if o.Tokenizer != Unicode && o.Tokenizer != Plain {
		return nil, fmt.Errorf("%w: tokenizer is %q, must be %q or %q", ErrOptions, o.Tokenizer, Unicode, Plain)
	}
	if o.MinLength < 0 {
		return nil, fmt.Errorf("%w: min_length is %d, must be at least 0", ErrOptions, o.MinLength)
	}
	k := kind{stemmer: o.Stemmer}
	if o.Stemmer == Auto {
		k.stemmer = English
	}
	if _, err := newStemmer(k.stemmer); err != nil {
		return nil, err
	}
	stop, err := stopWords(o.Stopwords)
	if err != nil {
		return nil, err
	}
	f := &family{members: make(map[kind]*Analyzer)}
	a := memberOf(o, k, f, stop)
	f.members[k] = a
	return a, nil
}

// Options returns what the Analyzer was made with.
func (a *Analyzer) Options() Options { return a.options }

// Tokens calls yield with the tokens of text in order, until it returns false.
// Bytes that are not UTF-8 belong to no word. Terms are shared strings: keeping
// one keeps no text alive.
func (a *Analyzer) Tokens(text []byte, yield func(Token) bool) {
	if a.options.Tokenizer == Plain {
		a.plainTokens(text, yield)
		return
	}
	a.unicodeTokens(text, yield)
}

// Terms returns the terms of text in order, as Tokens yields them.
func (a *Analyzer) Terms(text string) []string {
	var terms []string
	a.Tokens([]byte(text), func(t Token) bool {
		terms = append(terms, t.Term)
		return true
	})
	return terms
}

// stemmed returns what becomes of a word that is neither stopped nor too short.
func (a *Analyzer) stemmed(word string) string {
	if a.stem == nil {
		return word
	}
	return a.stem.stem(word)
}

// valid lists option values for a message: "a", "b" or "c".
func valid(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}
