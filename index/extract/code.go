package extract

import (
	"bytes"
	"strings"
)

// IsCode reports whether a type is that of source code, whose identifiers are words
// of several parts.
func IsCode(format string) bool { return codeTypes[format] }

// parseCode finds the definitions in source code by how their lines look: sections
// begin with them, and with the comments right above, and their heading path is the
// enclosing definitions' names. It knows no grammar: what looks like a definition
// within a string is taken for one, which costs nothing but a name.
func parseCode(d *Document) error {
	defs := definitions[d.Type]
	if defs == nil {
		return parsePlain(d)
	}
	s := codeScanner{lineReader: lineReader{text: d.Text}, defs: defs, comment: -1}
	s.scan()
	d.Sections = group(len(d.Text), s.places, codeBytes, joinNames)
	return nil
}

const (
	// codeBytes is the least length of a section of code.
	codeBytes = 300
	// maxCodeLine is the longest line that may be a definition's first.
	maxCodeLine = 400
	// maxOpen bounds the definitions in definitions.
	maxOpen = 8
)

// codeScanner finds definitions line by line.
type codeScanner struct {
	lineReader
	defs    []pattern
	places  []place
	open    []definition // by their indents, the innermost last
	comment int          // where the comment right above begins, -1 for none
}

// definition is one that is open.
type definition struct {
	indent int
	name   string
}

func (s *codeScanner) scan() {
	for {
		l, ok := s.read()
		if !ok {
			return
		}
		switch {
		case l.blank():
			s.comment = -1
		case isComment(l.rest):
			if s.comment < 0 {
				s.comment = l.start
			}
		default:
			s.line(l)
			s.comment = -1
		}
	}
}

// line reads a line of code. One that is indented no more than a definition ends
// that, unless it is a bracket or a word that closes it.
func (s *codeScanner) line(l line) {
	name := ""
	if len(l.rest) <= maxCodeLine {
		name = definedIn(s.defs, l.rest, l.indent)
	}
	n := len(s.open)
	closes := name == "" && (isCloser(l.rest) || n > 0 && bytes.HasPrefix(l.rest, []byte(s.open[n-1].name))) // the latter defines on, in Haskell
	for n > 0 && s.open[n-1].indent >= l.indent && !closes {
		n--
	}
	ended := n < len(s.open)
	s.open = s.open[:n]
	switch {
	case name != "" && n < maxOpen:
		s.open = append(s.open, definition{l.indent, name})
	case !ended:
		return
	}
	at := l.start
	if s.comment >= 0 {
		at = s.comment
	}
	s.places = append(s.places, place{at: at, path: s.path()})
}

// path returns the names of the open definitions.
func (s *codeScanner) path() []string {
	var path []string
	for _, d := range s.open {
		path = append(path, d.name)
	}
	return path
}

// commentMarks begin a line that belongs to the definition below it.
var commentMarks = []string{"//", "#", "/*", "*", "--", ";", "%", "@", "\"", "'''", "(*", "{-", "template", "[<"}

func isComment(line []byte) bool {
	if bytes.HasPrefix(line, []byte("@interface")) || bytes.HasPrefix(line, []byte("@implementation")) || bytes.HasPrefix(line, []byte("@protocol")) {
		return false
	}
	for _, m := range commentMarks {
		if bytes.HasPrefix(line, []byte(m)) {
			return true
		}
	}
	return false
}

// isCloser says that a line belongs to the definition it stands below of.
func isCloser(line []byte) bool {
	if strings.IndexByte("{})]<:,>|&.+-\\", line[0]) >= 0 {
		return true
	}
	n := 0
	for n < len(line) && (line[n]|0x20) >= 'a' && (line[n]|0x20) <= 'z' {
		n++
	}
	return closers[string(line[:n])]
}

// closers are words that stand at the indent of the definition they are part of.
var closers = setOf(`end END End begin BEGIN Begin else elif elsif rescue ensure catch finally except do then fi done esac where public private protected
	endfunction endfunc endf endif endclass endmodule endtask endpackage endproc EndFunction Next Loop Wend`)

// definedIn returns the name that a line defines, or "".
func definedIn(defs []pattern, line []byte, indent int) string {
	for _, p := range defs {
		if p.top && indent > 0 {
			continue
		}
		m := p.FindSubmatch(line)
		if m == nil {
			continue
		}
		var names []string
		for _, part := range m[1:] {
			if len(part) > 0 {
				names = append(names, fold(string(part)))
			}
		}
		if name := strings.Trim(strings.Join(names, "."), "\"`[]'"); name != "" && !control[name] {
			return name
		}
	}
	return ""
}

// control are words that look like a function's name in front of its brackets.
var control = setOf("if for while switch catch return else do sizeof function foreach using lock match with elif unless until synchronized defined case when assert throw new delete typeof await yield")
