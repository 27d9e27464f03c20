package extract

import (
	"unicode/utf16"
)

// rtfDests are the destinations by the control words that begin them.
var rtfDests = map[string]rtfDest{
	"fonttbl": rtfFonts, "stylesheet": rtfStyles, "footnote": rtfNote, "annotation": rtfNote, "title": rtfTitle, "author": rtfAuthor,
	"subject": rtfProperty, "keywords": rtfProperty, "doccomm": rtfProperty, "category": rtfProperty, "company": rtfIgnored,
	"creatim": rtfCreated, "revtim": rtfRevised,
	"header": rtfPage, "headerl": rtfPage, "headerr": rtfPage, "headerf": rtfPage,
	"footer": rtfPage, "footerl": rtfPage, "footerr": rtfPage, "footerf": rtfPage,
	"shptxt": rtfBody, "shptxtbx": rtfBody,

	"colortbl": rtfIgnored, "pict": rtfIgnored, "fldinst": rtfIgnored, "objdata": rtfIgnored, "objclass": rtfIgnored,
	"objname": rtfIgnored, "themedata": rtfIgnored, "datastore": rtfIgnored, "filetbl": rtfIgnored, "revtbl": rtfIgnored,
	"listtable": rtfIgnored, "listoverridetable": rtfIgnored, "info": rtfIgnored, "xe": rtfIgnored, "tc": rtfIgnored,
	"rxe": rtfIgnored, "bkmkstart": rtfIgnored, "bkmkend": rtfIgnored, "operator": rtfIgnored, "nonshppict": rtfIgnored,
	"pntxta": rtfIgnored, "pntxtb": rtfIgnored, "sp": rtfIgnored, "shpinst": rtfBody, "atnid": rtfIgnored, "atnauthor": rtfIgnored,
	"ftnsep": rtfIgnored, "ftnsepc": rtfIgnored, "ftncn": rtfIgnored, "aftnsep": rtfIgnored, "aftnsepc": rtfIgnored,
	"aftncn": rtfIgnored, "generator": rtfIgnored, "private": rtfIgnored, "template": rtfIgnored, "txe": rtfIgnored,
	"falt": rtfIgnored, "panose": rtfIgnored, "fontemb": rtfIgnored, "mmathPr": rtfIgnored, "xmlnstbl": rtfIgnored,
	"latentstyles": rtfIgnored, "rsidtbl": rtfIgnored, "printim": rtfIgnored, "buptim": rtfIgnored, "do": rtfBody,
	"result": rtfBody, "fldrslt": rtfBody, "pntext": rtfIgnored, "listtext": rtfIgnored, "shprslt": rtfIgnored,
}

// rtfChars are the control words that stand for a character.
var rtfChars = map[string]rune{
	"emdash": '—', "endash": '–', "bullet": '•', "lquote": '‘', "rquote": '’', "ldblquote": '“', "rdblquote": '”',
	"emspace": '\u2003', "enspace": '\u2002', "qmspace": '\u2005', "tab": '\t', "zwj": '\u200d', "zwnj": '\u200c',
}

// word takes a control word.
func (s *rtfScanner) word(word string, n int, has bool) {
	if word == "bin" {
		if has && n > 0 {
			s.pos = min(s.pos+min(n, len(s.data)), len(s.data))
		}
		return
	}
	if dest, ok := rtfDests[word]; ok {
		s.begin(word, dest)
		return
	}
	if r, ok := rtfChars[word]; ok {
		s.rune(r)
		return
	}
	if s.format(word, n, has) || s.paragraphFormat(word, n) || s.tables(word, n) {
		s.state.star = false
		return
	}
	if s.state.star {
		s.flush()
		s.state.dest = rtfIgnored
		s.state.star = false
	}
}

// begin begins a destination. What is ignored is so with all that is in it, but for
// the document's properties.
func (s *rtfScanner) begin(word string, dest rtfDest) {
	s.flush()
	star := s.state.star
	s.state.star = false
	inInfo := dest >= rtfTitle
	if (word == "listtext" || word == "pntext") && s.state.dest == rtfBody {
		s.item = true
	}
	switch {
	case s.state.dest == rtfIgnored && !(inInfo && len(s.stack) == 3):
	case dest == rtfBody:
	case inInfo && len(s.stack) != 3:
		if star {
			s.state.dest = rtfIgnored
		}
	case dest == rtfAuthor && s.props.author != "": // who wrote last
		s.state.dest = rtfIgnored
	case dest == rtfNote:
		s.state.dest, s.state.hidden, s.state.level = dest, false, noHeading
		if s.note != nil {
			s.note.sep(sepLine)
		}
	default:
		s.state.dest = dest
	}
}

