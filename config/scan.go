package config

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is where everything stands in a TOML text.
type document struct {
	text       string
	root       *node
	statements []statement
	// wrong is the first fault that the parser lets pass, or nil: it accepts
	// some keys defined twice, and loses values beside empty keys.
	wrong *Error
}

// statement is a header or a key with its value.
type statement struct {
	header bool // [key] or [[key]]
	array  bool // [[key]]
	key    []string
	line   int // of its first byte, 1-based
	// start and end bound its whole lines, line end and comment included.
	start, end int
}

// node is the place of a value: it has the shape of the value it stands for,
// keys for a table, elems for an array.
type node struct {
	line   int
	keys   map[string]*node
	elems  []*node
	tables bool // elems were written [[key]]
	closed bool // written key = value: nothing may be added
}

// child returns the node of a key, made if missing. The keys of an array of
// tables are those of its last table, as in TOML.
func (n *node) child(key string, line int) *node {
	if n.tables {
		n = n.elems[len(n.elems)-1]
	}
	c := n.keys[key]
	if c == nil {
		c = &node{line: line}
		if n.keys == nil {
			n.keys = make(map[string]*node)
		}
		n.keys[key] = c
	}
	return c
}

// get returns the node of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	return n.keys[key]
}

// at returns the node of an array's element, or nil.
func (n *node) at(i int) *node {
	if n == nil || i >= len(n.elems) {
		return nil
	}
	return n.elems[i]
}

// lineOr returns the node's line, or fallback for none.
func (n *node) lineOr(fallback int) int {
	if n == nil {
		return fallback
	}
	return n.line
}

// scanner walks TOML text that the toml package has accepted. It therefore
// checks hardly anything: on text that is not TOML its answers are meaningless, but it
// ends, since every step moves forward.
type scanner struct {
	text    string
	pos     int
	line    int // at counted
	counted int
	wrong   *Error
}

const byteOrderMark = "\ufeff"

// scan returns where everything stands in text, which must be valid TOML.
func scan(text string) *document {
	s := &scanner{text: text, line: 1}
	if strings.HasPrefix(text, byteOrderMark) {
		s.pos = len(byteOrderMark)
	}
	doc := &document{text: text, root: &node{line: 1}}
	table := doc.root
	for s.skipBlank(); s.pos < len(s.text); s.skipBlank() {
		st := statement{line: s.here(), start: s.lineStart()}
		if s.peek() == '[' {
			table = s.header(&st, doc.root)
		} else {
			st.key = s.pair(table)
		}
		s.skipLine()
		st.end = s.pos
		doc.statements = append(doc.statements, st)
	}
	doc.wrong = s.wrong
	return doc
}

// header reads [a.b] or [[a.b]] and returns the node of its table.
func (s *scanner) header(st *statement, root *node) *node {
	st.header = true
	s.pos++
	if st.array = s.peek() == '['; st.array {
		s.pos++
	}
	st.key = s.key()
	n := root
	for _, k := range st.key {
		n = n.child(k, st.line)
		s.refuseIf(n.closed, st.line, st.key)
	}
	if !st.array {
		n.line = st.line
		return n
	}
	table := &node{line: st.line}
	n.elems, n.tables = append(n.elems, table), true
	return table
}

// pair reads key = value into a table and returns the key.
func (s *scanner) pair(table *node) []string {
	line := s.here()
	key := s.key()
	for _, k := range key {
		table = table.child(k, line)
		s.refuseIf(table.closed, line, key)
	}
	s.refuseIf(table.keys != nil || table.elems != nil, line, key)
	s.skipSpace()
	s.pos = min(s.pos+1, len(s.text)) // =
	s.skipSpace()
	s.value(table)
	table.closed = true
	return key
}

// refuseIf notes that a key is defined twice.
func (s *scanner) refuseIf(defined bool, line int, key []string) {
	if defined {
		s.refuse(line, "key %s has already been defined", toml.Key(key))
	}
}

func (s *scanner) refuse(line int, format string, args ...any) {
	if s.wrong == nil {
		s.wrong = &Error{Line: line, Message: fmt.Sprintf(format, args...)}
	}
}

