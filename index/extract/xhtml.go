package extract

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// parseXHTML reads a page within another document.
func parseXHTML(d *Document) error {
	r, err := charset.NewReader(bytes.NewReader(d.Text), "")
	if err != nil {
		return notText("corrupt: " + err.Error())
	}
	w := &xhtmlWalk{b: newTextBuilder(d)}
	err = w.read(d.budget.reader(r))
	d.Title = oneLine(w.title)
	return w.b.finish(err)
}

// xhtmlWalk reads the text of an XHTML page in UTF-8. It keeps no tree, and asks
// of the tags only that they are there.
type xhtmlWalk struct {
	b     *textBuilder
	z     *html.Tokenizer
	title string
	// level is that of an h1 less one.
	level int
	// chapters are the table of contents' entries for places in the page by
	// their anchors, "" for its beginning.
	chapters map[string]chapter
	pending  *chapter // that which begins here
	label    string   // the chapter's heading, while it has no text

	skipped string // the element that is passed over
	nested  int    // how often it stands in itself
	heading int    // the level of the open heading, or 0
	text    []byte // of the heading
	pre     int
	space   bool // white space comes before the next text
}

// chapter is an entry of a table of contents.
type chapter struct {
	level int
	label string
}

func (w *xhtmlWalk) read(r io.Reader) error {
	w.z = html.NewTokenizer(r)
	w.z.SetMaxBuf(maxToken)
	w.anchor("")
	for !w.b.full() {
		switch tt := w.z.Next(); tt {
		case html.ErrorToken:
			w.end()
			return readError(w.z.Err())
		case html.TextToken:
			if w.skipped == "" {
				w.addText(w.z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			w.open(tt == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := w.z.TagName()
			w.close(string(name))
		}
	}
	return nil
}

// readError is why a part could not be read to its end, or nil.
func readError(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, ErrLimit):
		return err
	}
	return notText("corrupt: " + err.Error())
}

// end ends a page.
func (w *xhtmlWalk) end() {
	w.endHeading()
	w.flushChapter()
	w.b.sep(sepBlank)
}

// passedOver are the elements whose content is no text of the page.
var passedOver = map[string]bool{
	"script": true, "style": true, "template": true, "head": true, "title": true, "rt": true, "rp": true, "select": true,
	"object": false, "metadata": true,
}

func (w *xhtmlWalk) open(selfClosing bool) {
	nameBytes, more := w.z.TagName()
	name := string(nameBytes)
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if selfClosing {
		w.z.NextIsNotRawText()
	}
	if w.skipped != "" {
		if name == w.skipped && !selfClosing {
			w.nested++
		}
		if name != "body" && !(w.skipped == "head" && name == "title") {
			return
		}
		w.skipped = ""
	}
	if name == "title" && !selfClosing && w.title == "" {
		w.readTitle()
		return
	}
	w.attributes(name, more)
	if passedOver[name] && !selfClosing {
		w.skipped, w.nested = name, 1
		return
	}
	w.tag(name)
}

// readTitle reads the page's title, whose text is the next token.
func (w *xhtmlWalk) readTitle() {
	w.z.NextIsNotRawText()
	for w.z.Next() == html.TextToken {
		if len(w.title) < maxHeading {
			w.title += string(w.z.Text())
		}
	}
	w.skipped, w.nested = "head", 1
}

// attributes looks for what the tag says beside its name.
func (w *xhtmlWalk) attributes(name string, more bool) {
	for n := 0; more && n < maxAttrs; n++ {
		var key, value []byte
		key, value, more = w.z.TagAttr()
		switch string(key) {
		case "id", "name":
			w.anchor(string(value))
		case "alt":
			if name == "img" && len(value) > 0 {
				w.addText(append([]byte(" "), append(value, ' ')...))
			}
		}
	}
}

// tag takes notice of an opened element.
func (w *xhtmlWalk) tag(name string) {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.endHeading()
		w.heading, w.text = int(name[1]-'0'), w.text[:0]
	case "br":
		w.line(sepLine)
	case "li":
		w.line(sepLine)
		w.addText([]byte("- "))
	case "pre":
		w.pre++
		w.line(sepBlank)
	default:
		w.block(name)
	}
}

