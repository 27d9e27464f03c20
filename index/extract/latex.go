package extract

import (
	"bytes"
	"regexp"
	"strings"
)

// parseLaTeX finds the sections of LaTeX, its title, author and date. The text is
// the source with its commands, so that a passage is found where it is written.
// Comments and verbatim text have no sections.
func parseLaTeX(d *Document) error {
	var headings []heading
	verbatim := []byte(nil)
	r := lineReader{text: d.Text}
	for {
		l, ok := r.read()
		if !ok {
			break
		}
		switch {
		case verbatim != nil:
			if bytes.Contains(l.content, verbatim) {
				verbatim = nil
			}
		case l.blank() || l.rest[0] == '%':
		case bytes.IndexByte(l.content, '\\') >= 0:
			if m := texVerbatim.FindSubmatch(l.rest); m != nil && !bytes.Contains(l.rest, []byte(`\end{`+string(m[1]))) {
				verbatim = []byte(`\end{` + string(m[1]))
				continue
			}
			if h, ok := texHeading(d.Text, l); ok {
				headings = append(headings, h)
				r.seek(h.after)
			} else {
				d.texField(l)
			}
		}
	}
	d.sections(0, headings)
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// seek moves on to a later place.
func (r *lineReader) seek(to int) {
	if to > r.pos {
		r.pos = to
	}
}

var (
	texVerbatim = regexp.MustCompile(`^\\begin\{(verbatim\*?|lstlisting|minted|comment|Verbatim|alltt)`)
	texSection  = regexp.MustCompile(`^\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph|frametitle|begin\{frame\}|begin\{abstract\}|addchap|addsec)\*?\s*(?:<[^>]{0,50}>)?\s*(?:\[[^\]]{0,500}\]\s*)?`)
	texMeta     = regexp.MustCompile(`\\(title|author|date)\s*(?:\[[^\]]{0,500}\]\s*)?\{`)
	texLevels   = map[string]int{"part": 1, "chapter": 2, "addchap": 2, "section": 3, "addsec": 3, "subsection": 4, "subsubsection": 5,
		"paragraph": 6, "subparagraph": 7, "frametitle": 5, "begin{frame}": 5, "begin{abstract}": 3}
)

// texHeading returns the heading that a line begins, which may go on for some more.
// An abstract is one by its name.
func texHeading(text []byte, l line) (heading, bool) {
	at := l.end - len(l.rest)
	source := text[at:min(len(text), at+maxHeading)]
	m := texSection.FindSubmatchIndex(source)
	if m == nil {
		return heading{}, false
	}
	command := string(source[m[2]:m[3]])
	h := heading{level: texLevels[command], start: l.start, end: l.end, after: l.next}
	if command == "begin{abstract}" {
		h.text = "Abstract"
		return h, true
	}
	argument, n, ok := braced(source[m[1]:])
	if !ok {
		return heading{}, false
	}
	h.text = texText(argument)
	if end := at + m[1] + n; end > l.end { // the title is on several lines
		rest := lineReader{text: text, pos: end}
		h.end, h.after = end, end
		if last, ok := rest.read(); ok {
			h.end, h.after = last.end, last.next
		}
	}
	return h, h.text != ""
}

// braced returns what is in the braces that b begins with, and their length.
func braced(b []byte) (inner []byte, n int, ok bool) {
	if len(b) == 0 || b[0] != '{' {
		return nil, 0, false
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return b[1:i], i + 1, true
			}
		}
	}
	return nil, 0, false
}

var (
	texCommands = regexp.MustCompile(`\\(?:label|cite|ref|index|footnote|thanks)\s*\{[^{}]*\}|\\[A-Za-z]+\*?\s*(?:\[[^\]]*\])?|\\[^A-Za-z\s&%$#_{}]`)
	texSigns    = strings.NewReplacer("{", "", "}", "", "~", " ", `\\`, " ", `\&`, "&", `\%`, "%", `\$`, "$", `\#`, "#", `\_`, "_", "---", "—", "--", "–", "``", "“", "''", "”")
)

// texText returns an argument's words without commands.
func texText(argument []byte) string {
	s := strings.ReplaceAll(Decode(argument), `\\`, " ")
	return fold(texSigns.Replace(texCommands.ReplaceAllString(s, "")))
}

// texField reads the title, author or date.
func (d *Document) texField(l line) {
	m := texMeta.FindSubmatchIndex(l.content[:min(len(l.content), maxHeading)])
	if m == nil {
		return
	}
	at := l.start + m[1] - 1
	argument, _, ok := braced(d.Text[at:min(len(d.Text), at+maxHeading)])
	if !ok {
		return
	}
	switch value := texText(argument); string(l.content[m[2]:m[3]]) {
	case "title":
		d.Title = value
	case "author":
		d.Author = value
	case "date":
		d.Date = readDate(value)
	}
}
