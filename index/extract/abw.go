package extract

import "bytes"

// parseAbiWord reads a document of AbiWord.
func parseAbiWord(d *Document) error {
	d.Type = "abw"
	x := newXMLReader(d.budget.reader(bytes.NewReader(d.Text)))
	w := &abiWord{d: d, x: x, b: newTextBuilder(d), level: noHeading}
	for e := x.next(); e != xmlEnd && !w.b.full(); e = x.next() {
		switch e {
		case xmlText:
			if w.paras > 0 {
				w.add(x.text())
			}
		case xmlOpen:
			w.open()
		case xmlClose:
			w.close()
		}
	}
	w.props.apply(d)
	w.b.closing(w.props.more)
	return w.b.finish(x.err)
}

// abiWord reads a document of AbiWord.
type abiWord struct {
	d     *Document
	x     *xmlReader
	b     *textBuilder
	props properties
	paras int
	level int
	title string
}

func (w *abiWord) add(s string) {
	if w.level == noHeading {
		w.b.add(s)
		return
	}
	if w.title += s; len(w.title) > maxHeading {
		w.b.add(w.title)
		w.level, w.title = noHeading, ""
	}
}

func (w *abiWord) open() {
	switch w.x.name {
	case "p":
		if w.paras++; w.paras == 1 {
			w.level, w.title = styleLevel(w.x.attr("style")), ""
		} else {
			w.b.sep(sepLine)
		}
	case "br", "cbr", "pbr":
		w.add("\n")
	case "m":
		w.property(w.x.attr("key"))
	case "data", "styles", "rdf", "lists", "history", "ignoredwords":
		w.x.skip()
	}
}

func (w *abiWord) close() {
	switch w.x.name {
	case "p":
		w.paras = max(w.paras-1, 0)
		if w.paras == 0 && w.level != noHeading {
			w.b.heading(w.level, w.title)
			w.level = noHeading
		}
		w.b.sep(sepBlank)
	case "cell":
		w.b.sep(sepLine)
	}
}

// property reads a property of the document.
func (w *abiWord) property(key string) {
	value := w.x.content()
	switch key {
	case "dc.title":
		w.props.title = value
	case "dc.creator":
		w.props.author = value
	case "dc.date":
		w.props.created = parseDate(value)
	case "abiword.date_last_changed":
		w.props.modified = parseDate(value)
	case "dc.subject", "dc.description", "abiword.keywords", "dc.contributor", "dc.publisher", "dc.type", "dc.coverage",
		"dc.source", "dc.relation", "dc.rights":
		w.props.add(value)
	}
}
