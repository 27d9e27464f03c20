package ignore

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// TestRuleSyntax has the cases of gitignore(5) and the less known ones of its
// implementation. A name that ends in a slash is a directory.
func TestRuleSyntax(t *testing.T) {
	tests := []struct {
		rules   string
		matches string // separated by commas
		not     string
	}{
		{"a", "a,a/,x/a", "b,ab,a2"},
		{"a/", "a/,x/a/", "a,x/a"},
		{"/a", "a,a/", "x/a"},
		{"x/a", "x/a", "a,y/x/a"},
		{"x//", "", "x,x/,x/a"},
		{"*.c", "a.c,x/a.c,.c", "a.cc"},
		{"a*b*c", "abc,axbxc,abbc,abcbc", "ab,abcd"},
		{"x/*", "x/a,x/b/", "x/a/b,x/"},
		{"x/**", "x/a,x/a/b", "x,x/"},
		{"**/a", "a,x/a,x/y/a", "ba"},
		{"x/**/a", "x/a,x/y/a,x/y/z/a", "xa,y/x/a"},
		{"**/x/**/a", "x/a,y/x/z/a", "a"},
		{"**/**/a", "a,x/y/a", "b"},
		{"x/**a", "x/a,x/ba", "x/y/a"},
		{"x**/a", "x/y/a,x/a,xa", "y/a"}, // the literal beginning is taken off first
		{"/**", "a,x/a", ""},
		{"**", "a,x/a", ""},
		{"a?c", "abc,a.c", "ac,a/c,aéc"}, // é is two bytes
		{"x/a?", "x/ab", "x/a/"},
		{"[ab]c", "ac,bc", "cc"},
		{"[!ab]c", "cc", "ac,bc"},
		{"[^a-c]x", "dx", "ax,bx"},
		{"[]-]x", "]x,-x", "ax"},
		{"[a-]x", "-x,ax", "bx"},
		{"[a\\-c]x", "ax,-x,cx", "bx"},
		{"[[:digit:][:upper:]]x", "1x,Ax", "ax"},
		{"[[:nope:]]", "", "n,:"},
		{"[[:a]", "[,:,a", "b"},
		{"[a", "", "[a,a"},
		{"x[/]y", "", "x/y"},
		{"\\#a\n\\!b", "#a,!b", "a,b"},
		{"#a", "", "#a,a"},
		{"\\*", "*", "a"},
		{"a\\", "", "a,a\\"},
		{"a \n", "a", "a "},
		{"a\\ ", "a ", "a"},
		{"a\\  ", "a ", "a,a  "},
		{"a\t", "a\t", "a"},
		{"a\r\n", "a", "a\r"},
		{"a\r\r\n", "a\r", "a"},
		{"a\r", "a", "a\r"},
		{"\ufeffa", "a", "\ufeffa"},
		{"a\x00b\nc", "a,c", "b,ab"},
		{"*\n!b\n", "a", "b,x/b"},
		{"!b\n*\n", "a,b", ""},
		{"*\n!*/\n", "a", "a/"},
		{"\n \n/\n!\n", "", "a, "},
	}
	for _, tt := range tests {
		l := &ruleList{rules: parseRules([]byte(tt.rules), false)}
		check := func(names string, want bool) {
			for name := range strings.SplitSeq(names, ",") {
				clean, isDir := strings.CutSuffix(name, "/")
				r := l.last(clean, filepath.Base(clean), isDir)
				if got := r != nil && !r.negate; got != want && name != "" {
					t.Errorf("%q ignores %q: %v, want %v", tt.rules, name, got, want)
				}
			}
		}
		check(tt.matches, true)
		check(tt.not, false)
	}
}

func TestRuleLines(t *testing.T) {
	rules := parseRules([]byte("# c\n\na\n[\n!b/\r\nc"), false)
	if got := fmt.Sprintf("%d: %d %d %q %d", len(rules), rules[0].line, rules[1].line, rules[1].text, rules[2].line); got != `3: 3 5 "!b/" 6` {
		t.Error(got)
	}
}

func TestFoldCase(t *testing.T) {
	l := &ruleList{rules: parseRules([]byte("*.LOG\nBuild\n/x/[a-c]Y\n!Keep.log\n"), true)}
	for name, want := range map[string]bool{"a.log": true, "A.Log": true, "bUILD": true, "X/By": true, "x/dy": false, "KEEP.LOG": false, "é.log": true} {
		r := l.last(name, filepath.Base(name), false)
		if got := r != nil && !r.negate; got != want {
			t.Errorf("%q is ignored: %v", name, got)
		}
	}
}

// slow is the definition of what tokens match, without regard to time.
func slow(toks []token, s string) bool {
	if len(toks) == 0 {
		return s == ""
	}
	rest := toks[1:]
	switch k := &toks[0]; k.op {
	case opStar, opDeep:
		for i := 0; ; i++ {
			if slow(rest, s[i:]) {
				return true
			}
			if i == len(s) || k.op == opStar && s[i] == '/' {
				return false
			}
		}
	case opDirs:
		for i := range s {
			if s[i] == '/' && slow(rest, s[i+1:]) {
				return true
			}
		}
		return slow(rest, s)
	default:
		return s != "" && k.takes(s[0]) && slow(rest, s[1:])
	}
}

// The fast matcher agrees with the definition.
func TestMatchIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from string, n int) string {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		return string(b)
	}
	matched := 0
	for range 200_000 {
		p, s := pick("ab/***?", 9), pick("aab/", 9)
		toks, _ := compile(p, true, false)
		got := match(toks, s)
		if got != slow(toks, s) {
			t.Fatalf("pattern %q, name %q: %v", p, s, got)
		}
		if got {
			matched++
		}
	}
	if matched < 5000 {
		t.Errorf("only %d matches: the generator proves too little", matched)
	}
}

