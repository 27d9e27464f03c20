package extract

import "strings"

// pptx reads a presentation.
type pptx struct {
	p       *zipPackage
	b       *textBuilder
	trailer []string // what stands on many slides
}

func parsePPTX(p *zipPackage) error {
	t := &pptx{p: p, b: newTextBuilder(p.d)}
	main := p.mainPartOr("ppt/presentation.xml")
	rels := p.relations(main)
	var err error
	for i, part := range t.slides(main, rels) {
		if e := t.slide(i+1, part); err == nil {
			err = e
		}
	}
	for _, master := range targets(rels, "slideMaster") {
		t.master(master)
		for _, layout := range targets(p.relations(master), "slideLayout") {
			t.master(layout)
		}
	}
	props := p.ooxmlProperties()
	props.apply(p.d)
	t.b.closing(append(t.trailer, props.more...))
	if e := p.embedded(); err == nil {
		err = e
	}
	return t.b.finish(err)
}

// slides are the parts of the slides in the order in which they are shown.
func (t *pptx) slides(main string, rels []relation) []string {
	var parts []string
	ids, seen := byID(rels), map[string]bool{}
	t.p.xml(main, func(x *xmlReader) {
		for e := x.next(); e != xmlEnd; e = x.next() {
			if e != xmlOpen || x.name != "sldid" {
				continue
			}
			part := ids[relationID(x)].target
			if part != "" && !seen[part] {
				seen[part] = true
				parts = append(parts, part)
			}
		}
	})
	if len(parts) == 0 {
		return t.p.numbered("ppt/slides/slide", ".xml")
	}
	return parts
}

// relationID is the id attribute that is of the name space of relations: others
// are named id as well.
func relationID(x *xmlReader) string {
	x.readAttrs()
	for _, a := range x.attrs {
		if strings.HasSuffix(a.name, ":id") {
			return a.value
		}
	}
	return ""
}

// slide adds a slide, its title first, then what belongs to it.
func (t *pptx) slide(n int, part string) error {
	s := slideText{b: t.b.part()}
	err := t.p.xml(part, s.read)
	t.b.startPage(n)
	if len(s.title) <= maxHeading {
		t.b.heading(1, s.title)
	}
	t.b.addPart(s.b)
	if len(t.trailer) < maxRelations {
		t.trailer = append(t.trailer, s.footers...)
	}
	rels := t.p.relations(part)
	for _, r := range rels {
		switch r.kind {
		case "diagramData", "chart", "chartEx", "comments", "comment":
			t.b.sep(sepBlank)
			t.p.drawingText(t.b, r.target)
		}
	}
	for _, notes := range targets(rels, "notesSlide") {
		s := slideText{b: t.b.part(), notes: true}
		t.p.xml(notes, s.read)
		t.b.sep(sepBlank)
		t.b.addPart(s.b)
	}
	return err
}

// master gathers the texts of a slide master or layout that are shown on slides:
// its placeholders are not, but for the footer.
func (t *pptx) master(part string) {
	s := slideText{b: t.b.part(), master: true}
	t.p.xml(part, s.read)
	for _, text := range append(s.footers, string(s.b.text)) {
		text = strings.TrimSpace(text)
		if !strings.EqualFold(strings.Trim(text, "<>"), "footer") {
			t.trailer = append(t.trailer, text)
		}
	}
}

// slideText is the text of a slide, of its notes or of a master.
type slideText struct {
	b             *textBuilder
	notes, master bool
	title         string
	footers       []string
	shape         int // the depth of the shape
	kind          string
	footer        []byte
	inText        bool
}

func (s *slideText) read(x *xmlReader) {
	for e := x.next(); e != xmlEnd && !s.b.full(); e = x.next() {
		switch e {
		case xmlText:
			if s.inText {
				s.add(x.text())
			}
		case xmlOpen:
			s.open(x)
		case xmlClose:
			s.close(x)
		}
	}
	s.b.sep(sepLine)
}

func (s *slideText) open(x *xmlReader) {
	switch x.name {
	case "sp":
		s.shape, s.kind, s.footer = x.depth, "", s.footer[:0]
	case "ph":
		s.kind = x.attr("type")
		if s.kind == "" {
			s.kind = "obj"
		}
	case "t":
		s.inText = s.shown()
	case "text": // of an old comment
		s.inText = x.prefix == "p"
	case "br":
		s.add("\n")
	case "fallback", "rpr", "ppr":
		x.skip()
	}
}

func (s *slideText) close(x *xmlReader) {
	switch x.name {
	case "sp":
		if x.depth < s.shape {
			s.endShape()
		}
	case "t", "text":
		s.inText = false
	case "p":
		s.endParagraph()
	case "tc":
		s.b.endCell()
	case "tr":
		s.b.sep(sepLine)
	case "tbl":
		s.b.sep(sepBlank)
	}
}

func (s *slideText) endShape() {
	if len(s.footer) > 0 && len(s.footers) < maxProperties {
		s.footers = append(s.footers, string(s.footer))
	}
	s.shape, s.kind = 0, ""
	s.b.sep(sepBlank)
}

// shown says whether the text of the shape is kept.
func (s *slideText) shown() bool {
	switch s.kind {
	case "sldNum", "dt", "sldImg", "hdr":
		return false
	case "ftr", "":
		return !s.notes || s.kind == ""
	}
	return !s.master
}

// add adds text to where that of the shape belongs.
func (s *slideText) add(text string) {
	switch {
	case s.kind == "ftr":
		if len(s.footer) < maxHeading {
			s.footer = append(s.footer, text...)
		}
	case s.isTitle():
		s.addTitle(text)
	default:
		s.b.add(text)
	}
}

// addTitle adds text to the slide's title; one that is too long is none.
func (s *slideText) addTitle(text string) {
	if len(s.title) > maxHeading {
		s.b.add(text)
		return
	}
	if s.title += text; len(s.title) > maxHeading {
		s.b.add(s.title)
	}
}

// isTitle says that the shape is the slide's title.
func (s *slideText) isTitle() bool {
	return (s.kind == "title" || s.kind == "ctrTitle") && !s.notes && !s.master
}

func (s *slideText) endParagraph() {
	if s.isTitle() {
		s.add(" ")
		return
	}
	s.b.sep(sepLine)
}
