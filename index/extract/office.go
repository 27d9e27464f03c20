package extract

import (
	"bytes"
	"errors"
	"path"
	"sort"
	"strings"
	"time"
)

// parseOffice reads the documents of office programs and books. They are told by
// what they are, since their names are often wrong, and the type is set to that.
func parseOffice(d *Document) error {
	data := d.Text
	switch {
	case len(data) == 0:
		return notText("corrupt: it is empty")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")), bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return parseZipOffice(d)
	case bytes.HasPrefix(data, []byte(oleMagic)):
		return parseOLE(d)
	case isBIFF(data):
		return parseBareXLS(d)
	case bytes.HasPrefix(bytes.TrimLeft(data[:min(len(data), 64)], "\xef\xbb\xbf \t\r\n"), []byte(`{\rt`)):
		return parseRTF(d)
	}
	if parse := flatXML(data); parse != nil {
		return parse(d)
	}
	if isHTML(data) {
		d.Type = "html"
		return parseXHTML(d)
	}
	return notText("corrupt: not a " + d.Type + " document")
}

// flatXML tells the documents that are one XML file by their first element.
func flatXML(data []byte) parser {
	x := newXMLReader(bytes.NewReader(data[:min(len(data), 4096)]))
	for range 100 {
		switch x.next() {
		case xmlEnd:
			return nil
		case xmlOpen:
			switch x.name {
			case "fictionbook":
				return parseFB2
			case "abiword", "awml":
				return parseAbiWord
			case "document":
				if x.prefix == "office" {
					return parseFlatODF
				}
				return nil
			case "worddocument", "package":
				return parseFlatWord
			case "workbook":
				return parseFlatExcel
			}
			return nil
		}
	}
	return nil
}

// isHTML tells the pages that programs write under the names of office documents.
func isHTML(data []byte) bool {
	head := bytes.ToLower(data[:min(len(data), 1024)])
	for _, tag := range []string{"<html", "<!doctype html", "<table", "<body"} {
		if bytes.Contains(head, []byte(tag)) {
			return true
		}
	}
	return false
}

// zipFormat is a format of zip packages and the part by which it is told.
type zipFormat struct {
	part, kind string
	parse      func(*zipPackage) error
}

// zipFormats are the formats of zip packages.
func zipFormats() []zipFormat {
	return []zipFormat{
		{"word/document.xml", "docx", parseDOCX},
		{"ppt/presentation.xml", "pptx", parsePPTX},
		{"xl/workbook.xml", "xlsx", parseXLSX},
		{"xl/workbook.bin", "xlsb", parseXLSB},
		{"visio/document.xml", "vsdx", parseVSDX},
		{"meta-inf/container.xml", "epub", parseEPUB},
		{"content.xml", "odt", parseODF},
	}
}

func parseZipOffice(d *Document) error {
	p, err := openPackage(d)
	if err != nil {
		return err
	}
	main := p.mainPart()
	for _, f := range zipFormats() {
		if p.has(f.part) || main != "" && partName(path.Dir(main)) == path.Dir(f.part) && path.Ext(main) == path.Ext(f.part) {
			d.Type = officeType(d.Type, f.kind)
			return f.parse(p)
		}
	}
	for _, f := range p.order {
		switch strings.ToLower(path.Ext(f.Name)) {
		case ".opf":
			d.Type = "epub"
			return parseEPUB(p)
		case ".fb2":
			d.Type = "fb2"
			return parseZippedFB2(p, f.Name)
		}
	}
	if p.has("Index/Document.iwa") || p.has("Index.zip") {
		return notText("not read: a document of Pages, Numbers or Keynote (export it to another format)")
	}
	return notText("corrupt: not a " + d.Type + " document: it has no " + wantedPart(d.Type))
}

// variants are the other types of a kind, which are read alike.
var variants = map[string]string{
	"docx": "docm dotx dotm", "pptx": "pptm ppsx ppsm potx potm", "xlsx": "xlsm xltx xltm xlam",
	"vsdx": "vsdm vstx vssx", "odt": "ott odm oth ods ots odp otp odg otg odf odc odi sxw stw sxc stc sxi sti sxd sxm",
}

