package ignore

import "strings"

// op is what a token of a compiled pattern consumes.
type op uint8

const (
	opByte op = iota // the byte b
	opAny            // one byte but '/'
	opSet            // one byte of set
	opStar           // any number of bytes but '/'
	opDeep           // any number of bytes
	opDirs           // nothing, or any number of bytes of which the last is '/'
)

// token is one step of a compiled pattern.
type token struct {
	op  op
	b   byte
	set *byteSet
}

// takes reports whether a token that consumes one byte consumes c.
func (t *token) takes(c byte) bool {
	switch t.op {
	case opByte:
		return t.b == c
	case opAny:
		return c != '/'
	default:
		return t.set.has(c)
	}
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) del(c byte)      { s[c>>6] &^= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s.add(byte(c))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// foldCase adds the other case of every ASCII letter in the set.
func (s *byteSet) foldCase() {
	for c := byte('a'); c <= 'z'; c++ {
		if upper := c - 'a' + 'A'; s.has(c) || s.has(upper) {
			s.add(c)
			s.add(upper)
		}
	}
}

// compile turns a wildcard pattern into tokens; ok is false for a pattern that
// can match nothing (an open bracket, an unknown class, a backslash at the end).
// With deep, "**" standing alone between slashes crosses directories; without,
// it is one "*". fold ignores ASCII case.
//
// Bytes, not characters, are matched, as in git: "?" is one byte.
func compile(p string, deep, fold bool) (toks []token, ok bool) {
	for i := 0; i < len(p); {
		switch p[i] {
		case '*':
			var t token
			t, i = compileStars(p, i, deep)
			// "**/**/" is "**/": matching stays in proportion to what is left.
			if t.op != opDirs || len(toks) == 0 || toks[len(toks)-1].op != opDirs {
				toks = append(toks, t)
			}
		case '?':
			toks = append(toks, token{op: opAny})
			i++
		case '[':
			set, n := compileSet(p[i:], fold)
			if n == 0 {
				return nil, false
			}
			toks = append(toks, token{op: opSet, set: set})
			i += n
		case '\\':
			if i+1 == len(p) {
				return nil, false
			}
			toks = append(toks, literalToken(p[i+1], fold))
			i += 2
		default:
			toks = append(toks, literalToken(p[i], fold))
			i++
		}
	}
	return toks, true
}

// compileStars compiles the run of stars at p[i:] and returns the index after it.
func compileStars(p string, i int, deep bool) (token, int) {
	end := i
	for end < len(p) && p[end] == '*' {
		end++
	}
	alone := end-i >= 2 && (i == 0 || p[i-1] == '/')
	switch {
	case !deep || !alone:
		return token{op: opStar}, end
	case end == len(p), strings.HasPrefix(p[end:], `\/`):
		return token{op: opDeep}, end
	case p[end] == '/':
		return token{op: opDirs}, end + 1
	}
	return token{op: opStar}, end
}

func literalToken(c byte, fold bool) token {
	if !fold || !isLetter(c) {
		return token{op: opByte, b: c}
	}
	set := new(byteSet)
	set.add(c)
	set.foldCase()
	return token{op: opSet, set: set}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// least is the number of bytes that toks consume at least.
func least(toks []token) int {
	n := 0
	for i := range toks {
		if toks[i].op <= opSet {
			n++
		}
	}
	return n
}

// match reports whether toks consume all of s.
//
// It never goes back beyond the last star of the directory level it is in, or
// the last token that crosses levels: whatever the tokens before it consumed, an
// earlier place would leave the star the same rest or a longer one. So the time
// is at most len(toks) × len(s) for each level of s, for any pattern.
func match(toks []token, s string) bool {
	t, i := 0, 0
	star, starAt := -1, 0 // the token after the last opStar, and where it was tried
	deep, deepAt := -1, 0 // the same for opDeep and opDirs
	for {
		if t == len(toks) {
			if i == len(s) {
				return true
			}
		} else if k := &toks[t]; k.op == opStar {
			t++
			star, starAt = t, i
			continue
		} else if k.op > opStar {
			t++
			deep, deepAt, star = t, i, -1
			continue
		} else if i < len(s) && k.takes(s[i]) {
			t++
			i++
			continue
		}
		switch {
		case star >= 0 && starAt < len(s) && s[starAt] != '/':
			starAt++
			t, i = star, starAt
		case deep >= 0 && deepAt < len(s):
			deepAt = later(toks[deep-1].op, s, deepAt)
			if deepAt < 0 {
				return false
			}
			t, i, star = deep, deepAt, -1
		default:
			return false
		}
	}
}

// later is the next place after from at which a token that crosses levels may
// stop consuming, or -1.
func later(o op, s string, from int) int {
	if o == opDeep {
		return from + 1
	}
	if n := strings.IndexByte(s[from:], '/'); n >= 0 {
		return from + n + 1
	}
	return -1
}
