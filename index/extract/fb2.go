package extract

import (
	"bytes"
	"strings"
)

// parseFB2 reads a FictionBook.
func parseFB2(d *Document) error {
	d.Type = "fb2"
	x := newXMLReader(d.budget.reader(bytes.NewReader(d.Text)))
	return readFB2(d, x)
}

// parseZippedFB2 reads the FictionBook in a zip archive.
func parseZippedFB2(p *zipPackage, name string) error {
	r, err := p.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return readFB2(p.d, newXMLReader(r))
}

func readFB2(d *Document, x *xmlReader) error {
	f := &fictionBook{d: d, x: x, b: newTextBuilder(d)}
	f.read()
	f.props.author = strings.Join(f.authors, ", ")
	f.props.apply(d)
	f.b.closing(f.props.more)
	return f.b.finish(x.err)
}

// fictionBook reads a FictionBook 2.
type fictionBook struct {
	d       *Document
	x       *xmlReader
	b       *textBuilder
	props   properties
	authors []string
	inBody  bool
	depth   int // of sections
	paras   int
}

func (f *fictionBook) read() {
	for e := f.x.next(); e != xmlEnd && !f.b.full(); e = f.x.next() {
		switch e {
		case xmlText:
			if f.paras > 0 {
				f.b.add(odfSpace(f.x.text()))
			}
		case xmlOpen:
			f.open()
		case xmlClose:
			f.close()
		}
	}
}

func (f *fictionBook) open() {
	switch f.x.name {
	case "title-info":
		f.titleInfo()
	case "binary", "stylesheet", "document-info", "src-title-info", "publish-info", "custom-info":
		f.x.skip()
	case "body":
		f.inBody, f.depth = true, 0
		f.b.startPage(0)
	case "section":
		f.depth++
	case "title":
		f.b.heading(f.depth+1, f.lines())
	case "subtitle", "p", "v", "text-author", "td", "th":
		if f.inBody {
			f.paras++
		}
	case "empty-line":
		f.b.sep(sepBlank)
	}
}

func (f *fictionBook) close() {
	switch f.x.name {
	case "section":
		f.depth = max(f.depth-1, 0)
	case "p", "subtitle", "text-author":
		f.paras = max(f.paras-1, 0)
		f.b.sep(sepBlank)
	case "v":
		f.paras = max(f.paras-1, 0)
		f.b.sep(sepLine)
	case "td", "th":
		f.paras = max(f.paras-1, 0)
		f.b.endCell()
	case "stanza", "tr":
		f.b.sep(sepLine)
	}
}

// lines is the text of the element just opened, its paragraphs as one line.
func (f *fictionBook) lines() string {
	var text []byte
	for end := f.x.depth; f.x.depth >= end; {
		switch f.x.next() {
		case xmlEnd:
			return string(text)
		case xmlClose:
			text = append(text, ' ')
		case xmlText:
			if len(text) <= maxHeading {
				text = append(text, f.x.z.Text()...)
			}
		}
	}
	return string(text)
}

// titleInfo reads what the book says of itself.
func (f *fictionBook) titleInfo() {
	for end := f.x.depth; f.x.depth >= end; {
		switch f.x.next() {
		case xmlEnd:
			return
		case xmlOpen:
			f.property()
		}
	}
}

func (f *fictionBook) property() {
	switch f.x.name {
	case "author", "translator":
		if name := oneLine(f.lines()); name != "" && f.x.name == "author" && len(f.authors) < maxProperties {
			f.authors = append(f.authors, name)
		}
	case "book-title":
		f.props.title = f.x.content()
	case "date":
		value := parseDate(f.x.attr("value"))
		if f.props.created = parseDate(f.x.content()); f.props.created.IsZero() {
			f.props.created = value
		}
	case "annotation", "keywords", "sequence", "genre":
		if f.x.name == "sequence" {
			f.props.add(f.x.attr("name"))
		}
		f.props.add(oneLine(f.lines()))
	}
}