// format takes the words for characters. It says whether the word is one.
func (s *rtfScanner) format(word string, n int, has bool) bool {
	switch word {
	case "u":
		s.unicode(n)
	case "uc":
		s.state.uc = min(max(n, 0), 16)
	case "f":
		s.flush()
		if s.state.dest == rtfFonts {
			s.entry = n
		} else {
			s.state.font = n
		}
	case "deff":
		s.deffont = n
	case "plain":
		s.flush()
		s.state.font, s.state.hidden = -1, false
	case "v", "deleted":
		s.flush()
		s.state.hidden = !has || n != 0
	case "ansicpg":
		s.codePageWord(n)
	case "mac":
		s.page = 10000
	case "pc":
		s.page = 437
	case "pca":
		s.page = 850
	case "upr":
		s.state.upr = true
	case "ud":
		if len(s.stack) > 0 {
			s.state.dest = s.stack[len(s.stack)-1].dest
		}
	default:
		return false
	}
	return true
}

func (s *rtfScanner) codePageWord(n int) {
	if codePages[n] != nil && n != 1200 {
		s.page = n
	}
}

// paragraphFormat takes the words for paragraphs and lines.
func (s *rtfScanner) paragraphFormat(word string, n int) bool {
	switch word {
	case "par", "sect", "page":
		if s.state.dest == rtfBody {
			s.endParagraph()
		} else {
			s.separate(sepLine)
		}
	case "line", "softline":
		s.separate(sepLine)
	case "pard":
		s.flush()
		s.state.level, s.state.table = noHeading, false
	case "s":
		if s.state.dest == rtfStyles {
			s.entry = n
		} else if l, ok := s.styles[n]; ok && s.state.dest == rtfBody {
			s.flush()
			s.state.level = l
		}
	case "outlinelevel":
		s.outlineLevel(n)
	case "cell", "nestcell":
		s.separate(sepLine)
		if s.state.dest == rtfBody {
			s.b.endCell()
		}
	case "row", "nestrow":
		s.separate(sepLine)
	case "intbl":
		s.state.table = true
	default:
		return false
	}
	return true
}

func (s *rtfScanner) outlineLevel(n int) {
	switch {
	case n < 0 || n >= 9:
	case s.state.dest == rtfBody:
		s.flush()
		s.state.level = n + 1
	case s.state.dest == rtfStyles && len(s.styles) < maxRTFTable:
		s.styles[s.entry] = n + 1
	}
}

// tables takes the words of the font table and of dates.
func (s *rtfScanner) tables(word string, n int) bool {
	switch word {
	case "fcharset":
		if p, ok := charsetPages[n]; ok && s.state.dest == rtfFonts && len(s.fonts) < maxRTFTable {
			s.fonts[s.entry] = p
		}
	case "cpg":
		if s.state.dest == rtfFonts && codePages[n] != nil && len(s.fonts) < maxRTFTable {
			s.fonts[s.entry] = n
		}
	case "yr":
		s.date[0] = n
	case "mo":
		s.date[1] = n
	case "dy":
		s.date[2] = n
	case "hr":
		s.date[3] = n
	case "min":
		s.date[4] = n
	default:
		return false
	}
	return true
}

// unicode takes a character by its number of 16 bits, of which two may be a pair.
func (s *rtfScanner) unicode(n int) {
	r := rune(n)
	if n < 0 {
		r = rune(n & 0xffff)
	}
	switch {
	case r >= 0xd800 && r < 0xdc00:
		s.flush()
		s.high = r
	case r >= 0xdc00 && r < 0xe000 && s.high != 0:
		pair := utf16.DecodeRune(s.high, r)
		s.high = 0
		s.flush()
		s.emit(string(pair))
	default:
		s.flush()
		if r >= 0xf020 && r <= 0xf0ff { // of a symbol font
			r = symbolRune(r)
		}
		s.emit(string(r))
	}
	s.skip = s.state.uc
}

// symbolRune is what is known of a symbol font's character: that it is a bullet.
func symbolRune(r rune) rune {
	if r == 0xf0b7 || r == 0xf0a7 || r == 0xf06e {
		return '•'
	}
	return ' '
}
