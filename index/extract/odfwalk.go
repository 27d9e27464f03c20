package extract

import (
	"strings"
)

// maxRepeat bounds the spaces that one element stands for; repeated cells and rows
// are written once.
const maxRepeat = 100

// odfWalk goes through an XML part of an OpenDocument.
type odfWalk struct {
	d      *Document
	x      *xmlReader
	b      *textBuilder
	styles bool // the part is styles.xml: only what pages show in common
	counts bool // the line is about the page itself
	props  properties
	lines  []string // of the master pages

	parents  map[string]string // parent styles of the paragraphs' own styles
	hidden   map[string]bool   // styles of text that is not shown
	defining string
	paras    int
	side     *textBuilder // notes, comments and text boxes of the paragraph
	level    int
	title    string
	style    string
	lists    int
	item     bool // a list's item begins
	tables   int
	page     int
	frame    int // the depth of the frame with a slide's title
}

func (w *odfWalk) walk(x *xmlReader) {
	w.x, w.parents, w.hidden = x, map[string]string{}, map[string]bool{}
	for e := x.next(); e != xmlEnd && !w.b.full(); e = x.next() {
		switch e {
		case xmlText:
			if w.paras > 0 {
				w.add(odfSpace(x.text()))
			}
		case xmlOpen:
			w.open()
		case xmlClose:
			w.close()
		}
	}
	if w.paras > 0 {
		w.paras = 1
		w.endParagraph()
	}
}

// odfSpace collapses white space, which in OpenDocument is for the eye only.
func odfSpace(s string) string {
	if !strings.ContainsAny(s, "\n\t\r") && !strings.Contains(s, "  ") {
		return s
	}
	out := strings.Join(strings.Fields(s), " ")
	if out == "" {
		return " "
	}
	if strings.ContainsAny(s[:1], " \t\r\n") {
		out = " " + out
	}
	if strings.ContainsAny(s[len(s)-1:], " \t\r\n") {
		out += " "
	}
	return out
}

func (w *odfWalk) out() *textBuilder {
	if w.paras > 1 && w.side != nil {
		return w.side
	}
	return w.b
}

// target is where whole paragraphs go.
func (w *odfWalk) target() *textBuilder {
	if w.paras > 0 && w.side != nil {
		return w.side
	}
	return w.b
}

func (w *odfWalk) add(s string) {
	if w.level != noHeading && w.paras == 1 {
		if w.title += s; len(w.title) > maxHeading {
			w.b.add(w.title)
			w.level, w.title = noHeading, ""
		}
		return
	}
	if w.item && w.paras == 1 && strings.TrimSpace(s) != "" {
		w.item = false
		w.b.add("- ")
	}
	w.out().add(s)
}

func (w *odfWalk) open() {
	x := w.x
	switch x.name {
	case "p", "h":
		if x.prefix != "svg" {
			w.beginParagraph()
		}
	case "s", "tab", "tab-stop", "line-break":
		if w.paras > 0 {
			w.add(w.odfBlank())
		}
	case "list":
		w.lists++
	case "list-item":
		w.item = true
	case "style":
		if w.defining = x.attr("name"); len(w.parents) < maxRelations {
			w.parents[w.defining] = x.attr("parent-style-name")
		}
	case "text-properties":
		if x.attr("display") == "none" && len(w.hidden) < maxRelations {
			w.hidden[w.defining] = true
		}
	case "span":
		if w.hidden[x.attr("style-name")] {
			x.skip()
		}
	case "table":
		w.beginTable()
	case "page":
		w.beginPage()
	case "frame":
		if w.frame == 0 && x.attr("class") == "title" {
			w.frame = x.depth
		}
	case "meta":
		if x.prefix == "office" {
			w.meta()
		}
	default:
		w.pass()
	}
}

// odfBlank is the white space that the element just opened stands for.
func (w *odfWalk) odfBlank() string {
	switch w.x.name {
	case "s":
		return strings.Repeat(" ", min(max(w.x.intAttr("c", 1), 1), maxRepeat))
	case "line-break":
		return "\n"
	}
	return "\t"
}

