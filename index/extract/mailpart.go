package extract

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding"
)

// mailPart is a message or a part of one.
type mailPart struct {
	header      header
	media       string // the type, in lower case
	parameters  map[string]string
	disposition string
	file        string // the name it is to be saved under, as it came
	body        []byte // still encoded
}

// header is a header's fields, unfolded, by their names in lower case; of a field
// that comes more than once it has the first.
type header map[string]string

func (h header) get(name string) string { return h[strings.ToLower(name)] }

// readPart reads the header of a part. Lines that are no fields are passed over; a
// text that does not begin with any field is all body.
func readPart(data []byte) mailPart {
	p := mailPart{header: header{}}
	p.body = p.header.read(data)
	p.media, p.parameters = mediaType(p.header.get("Content-Type"))
	if p.media == "" || !strings.Contains(p.media, "/") {
		p.media = "text/plain"
	}
	disposition, parameters := mediaType(p.header.get("Content-Disposition"))
	p.disposition = disposition
	if p.file = parameters["filename"]; p.file == "" {
		p.file = p.parameters["name"]
	}
	return p
}

// maxField is the longest field that is kept, in bytes.
const maxField = 16 << 10

// read reads fields up to the blank line and returns what follows it.
func (h header) read(data []byte) (body []byte) {
	name, value := "", []byte(nil)
	keep := func() {
		if _, twice := h[name]; name != "" && !twice {
			h[name] = string(bytes.TrimSpace(value))
		}
		name, value = "", nil
	}
	defer keep()
	for rest := data; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			return after
		}
		field, content, ok := bytes.Cut(line, []byte(":"))
		switch {
		case line[0] == ' ' || line[0] == '\t':
			if len(value)+len(line) < maxField {
				value = append(append(value, '\n'), line...)
			}
		case ok && fieldName(field):
			keep()
			name = strings.ToLower(string(bytes.TrimRight(field, " \t")))
			value = append(value, content[:min(len(content), maxField)]...)
		case len(h) == 0 && name == "" && !bytes.HasPrefix(bytes.TrimPrefix(line, []byte(">")), []byte("From ")):
			return data
		default:
			keep()
		}
		rest = after
	}
	return nil
}

// fieldName says that a line begins with the name of a field.
func fieldName(name []byte) bool {
	name = bytes.TrimRight(name, " \t")
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(name) > 0
}

// mediaType splits a type from its parameters. Of a malformed one it makes what it
// can.
func mediaType(field string) (media string, parameters map[string]string) {
	field = strings.NewReplacer("\r", "", "\n", "").Replace(field)
	if field == "" {
		return "", nil
	}
	if media, parameters, err := mime.ParseMediaType(field); err == nil {
		return media, parameters
	}
	media, rest, _ := strings.Cut(field, ";")
	parameters = map[string]string{}
	for _, p := range strings.Split(rest, ";") {
		key, value, ok := strings.Cut(p, "=")
		if key = strings.ToLower(strings.TrimSpace(key)); ok && parameters[key] == "" {
			parameters[key] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return strings.ToLower(strings.TrimSpace(media)), parameters
}

// wordDecoder decodes encoded words (RFC 2047) in any encoding that is known.
var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
	e := named(charset)
	if e == nil {
		return r, nil
	}
	return e.NewDecoder().Reader(r), nil
}}

// decodeWords decodes a field for people: encoded words, or bytes that are no
// ASCII, which old programs write.
func decodeWords(field string) string {
	if decoded, err := wordDecoder.DecodeHeader(field); err == nil {
		field = decoded
	}
	text, _, err := toUTF8([]byte(field), "")
	if err != nil {
		return ""
	}
	return fold(string(text))
}

// text returns a field as people read it.
func (p mailPart) text(name string) string { return decodeWords(p.header.get(name)) }

// attached says that the part is a file by itself.
func (p mailPart) attached() bool {
	return p.disposition == "attachment" || p.file != "" && p.disposition != "inline" && p.media != "text/plain" && p.media != "text/html"
}

// decoded returns the body without its transfer encoding, as far as it can be
// decoded.
func (p mailPart) decoded() []byte {
	switch strings.ToLower(strings.TrimSpace(p.header.get("Content-Transfer-Encoding"))) {
	case "base64":
		return decodeBase64(p.body)
	case "quoted-printable":
		return decodeQuoted(p.body)
	case "x-uuencode", "uuencode", "x-uue":
		return decodeUU(p.body)
	}
	return p.body
}

