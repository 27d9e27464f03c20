package extract

import (
	"bytes"
	"strings"
)

// parseMail reads a message (RFC 5322 with MIME): its subject as the title and
// heading, who wrote it to whom and when, its text, and the attachments as
// members. What is malformed is read as far as it makes sense, since mail programs
// do so too: a missing boundary ends with the message, unknown encodings are passed
// over, and text that is not in the encoding it claims is looked at.
func parseMail(d *Document) error {
	m := message{d: d}
	m.read(d.Text)
	return d.document(&m.prose)
}

// message is a mail that is being read.
type message struct {
	prose
	d *Document
	// names are those of the attachments.
	names []string
	// parts counts the parts, of which maxParts are read.
	parts int
}

const (
	// maxParts bounds the parts of a message.
	maxParts = 1000
	// maxPartDepth bounds how deep multiparts lie in multiparts.
	maxPartDepth = 16
)

func (m *message) read(data []byte) {
	top := readPart(data)
	m.d.Title = top.text("Subject")
	m.d.Author = top.text("From")
	m.d.Date = readDate(top.header.get("Date"))
	m.heading(1, clip(m.d.Title))
	for _, field := range []string{"From", "To", "Cc", "Date"} {
		if value := top.text(field); value != "" {
			m.text(field + ": " + value)
			m.line()
		}
	}
	m.para()
	m.part(top, 0)
	if len(m.names) > 0 {
		m.para()
		m.text("Attachments: " + strings.Join(m.names, ", "))
	}
}

// part reads a part and those in it.
func (m *message) part(p mailPart, depth int) {
	if m.parts++; m.parts > maxParts || depth > maxPartDepth {
		m.d.Truncated = "the mail has more parts, or deeper ones, than are read"
		return
	}
	switch {
	case strings.HasPrefix(p.media, "multipart/") && p.parameters["boundary"] != "":
		m.multipart(p, depth)
	case p.attached() || p.media == "text/rtf":
		m.attach(p)
	case p.media == "text/html" || p.media == "application/xhtml+xml":
		m.page(p)
	case strings.HasPrefix(p.media, "text/") || strings.HasPrefix(p.media, "multipart/") || p.media == "message/delivery-status":
		m.words(p)
	default:
		m.attach(p)
	}
}

// multipart reads the parts of one: of alternatives the one that is plain text, if
// it has any words, or else the last that can be read.
func (m *message) multipart(p mailPart, depth int) {
	bodies := split(p.body, p.parameters["boundary"])
	if len(bodies) == 0 {
		m.words(mailPart{media: "text/plain", body: p.body})
		return
	}
	parts := make([]mailPart, 0, min(len(bodies), maxParts))
	for _, b := range bodies[:min(len(bodies), maxParts)] {
		q := readPart(b)
		if p.media == "multipart/digest" && q.header.get("Content-Type") == "" {
			q.media = "message/rfc822"
		}
		parts = append(parts, q)
	}
	if p.media == "multipart/alternative" {
		parts = alternative(parts)
	}
	for _, q := range parts {
		m.part(q, depth+1)
	}
}

// alternative leaves one of the alternatives that hold text; others, such as
// invitations, stay.
func alternative(parts []mailPart) []mailPart {
	best := -1
	for i, p := range parts {
		switch {
		case p.attached():
		case p.media == "text/plain" && len(bytes.TrimSpace(p.body)) > 0:
			best = i
		case p.media == "text/html" || strings.HasPrefix(p.media, "multipart/"):
			if best < 0 || parts[best].media != "text/plain" {
				best = i
			}
		}
		if best == i && p.media == "text/plain" {
			break
		}
	}
	var out []mailPart
	for i, p := range parts {
		text := p.media == "text/plain" || p.media == "text/html" || strings.HasPrefix(p.media, "multipart/")
		if i == best || best < 0 || !text || p.attached() {
			out = append(out, p)
		}
	}
	return out
}

// words adds the plain text of a part.
func (m *message) words(p mailPart) {
	text := strings.TrimSpace(p.words(""))
	if looksHTML([]byte(text)) {
		m.page(p)
		return
	}
	m.para()
	m.space = false
	m.verbatim(text)
	m.para()
}

// page adds the text of a part in HTML, with its headings below the subject.
func (m *message) page(p mailPart) {
	text := p.words(htmlCharset(p.decoded()))
	r := readHTML([]byte(text), 2)
	if len(r.buf) == 0 {
		return
	}
	m.para()
	m.space = false
	m.settle()
	at := len(m.buf)
	m.buf = append(m.buf, r.buf...)
	for _, h := range r.headings {
		h.start, h.end, h.after = h.start+at, h.end+at, h.after+at
		m.headings = append(m.headings, h)
	}
	m.para()
}

// attach adds a part as a member, a message in the message too. Pictures of a page
// and signatures are no attachments.
func (m *message) attach(p mailPart) {
	picture := strings.HasPrefix(p.media, "image/") && p.media != "image/svg+xml"
	if picture && p.disposition != "attachment" || strings.HasSuffix(p.media, "-signature") {
		return
	}
	name := p.fileName()
	m.names = append(m.names, name)
	if picture || m.d.budget.spent() {
		return
	}
	if err := m.d.addMember(name, bytes.NewReader(p.decoded())); err != nil {
		m.d.Truncated = err.Error()
	}
}
