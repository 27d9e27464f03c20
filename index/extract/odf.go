package extract

import (
	"bytes"
	"strings"
)

// parseODF reads an OpenDocument package, or one of OpenOffice 1.
func parseODF(p *zipPackage) error {
	if reason := p.odfEncryption(); reason != nil {
		return reason
	}
	if mime, err := p.read("mimetype", 100); err == nil {
		p.d.Type = odfType(p.d.Type, string(mime))
	}
	b := newTextBuilder(p.d)
	w := &odfWalk{d: p.d, b: b}
	err := p.xml("content.xml", w.walk)
	if err == nil && w.x == nil {
		err = errNoPart
	}
	styles := &odfWalk{d: p.d, b: b.part(), styles: true}
	p.xml("styles.xml", styles.walk)
	var props properties
	p.xml("meta.xml", func(x *xmlReader) { props.readODF(x) })
	props.apply(p.d)
	for _, f := range p.order {
		if name := partName(f.Name); strings.HasPrefix(name, "object") && strings.HasSuffix(name, "/content.xml") {
			object := &odfWalk{d: p.d, b: b.part()}
			p.xml(name, object.walk)
			styles.lines = append(styles.lines, string(object.b.text))
		}
	}
	b.closing(append(styles.lines, props.more...))
	return b.finish(err)
}

// parseFlatODF reads an OpenDocument that is one XML file.
func parseFlatODF(d *Document) error {
	if !strings.HasPrefix(d.Type, "f") {
		d.Type = "fodt"
	}
	b := newTextBuilder(d)
	x := newXMLReader(d.budget.reader(bytes.NewReader(d.Text)))
	w := &odfWalk{d: d, b: b}
	w.walk(x)
	w.props.apply(d)
	b.closing(append(w.lines, w.props.more...))
	return b.finish(x.err)
}

// odfEncryption is the reason for which a package cannot be read, or nil.
func (p *zipPackage) odfEncryption() error {
	var encrypted bool
	err := p.xml("META-INF/manifest.xml", func(x *xmlReader) {
		path := ""
		for e := x.next(); e != xmlEnd; e = x.next() {
			if e != xmlOpen {
				continue
			}
			switch x.name {
			case "file-entry":
				path = partName(x.attr("full-path"))
			case "encryption-data":
				encrypted = encrypted || path == "content.xml" || path == "encrypted-package"
			}
		}
	})
	if encrypted {
		return notText("encrypted: it needs a password")
	}
	return err
}

// odfTypes are the types of OpenDocument by the end of their media type.
var odfTypes = map[string]string{
	"text": "odt", "spreadsheet": "ods", "presentation": "odp", "graphics": "odg", "formula": "odf", "chart": "odc",
	"writer": "sxw", "calc": "sxc", "impress": "sxi", "draw": "sxd", "math": "sxm",
}

// odfType corrects a type by the media type that the package names.
func odfType(own, mime string) string {
	mime = strings.TrimSpace(mime)
	name := mime[strings.LastIndexByte(mime, '.')+1:]
	if t := odfTypes[name]; t != "" && own == "odt" {
		return t
	}
	return own
}

func (p *properties) readODF(x *xmlReader) {
	for e := x.next(); e != xmlEnd; e = x.next() {
		if e == xmlOpen && x.depth > 2 {
			p.odf(x)
		}
	}
}

// odf reads a property of an OpenDocument.
func (p *properties) odf(x *xmlReader) {
	switch x.name {
	case "title":
		p.title = x.content()
	case "initial-creator":
		p.author = x.content()
	case "creator":
		if c := x.content(); p.author == "" {
			p.author = c
		}
	case "creation-date":
		p.created = parseDate(x.content())
	case "date":
		p.modified = parseDate(x.content())
	case "subject", "keyword", "description":
		p.add(x.content())
	}
}
