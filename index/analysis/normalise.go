package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unicodeWord makes the terms of a word. One that is changed beyond ASCII case is
// cut again, for compatibility characters may turn out to be several words (ﷺ,
// ㍿, ½, ⒈).
func (a *Analyzer) unicodeWord(raw string) entry {
	word := a.normalise(raw)
	if word == raw || isASCII(raw) {
		return entry{raw: raw, term: a.finish(word)}
	}
	e := entry{raw: raw}
	var more []string
	t := tokenizer{analyzer: a, text: []byte(word), word: a.partOf}
	t.yield = func(t Token) bool {
		if e.term == "" {
			e.term = t.Term
		} else {
			more = append(more, t.Term)
		}
		return true
	}
	t.run()
	if more != nil {
		e.more = &more
	}
	return e
}

// partOf makes the term of a part of a normalised word. It goes round the cache,
// where the same characters may stand as a word of the text.
func (a *Analyzer) partOf(raw []byte) *entry {
	word := strings.Map(func(r rune) rune {
		if inWord(r) {
			return r
		}
		return -1
	}, a.normalise(string(raw)))
	return &entry{term: a.finish(word)}
}

// inWord says that a character may be in a normalised word.
func inWord(r rune) bool {
	return wordy(r) || unicode.IsMark(r) || r == '\'' || r == '.'
}

// finish makes the term of a normalised word, empty if it is dropped or has
// neither letter nor number.
func (a *Analyzer) finish(word string) string {
	if strings.IndexFunc(word, wordy) < 0 || a.stopped(a.folded(word)) {
		return ""
	}
	word = a.bare(word)
	folded := a.folded(word)
	switch {
	case a.dropped(folded):
		return ""
	case a.stem == nil:
		return folded
	case a.stem.accents:
		return a.folded(a.stem.stem(word))
	}
	return a.stem.stem(folded)
}

// dropped says that a word, in the form that is compared, is stopped or too
// short.
func (a *Analyzer) dropped(word string) bool {
	return a.stopped(word) || utf8.RuneCountInString(word) < a.options.MinLength
}

func (a *Analyzer) stopped(word string) bool {
	_, stopped := a.stop[word]
	return stopped
}

// folded returns a word without diacritics if the options say so.
func (a *Analyzer) folded(word string) string {
	if !a.options.FoldDiacritics {
		return word
	}
	return foldDiacritics(word)
}

// normalise brings a word into the form in which all its spellings are one:
// compatibility characters are resolved (NFKC: full width, ligatures, NFD), case
// is folded fully (ß is ss), decimal digits are ASCII, apostrophes are ', and
// characters without a width or a sound are gone.
func (a *Analyzer) normalise(raw string) string {
	turkish := a.stem != nil && a.stem.name == "turkish"
	if isASCII(raw) && !turkish {
		return undotted(strings.ToLower(raw))
	}
	s := norm.NFKC.String(strings.Map(keep, raw))
	if turkish {
		s = turkishCase.Replace(s)
	}
	s = norm.NFKC.String(cases.Fold().String(s))
	s = strings.ReplaceAll(s, "i\u0307", "i") // İ
	s = norm.NFKC.String(strings.Map(canonical, s))
	return undotted(strings.Trim(s, "'"))
}

// turkishCase tells the two letters i apart, as only Turkish does.
var turkishCase = strings.NewReplacer("I", "ı", "İ", "i")

// undotted returns U.S.A as USA and anything else as it is.
func undotted(word string) string {
	if strings.IndexByte(word, '.') < 0 || !isAcronym([]byte(word)) {
		return word
	}
	return strings.ReplaceAll(word, ".", "")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// keep is for strings.Map: it drops what is ignored.
func keep(r rune) rune {
	if ignored(r) {
		return -1
	}
	return r
}

// canonical is for strings.Map: it unifies apostrophes and digits, and drops
// what is ignored or only holds a word together.
func canonical(r rune) rune {
	switch {
	case r < utf8.RuneSelf && r != '"':
		return r
	case isApostrophe(r):
		return '\''
	case isGlue(r) || ignored(r):
		return -1
	case unicode.Is(unicode.Nd, r):
		return '0' + digitValue(r)
	case r >= 0xAB70 && r <= 0xABBF: // Cherokee folds to its capitals; x/text swaps the two
		return r - 0xAB70 + 0x13A0
	case r >= 0x13F8 && r <= 0x13FD:
		return r - 8
	}
	return r
}

// digitValue returns the value of a decimal digit: every range of them begins
// with a zero and goes on by tens.
func digitValue(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r >= rune(t.Lo) && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// ignored says that a character does not count in a word: soft hyphens, joiners,
// direction marks, variation selectors, fillers, and the Arabic tatweel.
func ignored(r rune) bool {
	if r < utf8.RuneSelf {
		return false
	}
	return r == '\u0640' || r == '\u034F' || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isApostrophe says that a character is used as one.
func isApostrophe(r rune) bool {
	switch r {
	case '\'', '\u2018', '\u2019', '\u201B', '\u02BC', '\u02BB', '\u05F3', '\uFF07':
		return true
	}
	return false
}

// isGlue says that a character between letters holds them together:
// apostrophes, and what is then dropped, the middle dot of Catalan, the
// hyphenation point and the marks of Hebrew acronyms.
func isGlue(r rune) bool {
	switch r {
	case '"', '\u00B7', '\u0387', '\u2027', '\u05F4':
		return true
	}
	return isApostrophe(r)
}

// elisions are the articles and particles of French, Italian and Catalan that
// lose their vowel before another.
var elisions = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`l d j m t s c n qu jusqu lorsqu puisqu quoiqu
		un dell all nell sull dall coll quell bell sant`) {
		set[w] = true
	}
	return set
}()

// bare returns a normalised word without an English possessive, an elided
// article before a vowel or h, or, in Turkish, the endings of a name.
func (a *Analyzer) bare(word string) string {
	for strings.IndexByte(word, '\'') > 0 {
		shorter := word
		if a.stem != nil && a.stem.name == "turkish" {
			shorter, _, _ = strings.Cut(word, "'")
		} else if s, ok := strings.CutSuffix(word, "'s"); ok {
			shorter = s
		} else if article, rest, _ := strings.Cut(word, "'"); elisions[article] && vowelFirst(rest) {
			shorter = rest
		}
		if shorter == word || shorter == "" {
			return word
		}
		word = shorter
	}
	return word
}

// vowelFirst says that a word begins with a vowel or h, accents aside.
func vowelFirst(word string) bool {
	r, _ := utf8.DecodeRuneInString(foldDiacritics(word))
	return strings.ContainsRune("aeiouyh", r)
}
