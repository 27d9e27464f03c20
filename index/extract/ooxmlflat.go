package extract

import "bytes"

// parseFlatWord reads a Word document that is one XML file: WordprocessingML of
// 2003, or a package written flat.
func parseFlatWord(d *Document) error {
	d.Type = "docx"
	x := newXMLReader(d.budget.reader(bytes.NewReader(d.Text)))
	p := &zipPackage{d: d}
	b := newTextBuilder(d)
	w := &docxWalk{docx: &docx{p: p, b: b}, x: x, b: b}
	var props properties
	inBody := false
	for e := x.next(); e != xmlEnd && !b.full(); e = x.next() {
		switch {
		case e == xmlOpen && x.name == "part" && !wordPart(x.attr("name")):
			x.skip()
		case x.name == "body" && e != xmlText:
			inBody = e == xmlOpen
		case inBody:
			w.event(e)
		case e == xmlOpen:
			props.flatWord(x)
		}
	}
	w.endParagraphs()
	props.apply(d)
	b.closing(props.more)
	return b.finish(x.err)
}

// wordPart says that a part of a flat package is read.
func wordPart(name string) bool {
	switch partName(name) {
	case "word/document.xml", "docprops/core.xml":
		return true
	}
	return false
}

// flatWord reads a property in either of the two forms.
func (p *properties) flatWord(x *xmlReader) {
	switch x.name {
	case "author":
		p.author = x.content()
	case "lastsaved":
		p.modified = parseDate(x.content())
	default:
		p.core(x)
	}
}

// parseFlatExcel reads a workbook of 2003 that is one XML file.
func parseFlatExcel(d *Document) error {
	d.Type = "xlsx"
	x := newXMLReader(d.budget.reader(bytes.NewReader(d.Text)))
	b := newTextBuilder(d)
	var props properties
	for e := x.next(); e != xmlEnd && !b.full(); e = x.next() {
		switch {
		case e == xmlOpen && x.name == "worksheet":
			b.startPage(0)
			b.heading(1, x.attr("name"))
		case e == xmlOpen && x.name == "data":
			b.add(oneCell(x.contentUpTo(maxToken)))
			b.endCell()
		case e == xmlClose && x.name == "row":
			b.sep(sepLine)
		case e == xmlOpen:
			props.flatWord(x)
		}
	}
	props.apply(d)
	b.closing(props.more)
	return b.finish(x.err)
}
