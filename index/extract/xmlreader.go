package extract

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

const (
	// maxToken bounds a tag, a comment or one piece of a text, in bytes.
	maxToken = 4 << 20
	// maxAttrs is how many attributes of a tag are looked at.
	maxAttrs = 200
)

// xmlEvent is what an xmlReader comes upon.
type xmlEvent byte

const (
	xmlEnd xmlEvent = iota // the end of the input, or an error
	xmlOpen
	xmlClose
	xmlText
)

// xmlReader reads XML as a stream of events, in memory bounded by maxToken. It is
// made of the HTML tokenizer, since encoding/xml keeps whole texts and
// attributes however long they are, and fails at what others let pass. Document
// types are passed over, so that entities of their own are never expanded. Names
// are in lower case and without prefix.
type xmlReader struct {
	r       io.Reader
	z       *html.Tokenizer
	name    string
	prefix  string
	depth   int
	selfEnd bool
	attrs   []xmlAttr
	read    bool // attrs are those of the tag
	hasAttr bool
	inText  bool // the last event was a text
	err     error
}

type xmlAttr struct{ name, value string }

// newXMLReader reads XML in whatever encoding it declares.
func newXMLReader(r io.Reader) *xmlReader {
	x := &xmlReader{r: decodeXML(r)}
	x.restart(nil)
	return x
}

func (x *xmlReader) restart(buffered []byte) {
	x.z = html.NewTokenizer(io.MultiReader(bytes.NewReader(buffered), x.r))
	x.z.SetMaxBuf(maxToken)
	x.z.AllowCDATA(true)
}

var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// decodeXML makes UTF-8 of XML by its byte order mark or its declaration.
func decodeXML(r io.Reader) io.Reader {
	head := make([]byte, 512)
	n, _ := io.ReadFull(r, head)
	head = head[:n]
	r = io.MultiReader(bytes.NewReader(head), r)
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")):
		enc = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<")):
		enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		if m := xmlEncoding.FindSubmatch(head); m != nil {
			enc = lookupEncoding(string(m[1]))
		}
	}
	if enc == nil {
		return r
	}
	return enc.NewDecoder().Reader(r)
}

// lookupEncoding finds an encoding by its name; it is nil for UTF-8 and for
// unknown ones. A name of UTF-16 without its marks in the bytes is wrong.
func lookupEncoding(label string) encoding.Encoding {
	enc, name := charset.Lookup(label)
	if name == "utf-8" || strings.HasPrefix(name, "utf-16") {
		return nil
	}
	return enc
}

// next goes on to the next event.
func (x *xmlReader) next() xmlEvent {
	if x.selfEnd {
		x.selfEnd = false
		x.depth--
		return xmlClose
	}
	for {
		switch tt := x.z.Next(); tt {
		case html.ErrorToken:
			if !x.again() {
				return xmlEnd
			}
		case html.TextToken:
			x.inText = true
			return xmlText
		case html.StartTagToken, html.SelfClosingTagToken:
			x.open(tt == html.SelfClosingTagToken)
			return xmlOpen
		case html.EndTagToken:
			x.inText = false
			x.setName()
			x.depth--
			return xmlClose
		default:
			x.inText = false
		}
	}
}

// again goes on after a text that was longer than a token may be. Whatever else
// ends the input is kept as its error.
func (x *xmlReader) again() bool {
	err := x.z.Err()
	if errors.Is(err, html.ErrBufferExceeded) && x.inText {
		x.inText = false
		x.restart(append([]byte(nil), x.z.Buffered()...))
		return true
	}
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, html.ErrBufferExceeded):
		x.err = notText("corrupt: a tag without end")
	case errors.Is(err, ErrLimit):
		x.err = err
	default:
		x.err = notText("corrupt: " + err.Error())
	}
	return false
}

func (x *xmlReader) open(selfClosing bool) {
	x.inText = false
	x.setName()
	x.z.NextIsNotRawText()
	x.attrs, x.read = x.attrs[:0], false
	x.depth++
	x.selfEnd = selfClosing
}

func (x *xmlReader) setName() {
	name, more := x.z.TagName()
	x.hasAttr = more
	x.prefix = ""
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		x.prefix, name = intern(name[:i]), name[i+1:]
	}
	x.name = intern(name)
}

// attr returns the value of an attribute of the tag just opened by its local
// name, in lower case.
func (x *xmlReader) attr(name string) string {
	x.readAttrs()
	for _, a := range x.attrs {
		if _, local, ok := strings.Cut(a.name, ":"); a.name == name || ok && local == name {
			return a.value
		}
	}
	return ""
}

func (x *xmlReader) readAttrs() {
	if x.read {
		return
	}
	x.read = true
	for more := x.hasAttr; more && len(x.attrs) < maxAttrs; {
		var key, value []byte
		key, value, more = x.z.TagAttr()
		x.attrs = append(x.attrs, xmlAttr{string(key), string(value)})
	}
}

// intAttr is a number of an attribute, or the default where it is none.
func (x *xmlReader) intAttr(name string, otherwise int) int {
	n, err := strconv.Atoi(x.attr(name))
	if err != nil {
		return otherwise
	}
	return n
}

// text is the text just come upon.
func (x *xmlReader) text() string { return string(x.z.Text()) }

// skip goes on to the end of the element just opened.
func (x *xmlReader) skip() {
	for end := x.depth; x.depth >= end; {
		if x.next() == xmlEnd {
			return
		}
	}
}

// content returns the text of the element just opened, of at most maxHeading
// bytes, and goes on to its end.
func (x *xmlReader) content() string { return x.contentUpTo(maxHeading) }

// contentUpTo is content with another bound, in bytes.
func (x *xmlReader) contentUpTo(n int) string {
	var text []byte
	for end := x.depth; x.depth >= end; {
		switch x.next() {
		case xmlEnd:
			return strings.TrimSpace(string(text))
		case xmlText:
			piece := x.z.Text()
			text = append(text, piece[:min(len(piece), n-len(text))]...)
		}
	}
	return strings.TrimSpace(string(text))
}

// names are the usual names of elements: those are not allocated each time.
var names = func() map[string]string {
	m := map[string]string{}
	for _, s := range strings.Fields(`a body br c col cnvpr defrpr endpararpr f fld graphicframe h is item lang latin
		list-item ln m noproof off p para ppr ppr r rpr row s section sheetdata si solidfill sp span sppr spacing sz szcs
		t tab tbl tc td tcpr text tr txbody v w x xfrm table-cell table-row table-column style-name bodypr ind jc
		bookmarkstart bookmarkend prooferr rfonts color b bcs i ics u pstyle rstyle div li ul ol em strong
		wp draw office table style fo svg style text-properties paragraph-properties`) {
		m[s] = s
	}
	return m
}()

func intern(b []byte) string {
	if s, ok := names[string(b)]; ok {
		return s
	}
	return string(b)
}
