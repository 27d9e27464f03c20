package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Text in Han, kana, Hangul, Thai, Lao, Khmer, Burmese and the Tai scripts is
// cut into overlapping pairs of characters with their marks: 東京都 gives 東京
// and 京都. A character that stands alone is a term itself. The pairs run over
// changes among these scripts (食べる: 食べ, べる) and end at everything else, a
// zero-width space included, which those who write these scripts use to divide
// words.

// bigramScripts are written without spaces between words (line breaking class
// SA or ID), or, as Hangul, with endings on words that no stemmer takes off.
var bigramScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet, unicode.Ahom,
}

// isBigram says that a character is one of those that go in pairs. Digits,
// punctuation and signs of these scripts are not.
func isBigram(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3, r >= 0x3041 && r <= 0x3096, r >= 0x30A1 && r <= 0x30FA:
		return true
	case r == 0x30FC, r == 0xFF70: // the long vowel, shared by both kana
		return true
	case r >= 0x2E80 && r <= 0x2FD5: // radicals, which stand for their ideographs in text from PDFs
		return unicode.Is(unicode.Han, r)
	case r >= 0x2000 && r <= 0x2E7F:
		return false
	}
	return unicode.In(r, bigramScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.Nl, r))
}

// attaches says that a character belongs to the one before it.
func attaches(r rune) bool {
	return unicode.IsMark(r) || ignored(r) && r != '\u200B' || r == '\uFF9E' || r == '\uFF9F'
}

// bigrams yields the pairs of the run that begins at pos and returns its end.
func (t *tokenizer) bigrams(pos int) (end int, ok bool) {
	end = pos
	for end < len(t.text) {
		r, n := utf8.DecodeRune(t.text[end:])
		if !isBigram(r) && !attaches(r) {
			break
		}
		end += n
	}
	p := pairer{tokenizer: t}
	if run := t.text[pos:end]; norm.NFKC.QuickSpan(run) == len(run) {
		ok = p.normal(pos, end)
	} else {
		ok = p.other(pos, end)
	}
	return end, ok && p.end()
}

// pairer joins the characters it is given, one after the other, into pairs.
type pairer struct {
	*tokenizer
	last  unit
	alone bool // last is in no pair yet
}

// unit is a character with its marks.
type unit struct {
	text       string // normalised; empty where the source is
	start, end int
}

// normal takes a run that is in NFKC already.
func (p *pairer) normal(pos, end int) bool {
	for pos < end {
		_, n := utf8.DecodeRune(p.text[pos:])
		next := pos + n
		for next < end {
			r, n := utf8.DecodeRune(p.text[next:])
			if !attaches(r) {
				break
			}
			next += n
		}
		if !p.add(unit{start: pos, end: next}) {
			return false
		}
		pos = next
	}
	return true
}

// other takes a run piece by piece through NFKC. All characters that come of a
// piece stand where the piece does.
func (p *pairer) other(pos, end int) bool {
	var it norm.Iter
	it.Init(norm.NFKC, p.text[pos:end])
	var u unit
	for !it.Done() {
		start, piece := it.Pos(), ""
		for !it.Done() && it.Pos() == start { // a decomposition may come in parts
			piece += string(it.Next())
		}
		stop := pos + it.Pos()
		if it.Done() {
			stop = end
		}
		for _, r := range piece {
			if u.text != "" && attaches(r) {
				if len(u.text) < maxWord {
					u.text += string(r)
				}
				u.end = stop
				continue
			}
			if u.text != "" && !p.add(u) {
				return false
			}
			u = unit{string(r), pos + start, stop}
		}
	}
	return u.text == "" || p.add(u)
}

// add takes the next character.
func (p *pairer) add(u unit) bool {
	last := p.last
	p.last = u
	if last.end == 0 {
		p.alone = true
		return true
	}
	p.alone = false
	return p.pair(last.text+u.text, last.start, u.end)
}

// end yields the only character of a run that has but one.
func (p *pairer) end() bool {
	return !p.alone || p.pair(p.last.text, p.last.start, p.last.end)
}

// pair yields a term, of the source itself when text is empty.
func (p *pairer) pair(text string, start, end int) bool {
	raw := shorten(p.text[start:end])
	if text != "" {
		raw = []byte(text)
	}
	return p.emitEntry(p.analyzer.cache.get(raw, p.analyzer.bigramWord), start, end)
}

// bigramWord makes the term of a pair in NFKC.
func (a *Analyzer) bigramWord(raw string) entry {
	term := strings.Map(func(r rune) rune {
		if ignored(r) {
			return -1
		}
		return r
	}, raw)
	if a.dropped(term) {
		term = ""
	}
	return entry{raw: raw, term: term}
}
