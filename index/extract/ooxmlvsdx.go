package extract

// parseVSDX reads the texts of a Visio drawing, page by page.
func parseVSDX(p *zipPackage) error {
	b := newTextBuilder(p.d)
	main := p.mainPartOr("visio/document.xml")
	pages := ""
	for _, part := range targets(p.relations(main), "pages") {
		pages = part
	}
	ids := byID(p.relations(pages))
	var err error
	n := 0
	p.xml(pages, func(x *xmlReader) {
		name := ""
		for e := x.next(); e != xmlEnd; e = x.next() {
			switch {
			case e == xmlOpen && x.name == "page":
				name = x.attr("name")
			case e == xmlOpen && x.name == "rel" && n < maxRelations:
				n++
				b.startPage(n)
				b.heading(1, name)
				if e := p.xml(ids[relationID(x)].target, b.visioPage); err == nil {
					err = e
				}
			}
		}
	})
	props := p.ooxmlProperties()
	props.apply(p.d)
	b.closing(props.more)
	return b.finish(err)
}

// visioPage adds the texts of the shapes of a page.
func (b *textBuilder) visioPage(x *xmlReader) {
	for e := x.next(); e != xmlEnd && !b.full(); e = x.next() {
		if e == xmlOpen && x.name == "text" {
			b.addLine(x.contentUpTo(maxToken))
		}
	}
}