// pass goes over what is no text of the document.
func (w *odfWalk) pass() {
	x := w.x
	switch x.name {
	case "note-citation", "footnote-citation", "endnote-citation", "tracked-changes", "ruby-text", "scripts", "script", "binary-data", "date", "creator", "settings",
		"event-listeners", "sequence-decls", "initials", "creator-initials", "font-face-decls", "user-field-decls",
		"variable-decls", "desc", "date-string", "master-page-name":
		x.skip()
	case "title":
		if x.prefix == "svg" || w.paras == 0 {
			x.skip()
		}
	case "page-number", "page-count", "sheet-name", "file-name", "time", "page-continuation":
		if w.styles {
			w.counts = true
			x.skip()
		}
	case "note", "footnote", "endnote", "annotation":
		if w.paras > 0 {
			w.side = w.sideBuilder()
			w.side.sep(sepLine)
		}
	}
}

func (w *odfWalk) sideBuilder() *textBuilder {
	if w.side == nil {
		w.side = w.b.part()
	}
	return w.side
}

// meta reads the properties in a flat document.
func (w *odfWalk) meta() {
	for end := w.x.depth; w.x.depth >= end; {
		switch w.x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			w.props.odf(w.x)
		}
	}
}

// beginTable begins a table, which in a spreadsheet is a sheet with a name.
func (w *odfWalk) beginTable() {
	w.tables++
	name := w.x.attr("name")
	if w.tables == 1 && w.paras == 0 && !w.styles && isSheetType(w.d.Type) {
		w.b.startPage(0)
		w.b.heading(1, name)
	}
}

// isSheetType says that the tables of a type are sheets.
func isSheetType(t string) bool {
	switch t {
	case "ods", "ots", "fods", "sxc", "stc":
		return true
	}
	return false
}

// beginPage begins a slide or a drawing's page.
func (w *odfWalk) beginPage() {
	if w.x.prefix != "draw" || w.styles {
		return
	}
	w.page++
	w.b.startPage(w.page)
	w.frame = 0
}

func (w *odfWalk) close() {
	switch w.x.name {
	case "p", "h":
		if w.paras > 0 && w.x.prefix != "svg" {
			w.endParagraph()
		}
	case "list":
		w.lists = max(w.lists-1, 0)
		w.item = false
		if w.lists == 0 {
			w.target().sep(sepBlank)
		}
	case "table-cell":
		w.target().endCell()
	case "table-row":
		w.target().sep(sepLine)
	case "table":
		w.tables = max(w.tables-1, 0)
		w.target().sep(sepBlank)
	case "frame", "custom-shape", "notes":
		if w.x.depth < w.frame {
			w.frame = 0
		}
		w.target().sep(sepLine)
	}
}

func (w *odfWalk) beginParagraph() {
	if w.paras++; w.paras > 1 {
		w.sideBuilder().sep(sepLine)
		return
	}
	w.level, w.title, w.style = noHeading, "", w.x.attr("style-name")
	if w.styles {
		return
	}
	if w.frame > 0 {
		w.level = 1
	} else if w.x.name == "h" {
		w.level = max(w.x.intAttr("outline-level", w.x.intAttr("level", 1)), 1)
	} else if w.styleLevel() != noHeading {
		w.level = w.styleLevel()
	}
}

// styleLevel is the heading level that the paragraph's style tells by its name.
func (w *odfWalk) styleLevel() int {
	if l := styleLevel(w.style); l != noHeading {
		return l
	}
	return styleLevel(w.parents[w.style])
}

func (w *odfWalk) endParagraph() {
	if w.paras--; w.paras > 0 {
		w.side.sep(sepLine)
		return
	}
	switch {
	case w.styles:
		w.b.sep(sepNone)
		w.endLine()
	case w.title != "":
		if w.level == titleLevel && w.d.Title == "" {
			w.d.Title = oneLine(w.title)
		}
		w.b.heading(w.level, w.title)
	}
	s := sepBlank
	if w.tables > 0 || w.lists > 0 || w.page > 0 {
		s = sepLine
	}
	w.b.sep(s)
	if w.side != nil {
		w.b.addPart(w.side)
		w.b.sep(s)
		w.side = nil
	}
}

// endLine ends a line of a header, a footer or a master slide.
func (w *odfWalk) endLine() {
	if line := strings.TrimSpace(string(w.b.text)); line != "" && !w.counts && len(w.lines) < maxRelations {
		w.lines = append(w.lines, line)
	}
	w.b, w.counts = w.b.part(), false
}
