package extract

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// parseRST finds the section titles of reStructuredText: lines with a line of
// punctuation below, and for some one above. As in docutils, the first kind that a
// text has is the outermost, the next new one is below that, and so on.
func parseRST(d *Document) error {
	s := rstScanner{lineReader: lineReader{text: d.Text}, levels: map[string]int{}}
	s.scan()
	d.sections(0, s.headings)
	d.Author, d.Date = s.author, s.date
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// rstScanner looks at three lines at a time.
type rstScanner struct {
	lineReader
	metaData
	headings []heading
	levels   map[string]int
	// before and title are the two lines above the one that is read.
	before, title line
}

func (s *rstScanner) scan() {
	for {
		l, ok := s.read()
		if !ok {
			return
		}
		if char := ruleOf(l); char != 0 && s.titled(l) {
			kind := string(char)
			start := s.title.start
			if ruleOf(s.before) == char && s.before.next == s.title.start {
				kind, start = kind+kind, s.before.start
			}
			s.add(kind, start, l)
			s.before, s.title = line{}, line{}
			continue
		}
		s.field(l)
		s.before, s.title = s.title, l
	}
}

// ruleOf returns the character that a line is a rule of, or 0.
func ruleOf(l line) byte {
	content := bytes.TrimRight(l.content, " \t")
	if l.indent > 0 || len(content) < 2 || strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", content[0]) < 0 || run(content, content[0]) != len(content) {
		return 0
	}
	return content[0]
}

// titled says that the line above a rule is a title: one line of text that is not
// much longer than the rule.
func (s *rstScanner) titled(rule line) bool {
	title := s.title
	over := ruleOf(s.before) != 0
	if title.blank() || title.indent > 0 && !over || ruleOf(title) != 0 || title.next != rule.start || len(title.content) > maxHeading {
		return false
	}
	width, length := utf8.RuneCount(bytes.TrimSpace(title.content)), len(bytes.TrimSpace(rule.content))
	alone := s.before.blank() || over
	return alone && (length >= 4 || length >= width) && 2*length >= width
}

// add adds a title of a kind.
func (s *rstScanner) add(kind string, start int, rule line) {
	level, ok := s.levels[kind]
	if !ok {
		level = len(s.levels) + 1
		s.levels[kind] = level
	}
	if text := fold(rstText(Decode(s.title.content))); text != "" {
		s.headings = append(s.headings, heading{level: min(level, maxLevel), text: text, start: start, end: rule.end, after: rule.next})
	}
}

var rstRole = regexp.MustCompile(`:[a-z][a-z:+-]*:` + "`")

// rstText drops the marks of roles, literals and emphasis from a title.
func rstText(s string) string {
	return strings.NewReplacer("``", "", "`", "", "**", "", "\\ ", "").Replace(rstRole.ReplaceAllString(s, ""))
}

// field reads the author and date of a field list.
func (s *rstScanner) field(l line) {
	if l.blank() || l.rest[0] != ':' || len(l.content) > maxHeading {
		return
	}
	name, value, ok := strings.Cut(string(l.rest[1:]), ":")
	switch {
	case !ok:
	case strings.EqualFold(name, "author") && s.author == "":
		s.author = fold(value)
	case strings.EqualFold(name, "date") && s.date.IsZero():
		s.date = readDate(value)
	}
}