// officeType is the type of a document of a kind: its own where it fits.
func officeType(own, kind string) string {
	for _, v := range strings.Fields(variants[kind]) {
		if v == own {
			return own
		}
	}
	return kind
}

// wantedPart names what a document of a type must have.
func wantedPart(typ string) string {
	for _, f := range zipFormats() {
		if officeType(typ, f.kind) == typ {
			return f.part
		}
	}
	return "part that is known"
}

// dateLayouts are the forms of dates in documents.
var dateLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02",
	"2006-01", "2006", time.RFC1123Z, time.RFC1123, time.ANSIC, "02.01.2006", "2 January 2006", "January 2, 2006",
}

// parseDate reads a date; what is none is the zero time.
func parseDate(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 0 {
			return t.UTC()
		}
	}
	return time.Time{}
}

// properties are what a document says of itself.
type properties struct {
	title, author     string
	created, modified time.Time
	more              []string // subject, keywords, description
}

// maxProperties bounds the properties that are kept.
const maxProperties = 50

func (p *properties) add(s string) {
	if s = strings.TrimSpace(s); s != "" && len(p.more) < maxProperties {
		p.more = append(p.more, s)
	}
}

// apply fills in what the document does not have yet. The date is that of the
// last change: that of the making is often the template's.
func (p *properties) apply(d *Document) {
	if d.Title == "" {
		d.Title = oneLine(p.title)
	}
	if d.Author == "" {
		d.Author = oneLine(p.author)
	}
	if d.Date.IsZero() {
		d.Date = p.modified
	}
	if d.Date.IsZero() {
		d.Date = p.created
	}
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(string(appendClean(nil, s))), " ")
}

// closing adds, after the text and under no heading, what belongs to the whole
// document: each line once.
func (b *textBuilder) closing(lines []string) {
	seen := map[string]bool{"": true}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if seen[line] {
			continue
		}
		if len(seen) == 1 {
			b.startPage(0)
		}
		seen[line] = true
		b.addLine(line)
	}
}

// embedded reads the documents that lie in a package under its folder embeddings.
func (p *zipPackage) embedded() error {
	var names []string
	for _, f := range p.order {
		name := partName(f.Name)
		if strings.Contains(name, "embeddings/") && isOfficeName(name) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		if err := p.member(name); errors.Is(err, ErrLimit) {
			return err
		}
	}
	return nil
}

func isOfficeName(name string) bool {
	switch strings.TrimPrefix(path.Ext(name), ".") {
	case "docx", "docm", "xlsx", "xlsm", "xlsb", "pptx", "pptm", "doc", "xls", "ppt", "odt", "ods", "odp", "rtf":
		return true
	}
	return false
}

// maxPart is the most that is read of a part that has to lie in memory, in bytes.
const maxPart = 64 << 20

// member reads one part as a document of its own. One that cannot be read is left
// out.
func (p *zipPackage) member(name string) error {
	sub, err := p.sub(name)
	if err != nil {
		return err
	}
	p.d.Members = append(p.d.Members, Member{Name: name, Document: sub})
	return nil
}

// sub reads a part with the parser of its own format.
func (p *zipPackage) sub(name string) (*Document, error) {
	if err := p.d.budget.enter(); err != nil {
		return nil, err
	}
	defer p.d.budget.leave()
	data, err := p.read(name, maxPart)
	if err != nil {
		return nil, err
	}
	sub := &Document{Type: strings.TrimPrefix(path.Ext(name), "."), Text: data, budget: p.d.budget}
	switch sub.Type {
	case "htm", "html", "xhtml":
		err = parseXHTML(sub)
	case "mht", "mhtml", "txt", "bin":
		return nil, notText("not read here")
	default:
		err = parseOffice(sub)
	}
	sub.budget = nil
	return sub, err
}
