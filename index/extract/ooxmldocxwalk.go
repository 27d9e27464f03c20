package extract

import (
	"strconv"
	"strings"
)

// docxWalk goes through the body of a Word document, or of a note.
type docxWalk struct {
	*docx
	x      *xmlReader
	b      *textBuilder
	side   *textBuilder // text boxes of the paragraph
	paras  int          // how deep paragraphs are nested
	tables int
	level  int    // of the outer paragraph
	title  string // its text, where it is a heading
	list   bool
	marked bool // the mark of the list's item is written
	inText bool
	hidden bool
	refs   []string // notes that the paragraph refers to
}

// walk reads to the end of the part.
func (w *docxWalk) walk() {
	for e := w.x.next(); e != xmlEnd && !w.b.full(); e = w.x.next() {
		w.event(e)
	}
	w.endParagraphs()
}

// walkElement reads to the end of the element just opened.
func (w *docxWalk) walkElement() {
	for end := w.x.depth; w.x.depth >= end; {
		e := w.x.next()
		if e == xmlEnd {
			break
		}
		w.event(e)
	}
	w.endParagraphs()
}

func (w *docxWalk) endParagraphs() {
	if w.paras > 0 {
		w.paras = 1
		w.endParagraph()
	}
}

func (w *docxWalk) event(e xmlEvent) {
	switch e {
	case xmlText:
		if w.inText && !w.hidden {
			w.add(w.x.text())
		}
	case xmlOpen:
		w.open()
	case xmlClose:
		w.close()
	}
}

// add adds text to the paragraph.
func (w *docxWalk) add(s string) {
	switch {
	case w.paras > 1:
		w.side.add(s)
	case w.level != noHeading && w.paras == 1:
		w.addTitle(s)
	default:
		w.mark()
		w.b.add(s)
	}
}

// addTitle adds text to a heading; one that is too long is none.
func (w *docxWalk) addTitle(s string) {
	if w.title += s; len(w.title) > maxHeading {
		w.b.add(w.title)
		w.level, w.title = noHeading, ""
	}
}

// mark writes the mark of a list's item before its text.
func (w *docxWalk) mark() {
	if w.list && !w.marked {
		w.marked = true
		w.b.add("- ")
	}
}

func (w *docxWalk) open() {
	x := w.x
	switch x.name {
	case "p":
		w.beginParagraph()
	case "ppr":
		w.paragraphProperties()
	case "r":
		w.hidden = false
	case "rpr":
		w.runProperties()
	case "t":
		w.inText = true
	case "tab", "ptab":
		w.add("\t")
	case "br", "cr":
		w.add("\n")
	case "nobreakhyphen":
		w.add("-")
	case "sym":
		w.symbol()
	case "tbl":
		w.tables++
		w.target().sep(sepBlank)
	case "annotation": // of Word 2003
		if x.attr("type") == "Word.Deletion" {
			x.skip()
		}
	case "footnotereference", "endnotereference", "commentreference":
		w.refer(x.name[:len(x.name)-len("reference")] + x.attr("id"))
	case "altchunk":
		w.altChunk(x.attr("id"))
	case "textpath":
		w.add(x.attr("string"))
	case "del", "movefrom", "deltext", "instrtext", "delinstrtext", "rt", "fallback", "sdtpr", "tblpr", "trpr", "tcpr", "sectpr",
		"bindata", "docoledata", "styles", "lists", "fonts", "documentproperties", "shapedefaults":
		x.skip()
	}
}

func (w *docxWalk) close() {
	switch w.x.name {
	case "p":
		if w.paras > 0 {
			w.endParagraph()
		}
	case "t":
		w.inText = false
	case "tc":
		w.target().endCell()
	case "tr":
		w.target().sep(sepLine)
	case "tbl":
		w.tables = max(w.tables-1, 0)
		w.target().sep(sepBlank)
	}
}

// target is where whole paragraphs go: to the side within another one.
func (w *docxWalk) target() *textBuilder {
	if w.paras > 0 && w.side != nil {
		return w.side
	}
	return w.b
}

func (w *docxWalk) beginParagraph() {
	if w.paras++; w.paras > 1 {
		if w.side == nil {
			w.side = w.b.part()
		}
		w.side.sep(sepLine)
		return
	}
	w.level, w.title, w.list, w.marked, w.hidden = noHeading, "", false, false, false
}

func (w *docxWalk) endParagraph() {
	if w.paras--; w.paras > 0 {
		w.side.sep(sepLine)
		return
	}
	s := sepBlank
	if w.tables > 0 || w.list {
		s = sepLine
	}
	if w.title != "" {
		if w.level == titleLevel && w.p.d.Title == "" {
			w.p.d.Title = oneLine(w.title)
		}
		w.b.heading(w.level, w.title)
	} else {
		w.b.sep(s)
	}
	if w.side != nil {
		w.b.addPart(w.side)
		w.b.sep(s)
		w.side = nil
	}
	w.endNotes(s)
}

// refer remembers a note for the end of the paragraph.
func (w *docxWalk) refer(key string) {
	if _, ok := w.notes[key]; ok && len(w.refs) < maxRelations {
		w.refs = append(w.refs, key)
	}
}

// endNotes adds the notes that the paragraph refers to, each at the first place.
func (w *docxWalk) endNotes(s sep) {
	for _, ref := range w.refs {
		note, ok := w.notes[ref]
		if !ok {
			continue
		}
		label := note.author
		if !strings.HasPrefix(ref, "comment") {
			w.noted++
			label = strconv.Itoa(w.noted)
		}
		w.b.sep(sepLine)
		w.b.add("[" + label + "] ")
		w.b.addNote(note.text)
		w.b.sep(s)
		delete(w.notes, ref)
	}
	w.refs = w.refs[:0]
}

// paragraphProperties reads the style, which comes before the text.
func (w *docxWalk) paragraphProperties() {
	outer := w.paras == 1
	for end := w.x.depth; w.x.depth >= end; {
		switch w.x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			w.paragraphProperty(outer)
		}
	}
}

func (w *docxWalk) paragraphProperty(outer bool) {
	x := w.x
	switch x.name {
	case "rpr", "pprchange", "sectpr":
		x.skip()
	case "pstyle":
		if l, ok := w.levels[x.attr("val")]; ok && outer {
			w.level = l
		} else if l := styleLevel(x.attr("val")); !ok && w.levels == nil && outer {
			w.level = l
		}
	case "outlinelvl":
		if l := x.intAttr("val", 9); outer && l >= 0 && l < 9 {
			w.level = l + 1
		}
	case "numid":
		w.list = outer && x.attr("val") != "0" && w.level == noHeading
	}
}

func (w *docxWalk) runProperties() {
	for end := w.x.depth; w.x.depth >= end; {
		switch w.x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			switch w.x.name {
			case "rprchange":
				w.x.skip()
			case "vanish":
				v := w.x.attr("val")
				w.hidden = v != "0" && v != "false" && v != "off"
			}
		}
	}
}

// symbol adds a character that is given by its code. Those of symbol fonts, in the
// private use area, say nothing.
func (w *docxWalk) symbol() {
	n, err := strconv.ParseUint(w.x.attr("char"), 16, 32)
	if err == nil && n >= 0x20 && n < 0xe000 {
		w.add(string(rune(n)))
	}
}
