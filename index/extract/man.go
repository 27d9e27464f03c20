package extract

import (
	"bytes"
	"regexp"
	"strings"
)

// parseMan finds the sections of manual pages, in the macros of man or of mdoc. The
// text is the source. A file with such a name that is none is plain text.
func parseMan(d *Document) error {
	var headings []heading
	r := lineReader{text: d.Text}
	manual := false
	var open line // a .SH without words, whose title is the next line
	for {
		l, ok := r.read()
		if !ok {
			break
		}
		if open.next > 0 {
			if !l.blank() && l.rest[0] != '.' {
				headings = addManual(headings, open, l, l.content)
			}
			open = line{}
			continue
		}
		m := manMacro.FindSubmatch(l.content[:min(len(l.content), maxHeading)])
		switch {
		case m == nil:
		case string(m[1]) == "TH" || string(m[1]) == "Dt":
			manual = true
			d.Title = manTitle(m[2])
		case len(bytes.TrimSpace(m[2])) == 0:
			open = l
		default:
			headings = addManual(headings, l, l, m[2])
		}
	}
	if !manual {
		return parsePlain(d)
	}
	d.Type = "man"
	d.sections(0, headings)
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

var manMacro = regexp.MustCompile(`^[.'][ \t]*(TH|Dt|SH|SS|Sh|Ss)(?:[ \t]+(.*)|[ \t]*)$`)

// addManual adds the heading of a line with a macro, whose words may be on the next.
func addManual(headings []heading, macro, last line, words []byte) []heading {
	text := manText(words)
	if text == "" {
		return headings
	}
	level := 2
	if name := bytes.TrimLeft(macro.rest[1:], " \t"); (name[1] | 0x20) == 's' {
		level = 3
	}
	return append(headings, heading{level: level, text: text, start: macro.start, end: last.end, after: last.next})
}

// manTitle returns a page's name and section, such as ls(1).
func manTitle(words []byte) string {
	fields := strings.Fields(manText(words))
	switch len(fields) {
	case 0:
		return ""
	case 1:
		return fields[0]
	}
	return strings.ToLower(fields[0]) + "(" + fields[1] + ")"
}

var manEscapes = regexp.MustCompile(`\\f(?:\[[^\]]*\]|\([A-Z]{2}|.)|\\s[-+]?\d|\\[&/|^]|\\".*`)

// manText returns the words of a macro's argument without escapes and quotes.
func manText(words []byte) string {
	s := manEscapes.ReplaceAllString(Decode(words), "")
	s = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(em`, "—", `\(en`, "–", `\ `, " ", `\e`, `\`, `"`, "").Replace(s)
	return fold(s)
}