// words returns the text of the part in UTF-8. Its own declaration counts more
// than a hint from the inside; a body that says ASCII or UTF-8 and is not is
// looked at.
func (p mailPart) words(hint string) string {
	declared := p.parameters["charset"]
	if e := named(declared); e == nil || e == encoding.Nop && hint != "" {
		declared = hint
	}
	text, _, err := toUTF8(p.decoded(), declared)
	if err != nil {
		return ""
	}
	return string(text)
}

// extensions are those of attachments without a name, by their type.
var extensions = map[string]string{
	"message/rfc822": ".eml", "message/global": ".eml", "text/html": ".html", "text/plain": ".txt", "text/calendar": ".ics", "text/vcard": ".vcf",
	"text/x-vcard": ".vcf", "application/pdf": ".pdf", "text/csv": ".csv", "application/rtf": ".rtf", "text/rtf": ".rtf",
	"application/json": ".json", "application/zip": ".zip", "text/markdown": ".md", "text/xml": ".xml", "application/xml": ".xml",
	"message/disposition-notification": ".txt", "message/partial": ".txt", "text/rfc822-headers": ".txt",
}

// fileName returns a name for the part as a file.
func (p mailPart) fileName() string {
	name := decodeWords(p.file)
	extension := extensions[p.media]
	if name == "" && extension == ".eml" {
		name = strings.ReplaceAll(readPart(p.decoded()).text("Subject"), "/", "-")
	}
	if name == "" {
		name = "unnamed"
	}
	if !strings.HasSuffix(strings.ToLower(name), extension) && (extension == ".eml" || !strings.Contains(name, ".")) {
		name += extension
	}
	return name
}

// split returns the bodies between a multipart's boundaries. A last boundary that
// is missing is the end of the message.
func split(body []byte, boundary string) [][]byte {
	var out [][]byte
	mark := []byte("--" + strings.TrimRight(boundary, " \t"))
	start := -1
	for at := 0; at < len(body); {
		end := len(body)
		if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		rest, ok := bytes.CutPrefix(body[at:end], mark)
		rest = bytes.TrimRight(rest, " \t\r\n")
		if ok && (len(rest) == 0 || string(rest) == "--") {
			if start >= 0 {
				out = append(out, trimLineEnd(body[start:at]))
			}
			start = end
			if len(rest) > 0 {
				return out
			}
		}
		at = end
	}
	if start >= 0 && start < len(body) {
		out = append(out, body[start:])
	}
	return out
}

// trimLineEnd drops the line end before a boundary, which is part of that.
func trimLineEnd(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// decodeBase64 decodes what is base64 in a text, which may be several with padding
// between them; what is no part of it, and a last character too many, is passed over.
func decodeBase64(body []byte) []byte {
	out := make([]byte, 0, len(body)/4*3)
	clean := make([]byte, 0, len(body))
	flush := func() {
		if len(clean)%4 == 1 {
			clean = clean[:len(clean)-1]
		}
		out, _ = base64.RawStdEncoding.AppendDecode(out, clean)
		clean = clean[:0]
	}
	for _, c := range body {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		case c == '=':
			flush()
		}
	}
	flush()
	return out
}

// decodeQuoted decodes quoted-printable; what is malformed stays as it is.
func decodeQuoted(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '=' {
			out = append(out, body[i])
			continue
		}
		if hi, lo := hexAt(body, i+1), hexAt(body, i+2); hi >= 0 && lo >= 0 {
			out = append(out, byte(hi<<4|lo))
			i += 2
			continue
		}
		end := i + 1
		for end < len(body) && (body[end] == ' ' || body[end] == '\t' || body[end] == '\r') {
			end++
		}
		if end < len(body) && body[end] == '\n' || end == len(body) {
			i = end // a soft line break
		} else {
			out = append(out, '=')
		}
	}
	return out
}

// hexAt returns the value of a hexadecimal digit, -1 if there is none.
func hexAt(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// decodeUU decodes the lines between begin and end of uuencode.
func decodeUU(body []byte) []byte {
	var out []byte
	open := false
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case !open:
			open = bytes.HasPrefix(line, []byte("begin "))
		case string(line) == "end" || len(line) == 0:
			return out
		default:
			out = appendUU(out, line)
		}
	}
	if out == nil {
		return body
	}
	return out
}

func appendUU(out, line []byte) []byte {
	n := int(line[0]-' ') & 63
	value := func(i int) byte {
		if i < len(line) {
			return (line[i] - ' ') & 63
		}
		return 0
	}
	for i := 1; n > 0 && i < len(line); i += 4 {
		a, b, c, d := value(i), value(i+1), value(i+2), value(i+3)
		three := []byte{a<<2 | b>>4, b<<4 | c>>2, c<<6 | d}
		out = append(out, three[:min(n, 3)]...)
		n -= 3
	}
	return out
}
