package extract

import (
	"path"
	"strconv"
	"strings"
)

// docx reads a Word document.
type docx struct {
	p       *zipPackage
	b       *textBuilder
	levels  map[string]int // heading levels of paragraph styles
	notes   map[string]docxNote
	noted   int // footnotes and endnotes written
	rels    map[string]relation
	trailer []string
}

// titleLevel is that of a paragraph with the style for the document's title, above
// all headings; noHeading is that of text.
const (
	titleLevel = 0
	noHeading  = -1
)

func parseDOCX(p *zipPackage) error {
	b := newTextBuilder(p.d)
	main := p.mainPartOr("word/document.xml")
	rels := p.relations(main)
	w := &docx{p: p, b: b, rels: byID(rels), notes: map[string]docxNote{}}
	w.readStyles(targets(rels, "styles"))
	for _, kind := range []string{"footnotes", "endnotes", "comments"} {
		for _, part := range targets(rels, kind) {
			w.readNotes(part, strings.TrimSuffix(kind, "s"))
		}
	}
	err := p.xml(main, func(x *xmlReader) { (&docxWalk{docx: w, x: x, b: b}).walk() })
	w.readTrailer(rels)
	props := p.ooxmlProperties()
	props.apply(p.d)
	b.closing(append(w.trailer, props.more...))
	if e := p.embedded(); err == nil {
		err = e
	}
	return b.finish(err)
}

// readTrailer gathers what stands on every page or beside the text.
func (w *docx) readTrailer(rels []relation) {
	for _, part := range targets(rels, "header", "footer") {
		b := w.b.part()
		w.p.xml(part, func(x *xmlReader) { (&docxWalk{docx: w, x: x, b: b}).walk() })
		w.trailer = append(w.trailer, string(b.text))
	}
	for _, part := range targets(rels, "chart", "diagramData") {
		b := w.b.part()
		w.p.drawingText(b, part)
		w.trailer = append(w.trailer, string(b.text))
	}
}

// readStyles finds out which paragraph styles are headings.
func (w *docx) readStyles(parts []string) {
	s := docxStyles{}
	for _, part := range parts {
		w.p.xml(part, func(x *xmlReader) {
			for e := x.next(); e != xmlEnd; e = x.next() {
				if e == xmlOpen && x.name == "style" && len(s) < maxRelations {
					s.read(x)
				}
			}
		})
	}
	w.levels = s.levels()
}

// docxNote is a footnote, an endnote or a comment, which has an author.
type docxNote struct {
	author string
	text   *textBuilder
}

// docxStyle is a style: its level or noHeading, and the style that it is based on.
type docxStyle struct {
	level int
	base  string
}

type docxStyles map[string]docxStyle

// read reads a style element.
func (s docxStyles) read(x *xmlReader) {
	id, st := x.attr("styleid"), docxStyle{level: noHeading}
	for end := x.depth; x.depth >= end; {
		switch x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			switch x.name {
			case "name":
				if l := styleLevel(x.attr("val")); l != noHeading {
					st.level = l
				}
			case "basedon":
				st.base = x.attr("val")
			case "outlinelvl":
				if l := x.intAttr("val", 9); l >= 0 && l < 9 && st.level != titleLevel {
					st.level = l + 1
				}
			}
		}
	}
	s[id] = st
}

// levels follows the styles to those they are based on.
func (s docxStyles) levels() map[string]int {
	m := make(map[string]int, len(s))
	for id := range s {
		at := id
		for range 20 {
			st, ok := s[at]
			if !ok {
				break
			}
			if st.level != noHeading {
				m[id] = st.level
				break
			}
			at = st.base
		}
	}
	return m
}

// styleSpaces are what stands for a space in names of styles.
var styleSpaces = strings.NewReplacer("_20_", " ", "-", " ")

// styleLevel is the heading level that a style's name tells, or noHeading.
func styleLevel(name string) int {
	name = strings.ToLower(styleSpaces.Replace(strings.TrimSpace(name)))
	if name == "title" {
		return titleLevel
	}
	if rest, ok := strings.CutPrefix(name, "heading"); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n >= 1 && n <= 9 {
			return n
		}
	}
	return noHeading
}

// readNotes reads the footnotes, endnotes or comments of a part: they are put
// behind the paragraphs that refer to them.
func (w *docx) readNotes(part, kind string) {
	w.p.xml(part, func(x *xmlReader) {
		for e := x.next(); e != xmlEnd && !w.b.full(); e = x.next() {
			if e != xmlOpen || x.name != kind {
				continue
			}
			if t := x.attr("type"); t != "" && t != "normal" {
				x.skip()
				continue
			}
			note := docxNote{author: oneLine(x.attr("author")), text: w.b.part()}
			key := kind + x.attr("id")
			(&docxWalk{docx: &docx{p: w.p, b: note.text}, x: x, b: note.text}).walkElement()
			if len(note.text.text) > 0 && len(w.notes) < maxRelations {
				w.notes[key] = note
			}
		}
	})
}

// altChunk adds a document in another format that stands for a part of this one.
func (w *docx) altChunk(id string) {
	part := w.rels[id].target
	if part == "" {
		return
	}
	delete(w.rels, id)
	if sub, err := w.p.sub(part); err == nil {
		w.b.sep(sepBlank)
		w.b.add(string(sub.Text))
		w.b.sep(sepBlank)
	} else if data, err := w.p.read(part, maxPart); err == nil && path.Ext(part) == ".txt" {
		w.b.add(string(data))
		w.b.sep(sepBlank)
	}
}
