package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unicodeWord makes the terms of a word. Compatibility characters may turn out
// to be several words (ﷺ, ㍿, ½): these are cut again.
func (a *Analyzer) unicodeWord(raw string) entry {
	word := a.normalise(raw)
	if !compound(word) {
		return entry{raw: raw, term: a.finish(word)}
	}
	e := entry{raw: raw}
	t := tokenizer{analyzer: a, text: []byte(word), word: a.simpleWord}
	t.yield = func(t Token) bool {
		if e.term == "" {
			e.term = t.Term
		} else {
			e.more = append(e.more, t.Term)
		}
		return true
	}
	t.run()
	return e
}

// simpleWord makes the term of a part of a normalised word.
func (a *Analyzer) simpleWord(raw string) entry {
	return entry{raw: raw, term: a.finish(a.normalise(raw))}
}

// compound says that a normalised word has characters that cannot be in a word,
// or characters that go in pairs.
func compound(word string) bool {
	for _, r := range word {
		if isBigram(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\'' && r != '.' {
			return true
		}
	}
	return false
}

// finish makes the term of a normalised word, empty if it is dropped.
func (a *Analyzer) finish(word string) string {
	if word == "" || a.stopped(a.folded(word)) {
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
	if strings.IndexByte(word, '.') < 0 {
		return word
	}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsLetter(r) || !isAcronym([]byte(before(word, '\''))) {
		return word
	}
	return strings.ReplaceAll(word, ".", "")
}

// before returns what stands before the first c in s.
func before(s string, c byte) string {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i]
	}
	return s
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
			shorter = before(word, '\'')
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
