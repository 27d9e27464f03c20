package extract

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// parseXML reads the text of an XML document's elements, and of the attributes
// that hold some. DocBook's and TEI's divisions with a title, and those of
// formats like them, are sections. Entities that a document makes for itself are
// not expanded. A document without any text is read as its source.
func parseXML(d *Document) error {
	if looksHTML(d.Text) {
		d.Type = "html"
		return parseHTML(d)
	}
	text, decoded, err := toUTF8(d.Text, declaredIn(d.Text))
	if err != nil {
		return err
	}
	r := elementReader{}
	r.read(withoutDTD(text))
	if len(bytes.TrimSpace(r.buf)) == 0 {
		if decoded {
			d.replaceText(text)
		}
		return parsePlain(d)
	}
	d.Title, d.Author, d.Date = r.title, r.author, r.date
	return d.document(&r.prose)
}

// maxLevel bounds the levels of headings, since each passage names all above it.
const maxLevel = 16

// withoutDTD returns a document from behind its declarations of entities on, if it
// has some.
func withoutDTD(text []byte) []byte {
	before, after, ok := bytes.Cut(text[:min(len(text), lookAt)], []byte("<!DOCTYPE"))
	subset := bytes.IndexByte(after, '[')
	if !ok || subset < 0 || bytes.IndexByte(after[:subset], '>') >= 0 {
		return text
	}
	at := len(before) + len("<!DOCTYPE")
	if end := bytes.Index(text[at:], []byte("]>")); end >= 0 {
		return text[at+end+2:]
	}
	return text
}

// elementReader reads one document, tag by tag.
type elementReader struct {
	prose
	metaData
	z *html.Tokenizer
	// depth counts the open divisions, and in is the depth of the title that is
	// open, which began at from; 0 for none.
	depth, in, from int
	titleTag        string
	// field is the open element with the author or the date, which began at since.
	field string
	since int
	// skip is the element that is passed over, and inner how many of its name are
	// open in it.
	skip  string
	inner int
	pre   int
}

// divisions are the elements that sections are, and titles those that name them.
var (
	divisions = setOf(`book part chapter article section sect1 sect2 sect3 sect4 sect5 simplesect appendix preface glossary reference
		refentry refsect1 refsect2 refsect3 refsection topic body div div1 div2 div3 sec entry item worksheet page svg channel feed`)
	titles = setOf("title head refname h1 h2 h3")
	// inlineXML are elements within a line, which end no word.
	inlineXML = setOf(`emphasis em strong b i u s a tt span tspan link ulink xref literal code command filename option application citetitle quote
		sub sup subscript superscript foreignphrase acronym abbrev guilabel guimenu guibutton keycap varname function parameter
		replaceable systemitem firstterm classname type email uri hi ref tag prompt userinput computeroutput envar constant
		rs persname placename name ph term cite font small big mark bold italic kbd samp var wordasword phrase textpath`)
	preXML     = setOf("programlisting screen literallayout pre synopsis codeblock")
	passedXML  = setOf("script style binary")
	authorTags = setOf("author creator editor dc:creator")
	dateTags   = setOf("date pubdate published updated created dc:date")
	textKeys   = setOf("text title alt label caption description summary")
)

func (r *elementReader) read(text []byte) {
	r.z = html.NewTokenizer(bytes.NewReader(text))
	r.z.AllowCDATA(true)
	for {
		switch r.z.Next() {
		case html.ErrorToken:
			r.endTitle()
			return
		case html.TextToken:
			if r.skip == "" {
				r.words(string(r.z.Text()))
			}
		case html.StartTagToken:
			r.start(false)
		case html.SelfClosingTagToken:
			r.start(true)
		case html.EndTagToken:
			name, _ := r.z.TagName()
			r.end(string(name))
		}
	}
}

func (r *elementReader) words(s string) {
	if r.pre > 0 {
		r.verbatim(s)
	} else {
		r.text(s)
	}
}

// start reads the tag that begins an element, or is an empty one.
func (r *elementReader) start(empty bool) {
	raw, more := r.z.TagName()
	tag := string(raw)
	name := localName(tag)
	r.z.NextIsNotRawText() // no element is a script's or a title's as in HTML
	if r.skip != "" {
		if tag == r.skip && !empty {
			r.inner++
		}
		return
	}
	if passedXML[name] && !empty {
		r.skip, r.inner = tag, 0
		return
	}
	if !inlineXML[name] {
		r.line()
	}
	r.attributes(more)
	if !empty {
		r.open(tag, name)
	}
}

// attributes adds the text of the attributes that hold some.
func (r *elementReader) attributes(more bool) {
	for n := 0; more && n < maxAttributes; n++ {
		var key, value []byte
		if key, value, more = r.z.TagAttr(); textKeys[localName(string(key))] {
			r.space = true
			r.text(string(value))
			r.space = true
		}
	}
}

func localName(tag string) string { return tag[strings.LastIndexByte(tag, ':')+1:] }

func (r *elementReader) open(tag, name string) {
	switch {
	case divisions[name]:
		r.depth++
		r.para()
	case titles[name]:
		r.endTitle()
		r.para()
		r.settle()
		r.in, r.from, r.titleTag = min(max(r.depth, 1), maxLevel), len(r.buf), tag
	case preXML[name]:
		r.pre++
		r.para()
	case name == "para" || name == "p" || name == "simpara":
		r.para()
	case authorTags[name] && r.author == "", dateTags[name] && r.date.IsZero():
		r.settle()
		r.field, r.since = tag, len(r.buf)
	}
}

func (r *elementReader) end(tag string) {
	name := localName(tag)
	switch {
	case r.skip != "":
		if tag == r.skip {
			if r.inner--; r.inner < 0 {
				r.skip = ""
			}
		}
		return
	case r.in > 0 && tag == r.titleTag:
		r.endTitle()
	case divisions[name]:
		r.depth = max(r.depth-1, 0)
		r.para()
	case preXML[name]:
		r.pre = max(r.pre-1, 0)
	case r.field != "" && tag == r.field:
		r.endField(name)
	}
	if !inlineXML[name] {
		r.line()
	}
}

// endTitle makes a heading of the title that is open.
func (r *elementReader) endTitle() {
	if r.in == 0 {
		return
	}
	if r.title == "" {
		r.title = clip(fold(string(r.buf[r.from:])))
	}
	r.mark(r.in, r.from)
	r.in = 0
}

// endField keeps the author or the date.
func (r *elementReader) endField(name string) {
	value := clip(fold(string(r.buf[r.since:])))
	if authorTags[name] {
		r.author = value
	} else {
		r.date = readDate(value)
	}
	r.field = ""
}

// clip bounds a text that stands for a document.
func clip(s string) string {
	if len(s) <= maxHeading {
		return s
	}
	return strings.ToValidUTF8(s[:maxHeading], "")
}
