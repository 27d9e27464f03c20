package extract

import "bytes"

// parseMarkdown finds the headings of a Markdown text: ATX and setext headings
// of CommonMark 0.31, at the top level only, since a heading in a quote or a
// list item is no division of the document. It looks at blocks alone, line by
// line, in one pass. A heading without text (a lone #, a picture without words)
// is none.
//
// Front matter in YAML or TOML is a section of its own without a heading path,
// so that its tags are found and cited and do not mix with the prose.
func parseMarkdown(d *Document) error {
	body := 0
	if bytes.HasPrefix(d.Text, []byte("\xEF\xBB\xBF")) {
		body = 3
	}
	if m, ok := frontMatter(d.Text[body:]); ok {
		d.Title = m.title
		d.Sections = append(d.Sections, Section{Start: body + m.start, End: body + m.end})
		body += m.after
	}
	s := blockScanner{lineReader: lineReader{text: d.Text, pos: body}}
	s.scan()
	d.sections(body, s.headings)
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// heading is a heading of a text.
type heading struct {
	level      int // from 1
	text       string
	start, end int // of its lines, without the last line end
	after      int // where the text below it begins
}

// sections appends the sections that the headings divide the text from body on
// into, and sets the title if there is none.
func (d *Document) sections(body int, headings []heading) {
	end := len(d.Text)
	if len(headings) > 0 {
		end = headings[0].start
	}
	if body < end {
		d.Sections = append(d.Sections, Section{Start: body, End: end})
	}
	var open []heading
	for i, h := range headings {
		for len(open) > 0 && open[len(open)-1].level >= h.level {
			open = open[:len(open)-1]
		}
		open = append(open, h)
		path := make([]string, len(open))
		for j := range open {
			path[j] = open[j].text
		}
		end = len(d.Text)
		if i+1 < len(headings) {
			end = headings[i+1].start
		}
		d.Sections = append(d.Sections, Section{Start: h.after, End: end, Heading: path, HeadingStart: h.start, HeadingEnd: h.end})
		if d.Title == "" && h.level == 1 {
			d.Title = h.text
		}
	}
}