// block writes the separator that an element asks for at either end.
func (w *xhtmlWalk) block(name string) {
	switch name {
	case "p", "div", "section", "article", "aside", "blockquote", "ul", "ol", "dl", "table", "figure", "header", "footer",
		"nav", "body", "hr", "details", "address":
		w.line(sepBlank)
	case "dt", "dd", "tr", "caption", "figcaption", "summary", "center", "form", "option":
		w.line(sepLine)
	}
}

// line asks for a separator, outside of headings.
func (w *xhtmlWalk) line(s sep) {
	if w.heading > 0 {
		w.text = append(w.text, ' ')
		return
	}
	w.space = false
	w.dropLabel()
	w.b.sep(s)
}

func (w *xhtmlWalk) close(name string) {
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if w.skipped != "" {
		if name == w.skipped {
			if w.nested--; w.nested == 0 {
				w.skipped = ""
			}
		}
		return
	}
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.endHeading()
	case "td", "th":
		w.space = false
		w.b.endCell()
	case "li":
		w.line(sepLine)
	case "pre":
		w.pre = max(w.pre-1, 0)
		w.line(sepBlank)
	default:
		w.block(name)
	}
}

// addText adds text with its white space collapsed.
func (w *xhtmlWalk) addText(s []byte) {
	if w.heading > 0 {
		if w.text = append(w.text, s...); len(w.text) > maxHeading {
			w.heading = 0
			w.addText(w.text)
		}
		return
	}
	if w.pre > 0 {
		w.flushChapter()
		w.b.add(string(s))
		return
	}
	fields := bytes.FieldsFunc(s, isHTMLSpace)
	if len(fields) == 0 {
		w.space = w.space || len(s) > 0
		return
	}
	w.flushChapter()
	if w.space || isHTMLSpace(rune(s[0])) {
		w.b.sep(sepSpace)
	}
	w.b.add(string(bytes.Join(fields, []byte(" "))))
	w.space = isHTMLSpace(rune(s[len(s)-1]))
}

func isHTMLSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f'
}

// anchor begins the chapter for which the table of contents names this place.
func (w *xhtmlWalk) anchor(id string) {
	c, ok := w.chapters[id]
	if !ok {
		return
	}
	delete(w.chapters, id)
	w.flushChapter()
	w.pending = &c
}

// flushChapter writes the heading of a chapter that has none in the page.
func (w *xhtmlWalk) flushChapter() {
	if w.pending != nil {
		w.b.heading(w.pending.level, w.pending.label)
		w.label, w.pending = w.pending.label, nil
	}
}

// dropLabel takes away the first paragraph of a chapter where it is the heading
// just written.
func (w *xhtmlWalk) dropLabel() {
	if w.label == "" {
		return
	}
	start := w.b.sections[len(w.b.sections)-1].Start
	if text := oneLine(string(w.b.text[start:min(len(w.b.text), start+maxHeading)])); text != "" {
		if strings.EqualFold(text, w.label) {
			w.b.text = w.b.text[:start]
		}
		w.label = ""
	}
}

// endHeading ends the open heading. Where it is that of the chapter's entry in the
// table of contents, it takes its place.
func (w *xhtmlWalk) endHeading() {
	if w.heading == 0 {
		return
	}
	level, title := w.level+w.heading, oneLine(string(w.text))
	w.heading, w.space = 0, false
	if title == "" {
		return
	}
	if w.pending != nil && sameHeading(w.pending.label, title) {
		level, w.pending = w.pending.level, nil
	}
	w.flushChapter()
	w.label = ""
	w.b.heading(level, title)
}

// sameHeading says that one of two headings is the other in other words: with or
// without its number.
func sameHeading(a, b string) bool {
	a, b = strings.ToLower(oneLine(a)), strings.ToLower(oneLine(b))
	return a == b || len(a) > 3 && strings.HasSuffix(b, a) || len(b) > 3 && strings.HasSuffix(a, b)
}
