package extract

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
)

// signature tells a format by its content, which for a large file is all of it.
type signature struct {
	format string
	is     func(data []byte) bool
}

// magics are the formats that their first bytes give away, whatever the name is.
var magics = []signature{
	{"pdf", isPDF},
	{"gz", starts("\x1f\x8b\x08")},
	{"bz2", isBzip2},
	{"xz", starts("\xfd7zXZ\x00")},
	{"zst", starts("\x28\xb5\x2f\xfd")},
	{"7z", starts("7z\xbc\xaf\x27\x1c")},
	{"tar", isTar},
	{"rtf", starts(`{\rtf`)},
	{"docx", ooxml("word/")},
	{"pptx", ooxml("ppt/")},
	{"xlsx", ooxml("xl/")},
	{"epub", zipOf("application/epub+zip")},
	{"odt", zipOf("application/vnd.oasis.opendocument.text")},
	{"ods", zipOf("application/vnd.oasis.opendocument.spreadsheet")},
	{"odp", zipOf("application/vnd.oasis.opendocument.presentation")},
	{"odg", zipOf("application/vnd.oasis.opendocument.graphics")},
	{"zip", isZip},
	{"ole-encrypted", ole("EncryptedPackage")},
	{"ppt", ole("PowerPoint Document")},
	{"doc", ole("WordDocument")},
	{"xls", ole("Workbook")},
	{"xls", ole("Book")},
}

// looks are the text formats that content gives away where the name names no
// format of its own.
var looks = []signature{
	{"html", looksHTML},
	{"fb2", root("FictionBook")},
	{"xml", starts("<?xml")},
	{"mbox", isMbox},
	{"eml", isMail},
}

// unread are the beginnings of content that holds no text to read, with the
// reason.
var unread = []struct{ prefix, reason string }{
	{"\x89PNG\r\n\x1a\n", "a PNG image: no text to read"},
	{"\xff\xd8\xff", "a JPEG image: no text to read"},
	{"GIF87a", "a GIF image: no text to read"},
	{"GIF89a", "a GIF image: no text to read"},
	{"\x7fELF", "a program: no text to read"},
	{"\xca\xfe\xba\xbe", "a compiled program: no text to read"},
	{"MZ\x90\x00", "a program: no text to read"},
	{"\x00asm", "a WebAssembly program: no text to read"},
	{"SQLite format 3\x00", "an SQLite database: not read"},
	{"OggS", "sound or film: no text to read"},
	{"fLaC\x00", "sound: no text to read"},
	{"ID3", "sound: no text to read"},
	{"\x1aE\xdf\xa3", "film: no text to read"},
	{"Rar!\x1a\x07", "a RAR archive: not read (pack it as zip or tar)"},
	{oleSignature, "an OLE container of no known format"},
}