// Patterns that make a backtracking matcher take exponential time.
func TestHostilePatternsEnd(t *testing.T) {
	if toks, _ := compile(strings.Repeat("**/", 100)+"b", true, false); len(toks) != 2 {
		t.Errorf("%d tokens where two say the same", len(toks))
	}
	name := strings.Repeat("a", 2000)
	deep := strings.Repeat("a/", 1000)
	mustEnd(t, "matching", func() {
		for _, p := range []string{
			strings.Repeat("a*", 500) + "b", strings.Repeat("*a", 500) + "*b", strings.Repeat("[a-z]*?", 300) + "b", strings.Repeat("*?", 500) + "b",
		} {
			if l := parseRules([]byte(p), false); l[0].matches(name, name, false) {
				t.Errorf("%.20q... matches", p)
			}
		}
		for _, p := range []string{
			strings.Repeat("**/", 500) + "b", strings.Repeat("**/a/", 100) + "b", strings.Repeat("**/*a*/", 100) + "b", strings.Repeat("a/*/", 100) + "**/b", "x/" + strings.Repeat("**/", 1<<17),
		} {
			if l := parseRules([]byte(p), false); l[0].matches(deep+"a", "a", false) {
				t.Errorf("%.20q... matches", p)
			}
		}
	})
}

// Include globs are bounded as well.
func TestHostileGlobsEnd(t *testing.T) {
	root := t.TempDir()
	mustEnd(t, "a glob", func() {
		f, err := New(Options{Root: root, Include: []string{strings.Repeat("**/", 300) + "b", strings.Repeat("a*", 300) + "b"}, Exclude: []string{strings.Repeat("**/a*a*/", 100) + "b"}})
		if err != nil {
			t.Error(err)
			return
		}
		f.File(strings.Repeat("a/", 300) + "c")
		f.File(strings.Repeat("a", 2000))
	})
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"a\n!b/\n", "**/a\\ \r\n[!a-z[:digit:]]*", "\ufeff/x**/y\x00z", "[a\n[[:\n\\", "a*a*a*a*b"} {
		f.Add([]byte(s), "x/ab")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		for _, fold := range []bool{false, true} {
			for _, r := range parseRules(data, fold) {
				base := name[strings.LastIndexByte(name, '/')+1:]
				got := r.matches(name, base, true)
				if fold && got != r.matches(strings.ToUpper(name), strings.ToUpper(base), true) && isASCII(name) {
					t.Errorf("rule %q: case matters for %q", r.text, name)
				}
				if !fold && len(name) < 16 && len(r.toks) < 16 {
					full := name
					if r.base {
						full = base
					}
					rest, ok := strings.CutPrefix(full, r.prefix)
					if want := ok && slow(r.toks, rest); got != want {
						t.Errorf("rule %q, name %q: %v, by definition %v", r.text, name, got, want)
					}
				}
			}
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

func FuzzGlob(f *testing.F) {
	for _, s := range []string{"**", "a/{b,c{d,e}}/**/*.md", "[{]}", "\\{a,b}", "{,a}/", "a/[b/c]", ".x*/[!a]"} {
		f.Add(s, "a/b/x.md")
	}
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, glob, name string) {
		in, err := New(Options{Root: root, Include: []string{glob}, Hidden: true})
		if err != nil {
			return
		}
		ex, err := New(Options{Root: root, Exclude: []string{glob}, Hidden: true})
		if err != nil {
			t.Fatalf("%q is an include glob and no exclude glob: %v", glob, err)
		}
		in.Reason(name)
		if in.File(name) && ex.File(name) {
			t.Errorf("%q is included and not excluded by %q", name, glob)
		}
	})
}

func FuzzGitConfig(f *testing.F) {
	f.Add("[core]\nexcludesfile = \"~/a b\" # c\n")
	f.Add("[core] excludesfile=x\\\\y\n[core \"s\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if v, ok := coreExcludesFile(text); !ok && v != "" {
			t.Errorf("a value %q without a key", v)
		}
	})
}

func BenchmarkFile(b *testing.B) {
	root := b.TempDir()
	plant(b, root, map[string]string{".gitignore": "*.o\n*.a\n/build/\n!keep.o\n**/gen/*.go\nnode\ntmp*\n[._]*.s[a-v][a-z]\n", "a/b/.gitignore": "*.x\n"})
	f, err := New(Options{Root: root, Gitignore: true, Include: []string{"**"}, Exclude: []string{"drafts/**"}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !f.File("a/b/c/some-notes.md") {
			b.Fatal("not indexed")
		}
	}
}

func BenchmarkDir(b *testing.B) {
	root := b.TempDir()
	plant(b, root, map[string]string{".gitignore": "*.o\n", "a/b/c/": ""})
	f, err := New(Options{Root: root, Gitignore: true})
	if err != nil {
		b.Fatal(err)
	}
	f.File("a/b/c/x")
	b.ReportAllocs()
	for b.Loop() {
		if !f.Dir("a/b/c") {
			b.Fatal("not indexed")
		}
	}
}

func BenchmarkHostilePattern(b *testing.B) {
	rules := parseRules([]byte(strings.Repeat("a*", 20)+"b"), false)
	name := strings.Repeat("a", 200)
	b.ReportAllocs()
	for b.Loop() {
		if rules[0].matches(name, name, false) {
			b.Fatal("matches")
		}
	}
}
