// Package strict reads JSON that comes from outside. It refuses what
// encoding/json lets pass: names that differ in case from the field's,
// duplicate names, invalid UTF-8, unpaired surrogates and unbounded nesting.
// Whatever it accepts, encoding/json accepts too, with the same meaning.
package strict

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of arrays and objects, so that no input can
// exhaust the stack.
const MaxDepth = 64

// SyntaxError says where data stops being acceptable JSON.
type SyntaxError struct {
	Offset int // in bytes, from 0
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Msg, e.Offset) }

// FieldError says that a value has no place in the type it is read into.
type FieldError struct {
	Path string // such as "folders[2].name"
	Msg  string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value []byte // as it stands in the input
}

// Members checks that data is exactly one JSON object and returns its members
// in their order. The values share data's memory.
func Members(data []byte) ([]Member, error) {
	s := scanner{data: data}
	var members []Member
	s.space()
	err := s.object(nil, func(name string, value []byte) {
		members = append(members, Member{name, value})
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return members, nil
}

// Elements checks that data is exactly one JSON array and returns its
// elements. They share data's memory.
func Elements(data []byte) ([][]byte, error) {
	s := scanner{data: data}
	var elements [][]byte
	s.space()
	err := s.array(nil, func(value []byte) { elements = append(elements, value) })
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return elements, nil
}

// Check checks that data is exactly one JSON value.
func Check(data []byte) error { return check(data, nil) }

func check(data []byte, sh *shape) error {
	s := scanner{data: data}
	s.space()
	if err := s.value(sh); err != nil {
		return err
	}
	return s.end()
}

// scanner walks over a JSON text once, front to back.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) fail(format string, args ...any) error {
	return &SyntaxError{Offset: s.pos, Msg: fmt.Sprintf(format, args...)}
}

// unexpected reports the character at pos, or the end of the text.
func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.data) {
		return s.fail("the text ends where %s is expected", want)
	}
	r, n := utf8.DecodeRune(s.data[s.pos:])
	if r == utf8.RuneError && n <= 1 {
		return s.fail("invalid UTF-8 where %s is expected", want)
	}
	return s.fail("%q where %s is expected", r, want)
}

func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// end checks that only white space is left.
func (s *scanner) end() error {
	s.space()
	if s.pos < len(s.data) {
		return s.unexpected("the end")
	}
	return nil
}

// value walks over one value of the given shape; a nil shape takes any.
func (s *scanner) value(sh *shape) error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(sh, nil)
	case c == '[':
		return s.array(sh, nil)
	case c == '"':
		return s.str()
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.unexpected("a value")
}

// open enters an array or object at its first byte.
func (s *scanner) open(c byte, what string) error {
	if s.peek() != c {
		return s.unexpected(what)
	}
	if s.depth++; s.depth > MaxDepth {
		return s.fail("nested deeper than %d levels", MaxDepth)
	}
	s.pos++
	s.space()
	return nil
}

// next steps over what follows a member or element and reports whether
// another one comes.
func (s *scanner) next(closing byte, want string) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		s.space()
		return true, nil
	case closing:
		s.pos++
		s.depth--
		return false, nil
	}
	return false, s.unexpected(want)
}

func (s *scanner) object(sh *shape, visit func(name string, value []byte)) error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.pos++
		s.depth--
		return nil
	}
	var seen names
	for more := true; more; {
		name, start, err := s.member(sh, &seen)
		if err != nil {
			return err
		}
		if visit != nil {
			visit(name, s.data[start:s.pos])
		}
		if more, err = s.next('}', `"," or "}"`); err != nil {
			return err
		}
	}
	return nil
}

// member walks over one name and value; start is where the value begins.
func (s *scanner) member(sh *shape, seen *names) (name string, start int, err error) {
	at := s.pos
	if name, err = s.name(); err != nil {
		return "", 0, err
	}
	if !seen.add(name) {
		s.pos = at
		return "", 0, s.fail("the name %q comes twice in one object", name)
	}
	s.space()
	if s.peek() != ':' {
		return "", 0, s.unexpected(`":"`)
	}
	s.pos++
	s.space()
	start = s.pos
	inner, known := sh.member(name)
	if !known {
		return "", 0, &FieldError{Path: name, Msg: "unknown field" + sh.hint(name)}
	}
	if err := s.value(inner); err != nil {
		return "", 0, within(name, err)
	}
	return name, start, nil
}

func (s *scanner) name() (string, error) {
	if s.peek() != '"' {
		return "", s.unexpected("a name in quotes")
	}
	start := s.pos
	if err := s.str(); err != nil {
		return "", err
	}
	return text(s.data[start:s.pos]), nil
}

func (s *scanner) array(sh *shape, visit func(value []byte)) error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.pos++
		s.depth--
		return nil
	}
	inner := sh.elem()
	for i, more := 0, true; more; i++ {
		start := s.pos
		err := s.value(inner)
		if err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
		if visit != nil {
			visit(s.data[start:s.pos])
		}
		if more, err = s.next(']', `"," or "]"`); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) literal(word string) error {
	for i := range len(word) {
		if s.peek() != word[i] {
			return s.unexpected("the word " + word)
		}
		s.pos++
	}
	return nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) digits() error {
	if !isDigit(s.peek()) {
		return s.unexpected("a digit")
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return nil
}

func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++ // no digit may follow a leading zero
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.peek()|0x20 != 'e' {
		return nil
	}
	s.pos++
	if c := s.peek(); c == '+' || c == '-' {
		s.pos++
	}
	return s.digits()
}

// text returns what a checked string literal stands for.
func text(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	for _, c := range inner {
		if c == '\\' {
			var out string
			// It cannot fail: the literal was checked.
			_ = json.Unmarshal(literal, &out)
			return out
		}
	}
	return string(inner)
}

// names is a set of strings that is cheap while it is small.
type names struct {
	few  []string
	many map[string]struct{}
}

const fewNames = 24

// add reports whether name is new.
func (n *names) add(name string) bool {
	if n.many == nil && len(n.few) < fewNames {
		for _, f := range n.few {
			if f == name {
				return false
			}
		}
		n.few = append(n.few, name)
		return true
	}
	if n.many == nil {
		n.many = make(map[string]struct{}, 2*fewNames)
		for _, f := range n.few {
			n.many[f] = struct{}{}
		}
	}
	if _, ok := n.many[name]; ok {
		return false
	}
	n.many[name] = struct{}{}
	return true
}
