package analysis

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// variants are the options the properties are tried with.
func variants() []Options {
	return []Options{
		unstemmed(),
		{Tokenizer: Plain, Stopwords: Short, MinLength: 2},
		{Tokenizer: Unicode, Stopwords: English, Stemmer: English, MinLength: 2, FoldDiacritics: true},
		{Tokenizer: Unicode, Stopwords: English, Stemmer: "french", MinLength: 1, FoldDiacritics: true},
		{Tokenizer: Unicode, Stopwords: Short, Stemmer: "turkish"},
		{Tokenizer: Unicode},
	}
}

func tokens(a *Analyzer, text []byte) []Token {
	var out []Token
	a.Tokens(text, func(t Token) bool {
		out = append(out, t)
		return true
	})
	return out
}

// checkTokens tells what is wrong with the tokens of a text.
func checkTokens(t *testing.T, text []byte, got []Token) {
	t.Helper()
	last := Token{}
	for _, k := range got {
		if k.Term == "" || !utf8.ValidString(k.Term) {
			t.Fatalf("%q: term %q", text, k.Term)
		}
		if k.Start < last.Start || k.End < last.End || k.Start >= k.End || k.End > len(text) {
			t.Fatalf("%q: %+v after %+v", text, k, last)
		}
		if utf8.Valid(text) && !utf8.Valid(text[k.Start:k.End]) {
			t.Fatalf("%q: %+v cuts a character", text, k)
		}
		last = k
	}
}

func TestTokensAreInOrderAndWithinTheText(t *testing.T) {
	for _, o := range variants() {
		a := newAnalyzer(t, o)
		r := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			text := []byte(randomText(r, 0x110000))
			got := tokens(a, text)
			checkTokens(t, text, got)
			if n := len(got); n > 1 { // stops when told to
				seen := 0
				a.Tokens(text, func(Token) bool { seen++; return seen < n/2 })
				if seen != max(n/2, 1) {
					t.Fatalf("%q: %d tokens after %d were refused", text, seen, n/2)
				}
			}
		}
	}
}

// The cache must not show: a fresh Analyzer gives the same tokens as one that has
// seen many words, and than one that has seen them in another order.
func TestCacheDoesNotShow(t *testing.T) {
	for _, o := range variants() {
		used := newAnalyzer(t, o)
		r := rand.New(rand.NewPCG(2, 2))
		for range 40 {
			text := []byte(randomText(r, 0x20000))
			if got, want := tokens(used, text), tokens(newAnalyzer(t, o), text); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %v, fresh %v", text, got, want)
			}
		}
	}
}

func TestTermIsItsOwnTerm(t *testing.T) {
	for _, o := range []Options{unstemmed(), {Tokenizer: Plain}, {Tokenizer: Unicode}} {
		a := newAnalyzer(t, o)
		check := func(text string) {
			for _, term := range a.Terms(text) {
				if got := a.Terms(term); len(got) != 1 || got[0] != term {
					t.Errorf("%q: term %q (%x) is %q", text, term, []rune(term), got)
				}
			}
		}
		for c := range rune(unicode.MaxRune + 1) {
			if c >= 0x3400 && c < 0xF900 && c%251 > 0 || c >= 0x17000 && c%251 > 0 && !unicode.Is(unicode.So, c) {
				continue // many of a kind
			}
			if utf8.ValidRune(c) && (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c) || unicode.IsSymbol(c)) {
				check(string(c))
			}
		}
		r := rand.New(rand.NewPCG(3, 3))
		for range 600 {
			check(randomText(r, 0x20000))
		}
	}
}

func TestEquivalentTextsHaveTheSameTerms(t *testing.T) {
	for _, o := range []Options{unstemmed(), {Tokenizer: Unicode}, {Tokenizer: Unicode, Stemmer: "french", FoldDiacritics: true}} {
		a := newAnalyzer(t, o)
		r := rand.New(rand.NewPCG(4, 4))
		for range 600 {
			text := randomText(r, 0x20000)
			want := a.Terms(norm.NFC.String(text))
			if got := a.Terms(norm.NFD.String(text)); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+q:\nNFD %+q\nNFC %+q", text, got, want)
			}
		}
	}
}

// Upper and lower case meet, wherever upper-casing can be undone.
func TestCaseDoesNotMatter(t *testing.T) {
	a := newAnalyzer(t, unstemmed())
	for c := range rune(0x20000) {
		upper := strings.ToUpper(string(c))
		if strings.ToLower(upper) != string(c) || !unicode.IsLetter(c) {
			continue
		}
		if got, want := a.Terms("x"+upper+"x"), a.Terms("x"+string(c)+"x"); !reflect.DeepEqual(got, want) {
			t.Errorf("%U: %q and %q", c, got, want)
		}
	}
}

// Words do not hang on their neighbours: a text cut at a line end has the tokens
// of its parts.
func TestLinesAreIndependent(t *testing.T) {
	for _, o := range variants() {
		a := newAnalyzer(t, o)
		r := rand.New(rand.NewPCG(5, 5))
		for range 150 {
			x, y := randomText(r, 0x20000), randomText(r, 0x20000)
			want := append(a.Terms(x), a.Terms(y)...)
			if got := a.Terms(x + "\n" + y); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q, %q: %q, want %q", x, y, got, want)
			}
		}
	}
}

func TestPlainIsRunsOfLettersAndNumbers(t *testing.T) {
	a := newAnalyzer(t, Options{Tokenizer: Plain})
	r := rand.New(rand.NewPCG(6, 6))
	for range 600 {
		text := randomText(r, 0x110000)
		want := strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsNumber(c)
		})
		got := a.Terms(text)
		if len(got) != len(want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		for i := range got {
			if g, w := []rune(got[i]), []rune(want[i]); len(g) != len(w) || g[0] != unicode.ToLower(w[0]) {
				t.Fatalf("%q: %q for %q", text, got[i], want[i])
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	a := newAnalyzer(t, Default())
	r := rand.New(rand.NewPCG(7, 7))
	var texts [][]byte
	var want [][]Token
	for range 50 {
		text := []byte(randomText(r, 0x20000))
		texts = append(texts, text)
		want = append(want, tokens(newAnalyzer(t, Default()), text))
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 200 {
				n := i % len(texts)
				if got := tokens(a, texts[n]); !reflect.DeepEqual(got, want[n]) {
					t.Errorf("%q: %v, want %v", texts[n], got, want[n])
				}
			}
		})
	}
	group.Wait()
}

// Terms must not keep the text alive or change with it.
func TestTermsOutliveTheText(t *testing.T) {
	for _, o := range variants() {
		a := newAnalyzer(t, o)
		text := []byte("zebra " + strings.Repeat("y", 100) + " 斑馬")
		got := tokens(a, text)
		want := make([]string, len(got))
		for i := range got {
			want[i] = strings.Clone(got[i].Term)
		}
		copy(text, bytes.Repeat([]byte("?"), len(text)))
		for i := range got {
			if got[i].Term != want[i] {
				t.Errorf("%q changed to %q", want[i], got[i].Term)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte(p))
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 50 {
		f.Add([]byte(randomText(r, 0x110000)))
	}
	var all []*Analyzer
	for _, o := range variants() {
		all = append(all, newAnalyzer(f, o))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, a := range all {
			checkTokens(t, text, tokens(a, text))
		}
	})
}
