package ignore

import "strings"

// compileSet compiles the bracket expression at the start of p and returns its
// length, 0 when it has no end or names an unknown class. A slash is never in it.
func compileSet(p string, fold bool) (*byteSet, int) {
	r := setReader{p: p, i: 1, set: new(byteSet)}
	negate := r.i < len(p) && (p[r.i] == '!' || p[r.i] == '^')
	if negate {
		r.i++
	}
	// The first byte is a member even if it is ']'.
	for first := true; first || r.i < len(p) && p[r.i] != ']'; first = false {
		if !r.member() {
			return nil, 0
		}
	}
	if r.i >= len(p) {
		return nil, 0
	}
	if fold {
		r.set.foldCase()
	}
	if negate {
		r.set.invert()
	}
	r.set.del('/')
	return r.set, r.i + 1
}

// setReader reads the members of a bracket expression.
type setReader struct {
	p    string
	i    int
	prev byte // the member a range may begin with, 0 for none
	set  *byteSet
}

// member reads one member: a byte, the rest of a range, or a class.
func (r *setReader) member() bool {
	if r.i >= len(r.p) {
		return false
	}
	rest := r.p[r.i:]
	switch {
	case rest[0] == '-' && r.prev != 0 && len(rest) > 1 && rest[1] != ']':
		r.i++
		lo := r.prev
		hi, ok := r.literal()
		if ok {
			r.set.addRange(lo, hi)
		}
		r.prev = 0
		return ok
	case strings.HasPrefix(rest, "[:"):
		if handled, ok := r.class(rest); handled {
			return ok
		}
	}
	c, ok := r.literal()
	if ok {
		r.set.add(c)
		r.prev = c
	}
	return ok
}

// literal reads one byte, which a backslash may quote.
func (r *setReader) literal() (byte, bool) {
	if r.p[r.i] == '\\' {
		r.i++
	}
	if r.i >= len(r.p) {
		return 0, false
	}
	r.i++
	return r.p[r.i-1], true
}

// class reads "[:name:]". What does not end in ":]" is not one (handled is
// false), and its bracket is an ordinary member.
func (r *setReader) class(rest string) (handled, ok bool) {
	end := strings.IndexByte(rest[2:], ']')
	if end < 0 {
		return true, false
	}
	name, isClass := strings.CutSuffix(rest[2:2+end], ":")
	if !isClass {
		return false, false
	}
	in := classes[name]
	if in == nil {
		return true, false
	}
	for c := byte(0); c < 0x80; c++ {
		if in(c) {
			r.set.add(c)
		}
	}
	r.i += 2 + end + 1
	r.prev = 0
	return true, true
}

// classes are the POSIX classes, over ASCII; "space" is what git counts as
// white space: tab, line feed, carriage return and blank.
var classes = map[string]func(byte) bool{
	"alpha":  isLetter,
	"digit":  isDigit,
	"alnum":  func(c byte) bool { return isLetter(c) || isDigit(c) },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"space":  isSpace,
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"print":  isPrint,
	"graph":  func(c byte) bool { return isPrint(c) && c != ' ' },
	"punct":  func(c byte) bool { return isPrint(c) && c != ' ' && !isLetter(c) && !isDigit(c) },
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isPrint(c byte) bool { return ' ' <= c && c <= '~' }
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
