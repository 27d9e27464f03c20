package extract

import (
	"regexp"
	"strings"
)

// xlsx reads a workbook.
type xlsx struct {
	p       *zipPackage
	b       *textBuilder
	shared  []string
	formats cellFormats
	trailer []string
}

// workbookSheet is a sheet of a workbook.
type workbookSheet struct{ name, part string }

func parseXLSX(p *zipPackage) error {
	w := &xlsx{p: p, b: newTextBuilder(p.d)}
	main := p.mainPartOr("xl/workbook.xml")
	rels := p.relations(main)
	sheets := w.sheets(main, rels)
	for _, part := range targets(rels, "styles") {
		p.xml(part, w.formats.read)
	}
	var err error
	for _, part := range targets(rels, "sharedStrings") {
		err = p.xml(part, w.readShared)
	}
	for _, s := range sheets {
		if e := w.sheet(s); err == nil {
			err = e
		}
	}
	props := p.ooxmlProperties()
	props.apply(p.d)
	w.b.closing(append(w.trailer, props.more...))
	if e := p.embedded(); err == nil {
		err = e
	}
	return w.b.finish(err)
}

// sheets are the sheets in their order.
func (w *xlsx) sheets(main string, rels []relation) []workbookSheet {
	var sheets []workbookSheet
	ids := byID(rels)
	w.p.xml(main, func(x *xmlReader) {
		for e := x.next(); e != xmlEnd && len(sheets) < maxRelations; e = x.next() {
			switch {
			case e == xmlOpen && x.name == "workbookpr":
				w.formats.date1904 = x.attr("date1904") == "1" || x.attr("date1904") == "true"
			case e == xmlOpen && x.name == "sheet":
				sheets = append(sheets, workbookSheet{x.attr("name"), ids[relationID(x)].target})
			}
		}
	})
	return sheets
}

// readShared reads the strings that cells refer to. They are accounted for where
// they are used, since one may be used often; here as inflated bytes only.
func (w *xlsx) readShared(x *xmlReader) {
	total := 0
	for e := x.next(); e != xmlEnd; e = x.next() {
		if e == xmlOpen && x.name == "si" {
			s := richText(x)
			if total += len(s) + 32; total > maxPart {
				w.b.err = ErrLimit
				return
			}
			w.shared = append(w.shared, s)
		}
	}
}

// richText is the text of the element just opened, without readings of Japanese
// words, and goes on to its end.
func richText(x *xmlReader) string {
	var text []byte
	inText := false
	for end := x.depth; x.depth >= end; {
		switch x.next() {
		case xmlEnd:
			return string(text)
		case xmlOpen:
			if x.name == "rph" {
				x.skip()
			}
			inText = x.name == "t"
		case xmlClose:
			inText = false
		case xmlText:
			if inText && len(text) < maxToken {
				text = append(text, x.z.Text()...)
			}
		}
	}
	return string(text)
}

// sheet adds a sheet: its name as heading, a line for each row with cells, then
// its comments and the texts of its drawings.
func (w *xlsx) sheet(s workbookSheet) error {
	w.b.startPage(0)
	w.b.heading(1, s.name)
	if s.part == "" {
		return nil
	}
	err := w.p.xml(s.part, func(x *xmlReader) { w.rows(x) })
	w.b.sep(sepBlank)
	rels := w.p.relations(s.part)
	for _, r := range rels {
		switch r.kind {
		case "comments", "threadedComment":
			w.p.xml(r.target, w.comments)
		case "drawing", "vmlDrawing":
			w.drawing(r.target)
		}
	}
	return err
}

// rows reads the cells of a sheet as they come: where they stand is of no matter,
// so that a far cell costs what a near one does.
func (w *xlsx) rows(x *xmlReader) {
	for e := x.next(); e != xmlEnd && !w.b.full(); e = x.next() {
		switch {
		case e == xmlOpen && x.name == "c":
			w.cell(x)
		case e == xmlClose && x.name == "row":
			w.b.sep(sepLine)
		case e == xmlOpen && isPageMargin(x.name) && len(w.trailer) < maxRelations:
			w.trailer = append(w.trailer, headerText(x.content()))
		}
	}
}

// isPageMargin says that an element is a header or footer of a sheet.
func isPageMargin(name string) bool {
	switch name {
	case "oddheader", "oddfooter", "evenheader", "evenfooter", "firstheader", "firstfooter":
		return true
	}
	return false
}

// headerCodes are the codes for fonts, places, dates and numbers in a header.
var headerCodes = regexp.MustCompile(`&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Za-z+-])`)

// headerText is the text of a header of a sheet without its codes.
func headerText(s string) string {
	s = strings.ReplaceAll(s, "&&", "\x00")
	fields := strings.Fields(headerCodes.ReplaceAllString(s, " "))
	if len(fields) < 2 && strings.Contains(s, "&P") { // the word for page
		return ""
	}
	return strings.ReplaceAll(strings.Join(fields, " "), "\x00", "&")
}

// cell adds the cell just opened.
func (w *xlsx) cell(x *xmlReader) {
	kind, style := x.attr("t"), x.intAttr("s", 0)
	value, inline := "", ""
	for end := x.depth; x.depth >= end; {
		switch x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			switch x.name {
			case "v":
				value = x.contentUpTo(maxToken)
			case "is":
				inline = richText(x)
			case "f":
				x.skip()
			}
		}
	}
	if inline == "" {
		inline = w.value(kind, style, value)
	}
	if inline != "" {
		w.b.add(oneCell(inline))
		w.b.endCell()
	}
}

// oneCell is the text of a cell without line ends.
func oneCell(s string) string {
	if strings.ContainsAny(s, "\r\n\t") {
		return strings.Join(strings.Fields(s), " ")
	}
	return s
}

// value is what a cell shows.
func (w *xlsx) value(kind string, style int, v string) string {
	switch kind {
	case "s":
		if i := atoi(v); i >= 0 && i < len(w.shared) {
			return w.shared[i]
		}
		return ""
	case "b":
		return boolText(v == "1" || v == "true")
	case "str", "inlineStr", "e", "d":
		return v
	}
	return w.formats.show(style, v)
}

func boolText(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// comments adds the comments on a sheet.
func (w *xlsx) comments(x *xmlReader) {
	for e := x.next(); e != xmlEnd && !w.b.full(); e = x.next() {
		if e == xmlOpen && x.name == "text" {
			w.b.addLine(x.contentUpTo(maxToken))
		}
	}
}

// drawing adds the texts of the shapes and the charts on a sheet.
func (w *xlsx) drawing(part string) {
	w.p.drawingText(w.b, part)
	for _, chart := range targets(w.p.relations(part), "chart", "chartEx", "diagramData") {
		w.p.drawingText(w.b, chart)
	}
}