// value reads a value and notes in n where its parts stand.
func (s *scanner) value(n *node) {
	switch s.peek() {
	case '"', '\'':
		s.str()
	case '[':
		s.list(']', func() {
			e := &node{line: s.here()}
			s.value(e)
			n.elems = append(n.elems, e)
		})
	case '{':
		s.list('}', func() { s.pair(n) })
	default:
		// A number, a boolean or a date, which may hold a space.
		s.skipUntil(",]}#\r\n")
	}
}

// list reads the items of an array or of an inline table.
func (s *scanner) list(end byte, item func()) {
	s.pos++
	for s.skipBlank(); s.pos < len(s.text); s.skipBlank() {
		switch s.peek() {
		case end:
			s.pos++
			return
		case ',':
			s.pos++
		default:
			before := s.pos
			item()
			if s.pos == before {
				s.pos++ // only for text that is not TOML
			}
		}
	}
}

// key reads a key, dotted or not.
func (s *scanner) key() []string {
	var key []string
	for {
		s.skipSpace()
		start := s.pos
		if c := s.peek(); c == '"' || c == '\'' {
			s.str()
			key = append(key, unquote(s.text[start:s.pos]))
		} else {
			s.skipUntil(".=] \t\r\n")
			key = append(key, s.text[start:s.pos])
		}
		if key[len(key)-1] == "" {
			s.refuse(s.here(), "a key is empty")
		}
		s.skipSpace()
		if s.peek() != '.' {
			return key
		}
		s.pos++
	}
}

// unquote returns what a quoted TOML string means.
func unquote(quoted string) string {
	var v struct{ S string }
	if _, err := toml.Decode("S = "+quoted, &v); err != nil {
		return quoted
	}
	return v.S
}

// str reads a string of any of the four kinds.
func (s *scanner) str() {
	quote := s.text[s.pos : s.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.pos:], triple) {
		s.pos += 3
		s.strEnd(triple)
		// Up to two more quotes belong to the string.
		for i := 0; i < 2 && s.pos < len(s.text) && s.text[s.pos:s.pos+1] == quote; i++ {
			s.pos++
		}
		return
	}
	s.pos++
	s.strEnd(quote)
}

// strEnd moves behind the end of a string.
func (s *scanner) strEnd(end string) {
	for s.pos < len(s.text) {
		switch {
		case strings.HasPrefix(s.text[s.pos:], end):
			s.pos += len(end)
			return
		case end[0] == '"' && s.text[s.pos] == '\\':
			s.pos = min(s.pos+2, len(s.text))
		default:
			s.pos++
		}
	}
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// here returns the line of the next byte.
func (s *scanner) here() int {
	s.line += strings.Count(s.text[s.counted:s.pos], "\n")
	s.counted = s.pos
	return s.line
}

// lineStart returns the offset at which the present line begins.
func (s *scanner) lineStart() int {
	start := strings.LastIndexByte(s.text[:s.pos], '\n') + 1
	if start == 0 && strings.HasPrefix(s.text, byteOrderMark) {
		return len(byteOrderMark)
	}
	return start
}

// skipBlank skips white space, line ends and comments.
func (s *scanner) skipBlank() {
	for {
		for strings.IndexByte(" \t\r\n", s.peek()) >= 0 && s.pos < len(s.text) {
			s.pos++
		}
		if s.peek() != '#' {
			return
		}
		s.skipLine()
	}
}

// skipLine moves to the beginning of the next line.
func (s *scanner) skipLine() {
	s.skipUntil("\n")
	s.pos = min(s.pos+1, len(s.text))
}

func (s *scanner) skipSpace() {
	for c := s.peek(); c == ' ' || c == '\t'; c = s.peek() {
		s.pos++
	}
}

// skipUntil moves to the next byte that is one of stops.
func (s *scanner) skipUntil(stops string) {
	if i := strings.IndexAny(s.text[s.pos:], stops); i >= 0 {
		s.pos += i
	} else {
		s.pos = len(s.text)
	}
}
