package ignore

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of one glob may expand to.
const maxAlternatives = 256

// globs are the include or exclude globs of a folder, matched a path element at
// a time: a state is the set of places in the globs that a directory has come to.
type globs struct {
	pats []glob
	size int // places in all
}

// glob is one pattern, cut at its slashes.
type glob struct {
	text string // as its owner wrote it
	elem []element
	at   int // its first place in a state; the last means "matched"
	done int // from this element on nothing more is needed: they are all "**"
}

// element is the pattern for one path element.
type element struct {
	text    string
	literal string // unquoted, when there is no wildcard
	plain   bool   // it has none
	deep    bool   // "**": any number of elements
}

// bar is what stands against a name beside the globs: only an element that
// names it explicitly lifts it.
type bar struct {
	rule   *builtin
	hidden bool
}

func (b bar) up() bool { return b.rule != nil || b.hidden }

func (b bar) reason() string {
	if b.rule != nil {
		return b.rule.reason()
	}
	return "hidden file"
}

// matches reports whether the element matches the name and lifts the bar.
func (e *element) matches(name string, b bar) bool {
	if e.plain {
		return e.literal == name
	}
	if b.rule != nil && b.rule.pattern != e.text || b.hidden && !strings.HasPrefix(e.text, ".") {
		return false
	}
	return doublestar.MatchUnvalidated(e.text, name)
}

// state is a set of places, a bit each. It is never changed once made.
type state []uint64

func (s state) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s state) add(i int)      { s[i>>6] |= 1 << (i & 63) }

func (s state) equal(o state) bool {
	for i := range s {
		if s[i] != o[i] {
			return false
		}
	}
	return true
}

// newGlobs compiles globs; key is the config key for errors.
func newGlobs(key string, texts []string) (*globs, error) {
	g := &globs{}
	for _, text := range texts {
		alternatives, err := expand(text)
		for _, alt := range alternatives {
			var elems []element
			if err == nil {
				elems, err = elements(alt)
			}
			g.pats = append(g.pats, newGlob(text, elems, g.size))
			g.size += len(elems) + 1
		}
		if err != nil {
			return nil, fmt.Errorf("%s = %q: %w", key, text, err)
		}
	}
	return g, nil
}

func newGlob(text string, elems []element, at int) glob {
	done := len(elems)
	for done > 0 && elems[done-1].deep {
		done--
	}
	return glob{text: text, elem: elems, at: at, done: done}
}

// ErrPattern is wrapped by the errors of New for a glob that cannot be read.
var ErrPattern = errors.New("not a valid pattern")

// elements cuts a pattern without braces. A pattern that ends in "/" or in a
// plain name stands for what lies below it as well.
func elements(text string) ([]element, error) {
	var elems []element
	for part := range strings.SplitSeq(text, "/") {
		switch {
		case part == "" || part == ".":
			continue
		case part == "..":
			return nil, fmt.Errorf("%w: it leaves the folder", ErrPattern)
		case !doublestar.ValidatePattern(part):
			return nil, fmt.Errorf("%w: %q", ErrPattern, part)
		}
		e := element{text: part, deep: part == "**"}
		e.literal, e.plain = unquote(part)
		elems = append(elems, e)
	}
	if len(elems) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrPattern)
	}
	if last := elems[len(elems)-1]; last.plain || strings.HasSuffix(text, "/") {
		elems = append(elems, element{text: "**", deep: true})
	}
	return elems, nil
}

// unquote takes the backslashes out of a name; ok is false when it has wildcards.
func unquote(part string) (name string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(part) {
				return "", false
			}
		}
		b.WriteByte(part[i])
	}
	return b.String(), true
}

// start is the state of the folder itself.
func (g *globs) start() state {
	s := make(state, (g.size+63)/64)
	for i := range g.pats {
		s.add(g.pats[i].at)
		g.pats[i].pass(s)
	}
	return s
}

// pass lets "**" stand for nothing.
func (p *glob) pass(s state) {
	for i := range p.elem {
		if p.elem[i].deep && s.has(p.at+i) {
			s.add(p.at + i + 1)
		}
	}
}

// into is the state of the directory name in a directory of state s.
func (g *globs) into(s state, name string, b bar) state {
	next := make(state, len(s))
	for i := range g.pats {
		p := &g.pats[i]
		for j := range p.elem {
			switch e := &p.elem[j]; {
			case !s.has(p.at + j):
			case !e.deep && e.matches(name, b):
				next.add(p.at + j + 1)
			case e.deep && !b.up():
				next.add(p.at + j)
			}
		}
		p.pass(next)
	}
	if next.equal(s) {
		return s
	}
	return next
}

// open reports whether something below a directory of state s can match.
func (g *globs) open(s state) bool {
	for i := range g.pats {
		for j := range g.pats[i].elem {
			if s.has(g.pats[i].at + j) {
				return true
			}
		}
	}
	return false
}

// find is the first glob that matches name in a directory of state s, or nil.
func (g *globs) find(s state, name string, b bar) *glob {
	for i := range g.pats {
		p := &g.pats[i]
		for j := range p.elem {
			if !s.has(p.at + j) {
				continue
			}
			switch e := &p.elem[j]; {
			case e.deep && j >= p.done && !b.up(),
				!e.deep && j+1 >= p.done && e.matches(name, b):
				return p
			}
		}
	}
	return nil
}

// expand writes out the alternatives in braces; a backslash quotes, and in
// brackets a brace is a byte like any other.
func expand(text string) ([]string, error) {
	done, todo := []string(nil), []string{text}
	for len(todo) > 0 {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		alternatives, err := expandFirst(last)
		if err != nil {
			return nil, err
		}
		if alternatives == nil {
			done = append(done, last)
		}
		todo = append(todo, alternatives...)
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("%w: its braces expand to more than %d patterns", ErrPattern, maxAlternatives)
		}
	}
	return done, nil
}

// expandFirst writes out the first pair of braces; nil when there is none.
func expandFirst(text string) ([]string, error) {
	open, depth, from := -1, 0, 0
	var parts []string
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '[':
			i = skipSet(text, i)
		case c == '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case c == ',' && depth == 1:
			parts = append(parts, text[from:i])
			from = i + 1
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return join(text[:open], append(parts, text[from:i]), text[i+1:]), nil
			}
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("%w: a brace is not closed", ErrPattern)
	}
	return nil, nil
}

func join(before string, parts []string, after string) []string {
	for i, p := range parts {
		parts[i] = before + p + after
	}
	return parts
}

// skipSet returns the index of the bracket that closes the one at text[i], or i
// when none does.
func skipSet(text string, i int) int {
	j := i + 1
	if j < len(text) && (text[j] == '!' || text[j] == '^') {
		j++
	}
	for first := true; j < len(text); first = false {
		switch {
		case text[j] == ']' && !first:
			return j
		case text[j] == '\\':
			j++
		}
		j++
	}
	return i
}

// cleanRel cleans a path relative to the folder; ok is false outside of it.
func cleanRel(rel string) (string, bool) {
	if rel == "" {
		return ".", true
	}
	if rel[0] == '/' {
		return "", false
	}
	clean := path.Clean(rel)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}