// isPackage are the types that are zip archives of parts, which no text can be: what
// the magics do not tell apart is told by the name.
var isPackage = setOf(`docx docm dotx dotm pptx pptm ppsx ppsm potx potm xlsx xlsm xltx xltm xlam xlsb vsdx vsdm vstx vssx
	odt ott odm oth ods ots odp otp odg otg odf odc sxw stw sxc stc sxi sti sxd epub fbz`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// detect tells the format: by the content's first bytes, then by the name, then by
// how the text looks. A name that claims a format whose magic the content lacks is
// believed only where the content is no text.
func detect(name string, data []byte) string {
	if t := match(magics, data); t != "" {
		return narrowed(t, name)
	}
	named := TypeOf(name)
	if hasMagic(named) && !isPackage[named] && checkText(data) == nil {
		named = "txt"
	}
	if parserOf(named) != nil && named != "xml" {
		return named
	}
	if named == "txt" || named == "xml" || named == "mail" {
		if t := match(looks, data); t != "" {
			return t
		}
		if t := scriptType(data); t != "" {
			return t
		}
	}
	return named
}

// Detect is the type that Extract would give a file.
func Detect(name string, data []byte) string { return detect(name, data) }

// narrowed lets the name tell apart what the content cannot: a damaged zip may have
// been a document.
func narrowed(t, name string) string {
	if named := TypeOf(name); t == "zip" && isPackage[named] {
		return named
	}
	return t
}

func match(table []signature, data []byte) string {
	for _, s := range table {
		if s.is(data) {
			return s.format
		}
	}
	return ""
}

func hasMagic(format string) bool {
	for _, s := range magics {
		if s.format == format {
			return true
		}
	}
	return false
}

// checkUnread returns an error that matches ErrBinary for content known to hold no
// text.
func checkUnread(data []byte) error {
	for _, u := range unread {
		if bytes.HasPrefix(data, []byte(u.prefix)) {
			return notText(u.reason)
		}
	}
	return nil
}

func starts(prefix string) func([]byte) bool {
	return func(data []byte) bool { return bytes.HasPrefix(data, []byte(prefix)) }
}

// isPDF allows what PDF readers allow: up to 1,024 bytes before the mark.
func isPDF(data []byte) bool {
	i := bytes.Index(data[:min(len(data), 1024+5)], []byte("%PDF-"))
	return i == 0 || i > 0 && !looksHTML(data) && bytes.IndexByte(data, 0) >= 0
}

func isBzip2(data []byte) bool {
	return len(data) > 10 && string(data[:3]) == "BZh" && data[3] >= '1' && data[3] <= '9' &&
		(string(data[4:10]) == "1AY&SY" || string(data[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// isTar knows both the POSIX header and, by its checksum, the one before.
func isTar(data []byte) bool {
	if len(data) < 512 {
		return false
	}
	if string(data[257:262]) == "ustar" {
		return true
	}
	if data[0] == 0 || data[155] != 0 && data[155] != ' ' {
		return false
	}
	sum, want := 0, 0
	for i, c := range data[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	for _, c := range bytes.Trim(data[148:156], " \x00") {
		if c < '0' || c > '7' {
			return false
		}
		want = want*8 + int(c-'0')
	}
	return want == sum
}

const oleSignature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// ole knows an OLE container by the name of a stream in it, which its directory
// has in UTF-16, at the beginning of an entry.
func ole(stream string) func([]byte) bool {
	wide := make([]byte, 0, 2*len(stream)+2)
	for _, c := range []byte(stream) {
		wide = append(wide, c, 0)
	}
	wide = append(wide, 0, 0)
	return func(data []byte) bool {
		if !bytes.HasPrefix(data, []byte(oleSignature)) {
			return false
		}
		for at := 0; ; at++ {
			i := bytes.Index(data[at:], wide)
			if i < 0 {
				return false
			}
			if at += i; at%128 == 0 {
				return true
			}
		}
	}
}

func isZip(data []byte) bool {
	return bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06"))
}

// zipOf knows the formats that begin with their media type, stored.
func zipOf(media string) func([]byte) bool {
	return func(data []byte) bool {
		if !isZip(data) || len(data) < 38 || string(data[30:38]) != "mimetype" {
			return false
		}
		at := 38 + int(binary.LittleEndian.Uint16(data[28:]))
		return at <= len(data) && bytes.HasPrefix(data[at:], []byte(media))
	}
}

// ooxml knows an Office document by its parts' directory.
func ooxml(dir string) func([]byte) bool {
	return func(data []byte) bool {
		types, parts := false, false
		zipNames(data, func(name []byte) bool {
			types = types || string(name) == "[Content_Types].xml"
			parts = parts || bytes.HasPrefix(name, []byte(dir))
			return !types || !parts
		})
		return types && parts
	}
}

// zipNames visits the names in a zip's central directory until visit returns false.
func zipNames(data []byte, visit func(name []byte) bool) {
	if !isZip(data) {
		return
	}
	tail := max(0, len(data)-1<<16-22)
	end := bytes.LastIndex(data[tail:], []byte("PK\x05\x06"))
	if end < 0 || tail+end+22 > len(data) {
		return
	}
	end += tail
	at := int64(end) - int64(binary.LittleEndian.Uint32(data[end+12:]))
	if at < 0 {
		return
	}
	for entry := data[at:end]; len(entry) >= 46 && string(entry[:4]) == "PK\x01\x02"; {
		name, extra, comment := binary.LittleEndian.Uint16(entry[28:]), binary.LittleEndian.Uint16(entry[30:]), binary.LittleEndian.Uint16(entry[32:])
		next := 46 + int(name) + int(extra) + int(comment)
		if next > len(entry) || !visit(entry[46:46+int(name)]) {
			return
		}
		entry = entry[next:]
	}
}

// lookAt is how much of a text its format is told from.
const lookAt = 4096

func head(data []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), lookAt)], []byte("\xEF\xBB\xBF")), " \t\r\n")
}

func looksHTML(data []byte) bool {
	h := bytes.ToLower(head(data))
	for bytes.HasPrefix(h, []byte("<!--")) || bytes.HasPrefix(h, []byte("<?xml")) {
		_, rest, ok := bytes.Cut(h, []byte(">"))
		if !ok {
			return false
		}
		h = bytes.TrimLeft(rest, " \t\r\n")
	}
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if rest, ok := bytes.CutPrefix(h, []byte(tag)); ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n>"), rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// root knows an XML document by its outermost element.
func root(element string) func([]byte) bool {
	return func(data []byte) bool {
		h := head(data)
		return bytes.HasPrefix(h, []byte("<")) && bytes.Contains(h, []byte("<"+element))
	}
}

func isMbox(data []byte) bool {
	line, rest, ok := bytes.Cut(data[:min(len(data), lookAt)], []byte("\n"))
	return ok && bytes.HasPrefix(line, []byte("From ")) && isMail(rest)
}

// mailFields are header fields of which a message has two at least.
var mailFields = map[string]bool{
	"from": true, "to": true, "subject": true, "date": true, "message-id": true, "received": true, "return-path": true,
	"mime-version": true, "content-type": true, "delivered-to": true, "reply-to": true, "cc": true, "x-mozilla-status": true,
}

func isMail(data []byte) bool {
	known := 0
	for line := range bytes.Lines(data[:min(len(data), lookAt)]) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		field, _, ok := bytes.Cut(line, []byte(":"))
		if !ok || bytes.ContainsAny(field, " \t") {
			return false
		}
		if mailFields[strings.ToLower(string(field))] {
			known++
		}
	}
	return known >= 3
}

// compressed are the types that hold one file, by how their names end.
var compressed = map[string]string{
	".gz": "", ".bz2": "", ".xz": "", ".zst": "", ".tgz": ".tar", ".tbz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".tzst": ".tar", ".svgz": ".svg",
}

// innerName is the name of the file in a compressed one.
func innerName(name string) string {
	ext := filepath.Ext(name)
	if inner, ok := compressed[strings.ToLower(ext)]; ok {
		return strings.TrimSuffix(name, ext) + inner
	}
	return name
}

// SameFormat reports whether equal content under the two names is read alike.
func SameFormat(a, b string) bool {
	for range DefaultLimits.Depth {
		if TypeOf(a) != TypeOf(b) {
			return false
		}
		a, b = innerName(a), innerName(b)
	}
	return true
}
