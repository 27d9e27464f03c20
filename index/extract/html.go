package extract

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// parseHTML reads HTML and XHTML: the title and headings, paragraphs, and the
// text of pictures and links. Scripts, styles, templates and navigation are passed
// over. It looks at tags one by one, never at their nesting as a whole, so that
// what is not well-formed or very deep is read as well.
func parseHTML(d *Document) error {
	text, _, err := toUTF8(d.Text, htmlCharset(d.Text))
	if err != nil {
		return err
	}
	r := readHTML(text, 0)
	d.Title, d.Author, d.Date = r.title, r.author, r.date
	return d.document(&r.prose)
}

// metaCharset finds what a page's own head says of its encoding.
var metaCharset = regexp.MustCompile(`(?i)<meta[^>]{0,300}?charset\s*=\s*["']?\s*([a-z0-9:._-]+)`)

// htmlCharset returns the encoding that a page names, or "". Pages of office
// programs name it behind long styles.
func htmlCharset(data []byte) string {
	data = data[:min(len(data), sampleSize)]
	if m := metaCharset.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return declaredIn(data)
}

// htmlReader reads one page.
type htmlReader struct {
	prose
	metaData
	z *html.Tokenizer
	// level is added to those of the headings.
	level int
	// skip is the element that is passed over with all in it, and inner how many
	// of the same name are open in it.
	skip  string
	inner int
	// keep says that navigation is read: a page was nothing else.
	keep bool
	// xml says that the page is XHTML, where any element may be empty.
	xml bool
	// pre counts open elements whose lines stay as they are.
	pre int
	// in is the level of the open heading, 0 for none, which began at from.
	in, from int
}

// readHTML reads a page in UTF-8. A page that ends inside of what is passed over,
// because an end tag is missing, is read once more with that.
func readHTML(text []byte, level int) *htmlReader {
	r := &htmlReader{level: level}
	r.read(text)
	if r.skip != "" || len(r.buf) == 0 {
		r = &htmlReader{level: level, keep: true}
		r.read(text)
	}
	return r
}

func (r *htmlReader) read(text []byte) {
	r.xml = bytes.HasPrefix(head(text), []byte("<?xml"))
	r.z = html.NewTokenizer(bytes.NewReader(text))
	r.z.AllowCDATA(true)
	for {
		switch r.z.Next() {
		case html.ErrorToken:
			if r.z.Err() == io.EOF {
				r.endHeading()
			}
			return
		case html.TextToken:
			if r.skip == "" {
				r.words(r.z.Text())
			}
		case html.StartTagToken:
			r.start()
		case html.SelfClosingTagToken:
			if !r.xml {
				r.start()
				break
			}
			r.z.NextIsNotRawText() // <title/> and <script/> are empty
			name, _ := r.z.TagName()
			r.block(string(name))
		case html.EndTagToken:
			name, _ := r.z.TagName()
			r.end(string(name))
		}
	}
}

func (r *htmlReader) words(text []byte) {
	if r.pre > 0 && r.in == 0 {
		r.verbatim(string(text))
	} else {
		r.text(string(text))
	}
}

// start reads a start tag.
func (r *htmlReader) start() {
	raw, more := r.z.TagName()
	name := string(raw)
	if r.skip != "" {
		if name == r.skip {
			r.inner++
		}
		return
	}
	attributes := map[string]string{}
	for n := 0; more && n < maxAttributes; n++ {
		var key, value []byte
		if key, value, more = r.z.TagAttr(); wantedAttributes[string(key)] {
			attributes[string(key)] = string(value)
		}
	}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if r.passedOver(name, attributes) {
		r.skip, r.inner = string(raw), 0
		return
	}
	r.open(name, attributes)
}

// maxAttributes is how many attributes of a tag are looked at.
const maxAttributes = 64

// wantedAttributes are those that are read.
var wantedAttributes = setOf("alt title name property content hidden datetime itemprop summary label placeholder aria-label http-equiv")

// passed are elements whose content is no part of the text, navigation aside.
var passed = setOf("script style template noscript iframe canvas datalist")

// void are elements without content.
var void = setOf("area base br col embed hr img input link meta param source track wbr")

func (r *htmlReader) passedOver(name string, attributes map[string]string) bool {
	if void[name] {
		return false
	}
	_, hidden := attributes["hidden"]
	return passed[name] || !r.keep && (name == "nav" || hidden && name != "html" && name != "body")
}

// open reads the start of an element that is not passed over.
func (r *htmlReader) open(name string, attributes map[string]string) {
	switch name {
	case "title":
		if r.z.Next() == html.TextToken && r.title == "" {
			r.title = fold(string(r.z.Text()))
			r.heading(r.level, r.title)
		}
		return
	case "meta":
		r.meta(attributes)
		return
	case "noframes":
		r.z.NextIsNotRawText()
	case "br":
		r.line()
		return
	case "pre", "textarea", "xmp", "listing", "plaintext":
		r.para()
		r.pre++
	case "time":
		if r.date.IsZero() {
			r.date = readDate(attributes["datetime"])
		}
	}
	if level := headingLevel(name); level > 0 {
		r.endHeading()
		r.para()
		r.settle()
		r.in, r.from = level, len(r.buf)
	} else {
		r.block(name)
	}
	for _, key := range []string{"alt", "title", "aria-label", "placeholder", "summary"} {
		if value := attributes[key]; value != "" {
			r.space = true
			r.text(value)
			r.space = true
		}
	}
}

// end reads an end tag.
func (r *htmlReader) end(name string) {
	if r.skip != "" {
		if name == r.skip {
			if r.inner--; r.inner < 0 {
				r.skip = ""
			}
		}
		return
	}
	switch {
	case headingLevel(name) > 0:
		r.endHeading()
	case name == "pre" || name == "textarea" || name == "xmp" || name == "listing":
		r.pre = max(r.pre-1, 0)
		r.para()
	default:
		r.block(name)
	}
}

// endHeading ends the open heading.
func (r *htmlReader) endHeading() {
	if r.in > 0 && r.from < len(r.buf) {
		r.mark(r.level+r.in, r.from)
	}
	r.in = 0
}

// lineTags end a line where they begin and end, blockTags (of Markdown's HTML) a
// paragraph, and cellTags a word.
var (
	lineTags = setOf("li dt dd tr option optgroup legend caption figcaption summary div address")
	cellTags = setOf("td th img input select button label")
)

// block ends the paragraph, line or word where an element begins or ends.
func (r *htmlReader) block(name string) {
	switch {
	case r.in > 0 && name != "body":
		if blockTags[name] || cellTags[name] {
			r.space = true
		}
	case lineTags[name]:
		r.line()
	case cellTags[name]:
		r.space = true
	case blockTags[name]:
		r.para()
	}
}

// headingLevel returns 1 to 6 for h1 to h6, and 0 for any other element.
func headingLevel(name string) int {
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		return int(name[1] - '0')
	}
	return 0
}

// fold makes one line of a text.
func fold(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
}
