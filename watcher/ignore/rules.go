package ignore

import (
	"bytes"
	"runtime"
	"strings"
)

// foldNames says that names which differ in ASCII case alone are one name here.
const foldNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// rule is one line of a rule file.
type rule struct {
	text    string // as written, without line end and trailing blanks
	line    int    // 1-based
	negate  bool   // "!": re-includes
	dirOnly bool   // "/" at the end: directories alone
	base    bool   // no other "/": the last element is matched, at any depth
	exact   bool   // no wildcard: prefix is all there is
	prefix  string // what the name begins with, matched byte by byte
	toks    []token
	least   int // bytes that toks consume at least
}

// ruleList is one rule file as read.
type ruleList struct {
	source string // as shown in reasons: relative to the folder, or absolute
	rules  []rule
	long   *lookups // of a list that is not short
}

func newRuleList(source string, rules []rule) *ruleList {
	l := &ruleList{source: source, rules: rules}
	if len(rules) > fewRules {
		l.long = newLookups(rules)
	}
	return l
}

// last is the last rule that matches, or nil. name is slash-separated and
// relative to the directory of the list; base is its last element.
func (l *ruleList) last(name, base string, dir bool) *rule {
	if l.long != nil {
		return l.long.lastOf(l.rules, name, base, dir)
	}
	for i := len(l.rules) - 1; i >= 0; i-- {
		if r := &l.rules[i]; r.matches(name, base, dir) {
			return r
		}
	}
	return nil
}

func (r *rule) matches(name, base string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.base {
		name = base
	}
	if r.exact {
		return name == r.prefix
	}
	rest, ok := strings.CutPrefix(name, r.prefix)
	return ok && len(rest) >= r.least && match(r.toks, rest)
}

// parseRules reads a rule file as git does: a byte order mark is skipped, a
// carriage return before a line feed belongs to the line end, blanks at the end
// of a line do not count unless quoted, and a NUL ends a line. Lines that can
// match nothing are left out.
func parseRules(data []byte, fold bool) []rule {
	var rules []rule
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := 1; len(data) > 0; line++ {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		text = bytes.TrimSuffix(text, []byte("\r"))
		text, _, _ = bytes.Cut(text, []byte{0})
		if r, ok := parseRule(trimBlanks(string(text)), fold); ok {
			r.line = line
			rules = append(rules, r)
		}
	}
	return rules
}

// trimBlanks cuts the blanks at the end of a line, but one that a backslash quotes.
func trimBlanks(s string) string {
	end := 0 // after the last byte to keep
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			end = min(i+1, len(s))
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

// parseRule reads one line; ok is false for one that can match nothing.
func parseRule(text string, fold bool) (r rule, ok bool) {
	r.text = text
	text, r.negate = strings.CutPrefix(text, "!")
	text, r.dirOnly = strings.CutSuffix(text, "/")
	r.base = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return r, false
	}
	// Git takes the literal beginning off before it looks at the wildcards, so
	// that stars after it stand at the beginning of a pattern: "a**/b" matches
	// "a/x/b". Names without a slash are matched whole, where it is the same.
	n := strings.IndexAny(text, `*?[\`)
	if n < 0 {
		n = len(text)
	}
	r.toks, ok = compile(text[n:], !r.base, fold)
	if !ok {
		return r, false
	}
	if fold {
		head := compileLiteral(text[:n])
		r.toks = append(head, r.toks...)
	} else {
		r.prefix = text[:n]
	}
	r.exact = len(r.toks) == 0
	r.least = least(r.toks)
	return r, true
}

// compileLiteral compiles text without wildcards, ignoring ASCII case.
func compileLiteral(text string) []token {
	toks := make([]token, len(text))
	for i := range toks {
		toks[i] = literalToken(text[i], true)
	}
	return toks
}
