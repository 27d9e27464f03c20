package extract

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// parseAsciiDoc finds the section titles of AsciiDoc: those with signs in front, of
// = or as in Markdown, and those with a rule below. Delimited blocks have none.
func parseAsciiDoc(d *Document) error {
	s := adocScanner{lineReader: lineReader{text: d.Text}}
	if bytes.HasPrefix(d.Text, []byte(bytesUTF8)) {
		s.pos = len(bytesUTF8)
	}
	body := s.pos
	s.scan()
	d.sections(body, s.headings)
	d.Author = s.author
	d.Date = s.date
	if len(d.Sections) == 0 {
		return parsePlain(d)
	}
	return nil
}

// adocScanner looks at a line and the one before.
type adocScanner struct {
	lineReader
	metaData
	headings []heading
	last     line
	block    string // the line that ends the open block
	header   bool   // the line with the author may follow
}

func (s *adocScanner) scan() {
	for {
		l, ok := s.read()
		if !ok {
			return
		}
		content := string(bytes.TrimRight(l.content, " \t"))
		switch {
		case s.block != "":
			if content == s.block {
				s.block = ""
			}
		case s.sign(l, content), s.rule(l, content):
			l = line{} // is no title of a rule below
		case isDelimiter(content) && s.closed(content):
			s.block = content
		default:
			s.attributes(l, content)
		}
		s.last = l
	}
}

// sign reads a title with its level in front.
func (s *adocScanner) sign(l line, content string) bool {
	if content == "" || content[0] != '=' && content[0] != '#' {
		return false
	}
	level := run(content, content[0])
	text, ok := strings.CutPrefix(content[level:], " ")
	if !ok || level > 6 || len(content) > maxHeading || strings.TrimSpace(text) == "" {
		return false
	}
	s.add(level, text, l.start, l)
	s.header = level == 1 && len(s.headings) == 1
	return true
}

// rule reads the rule below a title.
func (s *adocScanner) rule(l line, content string) bool {
	if len(content) < 2 || run(content, content[0]) != len(content) || s.last.blank() || s.last.next != l.start {
		return false
	}
	level := strings.IndexByte("=-~^+", content[0]) + 1
	width := utf8.RuneCount(s.last.content)
	if level == 0 || width-len(content) > 2 || len(content)-width > 2 || len(s.last.content) > maxHeading || strings.IndexByte(".[=|", s.last.content[0]) >= 0 {
		return false
	}
	s.add(level, string(s.last.content), s.last.start, l)
	return true
}

func (s *adocScanner) add(level int, text string, start int, end line) {
	text = strings.Trim(plainText([]byte(Decode([]byte(text)))), "= ")
	if text != "" {
		s.headings = append(s.headings, heading{level: level, text: text, start: start, end: end.end, after: end.next})
	}
}

// attributes reads the lines below the document's title.
func (s *adocScanner) attributes(l line, content string) {
	if author, ok := strings.CutPrefix(content, ":author:"); ok {
		s.author = clip(fold(author))
	} else if date, ok := strings.CutPrefix(content, ":revdate:"); ok {
		s.date = readDate(date)
	} else if s.header && content != "" && content[0] != ':' && !strings.HasPrefix(content, "//") {
		if name, _, ok := strings.Cut(content, " <"); ok && s.author == "" {
			s.author = clip(fold(name))
		}
		s.header = false
	}
	if l.blank() {
		s.header = false
	}
}

// isDelimiter says that a line opens a block that ends with the same line.
func isDelimiter(content string) bool {
	if content == "```" || content == "|===" || strings.HasPrefix(content, "```") && len(content) < 40 {
		return true
	}
	return len(content) >= 4 && strings.IndexByte("-.*_+/=", content[0]) >= 0 && run(content, content[0]) == len(content)
}

// closed says that a block is closed further on, as one that is not would hide the
// rest of the document.
func (s *adocScanner) closed(content string) bool {
	mark := []byte("\n" + content)
	for rest := s.text[max(s.pos-1, 0):min(len(s.text), s.pos+maxBlock)]; ; {
		i := bytes.Index(rest, mark)
		if i < 0 {
			return false
		}
		rest = rest[i+len(mark):]
		if len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0 {
			return true
		}
	}
}

// maxBlock is how long a block may be, in bytes.
const maxBlock = 16 << 10
