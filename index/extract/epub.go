package extract

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// headingsBelow is the level after which the headings within the chapters of a book
// come: those of its table of contents come first.
const headingsBelow = 100

// epub reads a book.
type epub struct {
	p        *zipPackage
	b        *textBuilder
	dir      string // of the package document
	items    map[string]epubItem
	spine    []string
	ncx, nav string
	chapters map[string]map[string]chapter // by page and anchor
	entries  int                           // of the table of contents
	props    properties
	authors  []string
}

type epubItem struct{ part, media string }

func parseEPUB(p *zipPackage) error {
	e := &epub{p: p, b: newTextBuilder(p.d), items: map[string]epubItem{}, chapters: map[string]map[string]chapter{}}
	if reason := e.protected(); reason != nil {
		return reason
	}
	err := e.readPackage()
	if errors.Is(err, errNoPart) {
		err = nil
	}
	if e.readNav(); len(e.chapters) == 0 {
		e.readNCX()
	}
	pages := e.pages()
	if len(pages) == 0 {
		return notText("corrupt: a book without pages")
	}
	for _, part := range pages {
		if e := e.page(part); err == nil {
			err = e
		}
	}
	e.props.author = strings.Join(e.authors, ", ")
	e.props.apply(p.d)
	e.b.closing(e.props.more)
	return e.b.finish(err)
}

// protected is the reason for which a book cannot be read, or nil: fonts alone may
// be obfuscated.
func (e *epub) protected() error {
	encrypted := false
	err := e.p.xml("META-INF/encryption.xml", func(x *xmlReader) {
		for ev := x.next(); ev != xmlEnd; ev = x.next() {
			if ev == xmlOpen && x.name == "cipherreference" {
				switch strings.ToLower(path.Ext(x.attr("uri"))) {
				case ".xhtml", ".html", ".htm", ".xml", ".opf", ".ncx":
					encrypted = true
				}
			}
		}
	})
	if encrypted {
		return notText("encrypted: the book is protected (DRM)")
	}
	return err
}

// readPackage reads the package document: properties, parts and their order.
func (e *epub) readPackage() error {
	var opf string
	e.p.xml("META-INF/container.xml", func(x *xmlReader) {
		for ev := x.next(); ev != xmlEnd; ev = x.next() {
			if ev == xmlOpen && x.name == "rootfile" && opf == "" {
				opf = partName(x.attr("full-path"))
			}
		}
	})
	if !e.p.has(opf) {
		for _, f := range e.p.order {
			if strings.HasSuffix(strings.ToLower(f.Name), ".opf") {
				opf = partName(f.Name)
				break
			}
		}
	}
	e.dir = path.Dir(opf)
	return e.p.xml(opf, func(x *xmlReader) {
		for ev := x.next(); ev != xmlEnd && len(e.items) < maxRelations; ev = x.next() {
			if ev == xmlOpen {
				e.packageElement(x)
			}
		}
	})
}

func (e *epub) packageElement(x *xmlReader) {
	switch x.name {
	case "title":
		if t := x.content(); e.props.title == "" {
			e.props.title = t
		}
	case "creator":
		e.creator(x.attr("role"), oneLine(x.content()))
	case "date":
		if t := parseDate(x.content()); e.props.created.IsZero() {
			e.props.created = t
		}
	case "subject", "description", "publisher", "contributor":
		e.props.add(plainHTML(x.content()))
	case "item":
		item := epubItem{resolve(e.dir, x.attr("href")), x.attr("media-type")}
		e.items[x.attr("id")] = item
		if strings.Contains(" "+x.attr("properties")+" ", " nav ") {
			e.nav = item.part
		}
		if item.media == "application/x-dtbncx+xml" {
			e.ncx = item.part
		}
	case "itemref":
		if len(e.spine) < maxRelations {
			e.spine = append(e.spine, x.attr("idref"))
		}
	}
}

// creator adds who made the book: its authors, and, among the other properties,
// illustrators, translators and so on.
func (e *epub) creator(role, name string) {
	switch {
	case role != "" && role != "aut":
		e.props.add(name)
	case name != "" && len(e.authors) < maxProperties:
		e.authors = append(e.authors, name)
	}
}

