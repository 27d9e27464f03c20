package extract

import (
	"bytes"
	"regexp"
	"strings"
)

// parseOrg finds the headlines of Org text. A line with stars in front is one even
// within a block, as for Org itself, which has such lines escaped by a comma.
func parseOrg(d *Document) error {
	var headings []heading
	r := lineReader{text: d.Text}
	for {
		l, ok := r.read()
		if !ok {
			break
		}
		if level, text := headline(l); level > 0 {
			headings = append(headings, heading{level: min(level, maxLevel), text: text, start: l.start, end: l.end, after: l.next})
		} else if len(headings) == 0 {
			d.keyword(l)
		}
	}
	d.sections(0, headings)
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// keyword reads the title, author and date at the top of an Org text.
func (d *Document) keyword(l line) {
	if !bytes.HasPrefix(l.rest, []byte("#+")) || len(l.rest) > maxHeading {
		return
	}
	key, value, _ := strings.Cut(Decode(l.rest[2:]), ":")
	value = fold(value)
	switch strings.ToLower(key) {
	case "title":
		if len(d.Title) < maxHeading {
			d.Title = strings.TrimSpace(d.Title + " " + value)
		}
	case "author":
		d.Author = value
	case "date":
		d.Date = readDate(strings.Trim(strings.Split(value+" ", " ")[0], "<>[]"))
	}
}

var (
	orgTodo  = regexp.MustCompile(`^(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED|STARTED)(?:\s+|$)`)
	orgPrio  = regexp.MustCompile(`^\[#[A-Z0-9]\]\s*`)
	orgTags  = regexp.MustCompile(`\s+:[\pL\pN_@#%:]+:\s*$`)
	orgLinks = regexp.MustCompile(`\[\[[^\[\]]*\]\[([^\[\]]*)\]\]|\[\[([^\[\]]*)\]\]`)
	orgMarks = regexp.MustCompile(`(^|\s)([*/_=~+])(\S|\S.*?\S)([*/_=~+])(\s|$|[.,;:!?])`)
)

// headline returns the level and text of a headline, 0 for another line.
func headline(l line) (level int, text string) {
	level = run(l.content, '*')
	if level == 0 || level == len(l.content) || l.content[level] != ' ' && l.content[level] != '\t' || len(l.content) > maxHeading+level {
		return 0, ""
	}
	text = strings.TrimSpace(Decode(l.content[level:]))
	text = orgTodo.ReplaceAllString(text, "")
	text = orgPrio.ReplaceAllString(text, "")
	text = orgTags.ReplaceAllString(" "+text, "")
	text = orgLinks.ReplaceAllString(text, "$1$2")
	text = orgMarks.ReplaceAllString(text, "$1$3$5")
	if text = fold(text); text == "" {
		return 0, ""
	}
	return level, text
}
