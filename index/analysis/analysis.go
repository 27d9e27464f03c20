// Package analysis turns text into terms: tokenizer, stop words, stemmer. The
// same Analyzer serves passages and queries, so that both meet in one form.
package analysis

// Options choose the parts of an Analyzer.
type Options struct {
	// Tokenizer is "unicode" (NFKC, case folding, UAX #29 words, CJK
	// bigrams) or "plain" (lower-cased maximal runs of categories L and N).
	Tokenizer string
	// Stopwords is "none", "short", "english" or the path of a list, one
	// word a line.
	Stopwords string
	// Stemmer is "none" or the name of a Snowball language.
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