// plainHTML is the text of a description, which often has tags.
func plainHTML(s string) string {
	if !strings.Contains(s, "<") {
		return oneLine(s)
	}
	d := &Document{Text: []byte(s), budget: newBudget(DefaultLimits)}
	w := &xhtmlWalk{b: newTextBuilder(d)}
	w.read(strings.NewReader(s))
	return oneLine(string(w.b.text))
}

// resolve is the part to which a reference leads, without its anchor.
func resolve(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if u, err := url.PathUnescape(href); err == nil {
		href = u
	}
	return partName(path.Join("/", dir, href))
}

// pages are the parts with text in the order of reading, each once; where the book
// does not tell, all that it has.
func (e *epub) pages() []string {
	var parts []string
	seen := map[string]bool{}
	for _, id := range e.spine {
		if item := e.items[id]; isPage(item) && e.p.has(item.part) && !seen[item.part] {
			seen[item.part] = true
			parts = append(parts, item.part)
		}
	}
	if len(parts) > 0 {
		return parts
	}
	for _, f := range e.p.order {
		name := partName(f.Name)
		if isPage(epubItem{part: name}) && name != e.nav {
			parts = append(parts, name)
		}
	}
	return parts
}

// isPage says that an item is a page with text.
func isPage(item epubItem) bool {
	switch item.media {
	case "application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml", "image/svg+xml":
		return true
	}
	switch path.Ext(item.part) {
	case ".xhtml", ".html", ".htm":
		return true
	}
	return false
}

// page adds a page.
func (e *epub) page(part string) error {
	r, err := e.p.open(part)
	if err != nil {
		return err
	}
	defer r.Close()
	w := &xhtmlWalk{b: e.b, level: headingsBelow, chapters: e.chapters[part]}
	return w.read(decodeXML(r))
}

// addChapter adds an entry of the table of contents: the first for a place counts.
func (e *epub) addChapter(dir, href string, c chapter) {
	c.label = oneLine(c.label)
	part := resolve(dir, href)
	_, anchor, _ := strings.Cut(href, "#")
	if c.label == "" || c.level > headingsBelow || e.entries >= maxRelations {
		return
	}
	e.entries++
	if e.chapters[part] == nil {
		e.chapters[part] = map[string]chapter{}
	}
	if _, ok := e.chapters[part][anchor]; !ok {
		e.chapters[part][anchor] = c
	}
}

// readNav reads the navigation document of EPUB 3: nested lists of links.
func (e *epub) readNav() {
	if e.nav == "" {
		return
	}
	dir := path.Dir(e.nav)
	toc, level := false, 0
	e.p.xml(e.nav, func(x *xmlReader) {
		for ev := x.next(); ev != xmlEnd; ev = x.next() {
			switch {
			case x.name == "nav" && ev == xmlOpen:
				toc, level = strings.Contains(x.attr("type"), "toc") || x.attr("type") == "", 0
			case x.name == "nav" && ev == xmlClose:
				toc = false
			case x.name == "ol" && ev == xmlOpen:
				level++
			case x.name == "ol" && ev == xmlClose:
				level--
			case x.name == "a" && ev == xmlOpen && toc:
				href := x.attr("href")
				e.addChapter(dir, href, chapter{max(level, 1), x.content()})
			}
		}
	})
}

// readNCX reads the table of contents of EPUB 2.
func (e *epub) readNCX() {
	dir := path.Dir(e.ncx)
	level, label := 0, ""
	e.p.xml(e.ncx, func(x *xmlReader) {
		for ev := x.next(); ev != xmlEnd; ev = x.next() {
			switch {
			case x.name == "navpoint" && ev == xmlOpen:
				level++
				label = ""
			case x.name == "navpoint" && ev == xmlClose:
				level--
			case x.name == "text" && ev == xmlOpen && level > 0:
				label = x.content()
			case x.name == "content" && ev == xmlOpen && level > 0:
				e.addChapter(dir, x.attr("src"), chapter{level, label})
			case x.name == "pagelist" && ev == xmlOpen:
				x.skip()
			}
		}
	})
}
