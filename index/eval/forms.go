package eval

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"quern/index/analysis"
)

// leastForm is the length in characters from which a word's forms are looked for.
const leastForm = 4

// wordsOf are the words as they are compared: no stop words, no stemming.
var wordsOf = sync.OnceValue(func() *analysis.Analyzer {
	return must(analysis.New(analysis.Options{
		Tokenizer: analysis.Unicode, Stopwords: analysis.English, Stemmer: analysis.None, MinLength: leastForm, FoldDiacritics: true,
	}))
})

// stemmersOf are all stemmers there are.
var stemmersOf = sync.OnceValue(func() (out []*analysis.Analyzer) {
	for _, language := range analysis.Languages() {
		out = append(out, must(analysis.New(analysis.Options{
			Tokenizer: analysis.Unicode, Stemmer: language, MinLength: 1, FoldDiacritics: true,
		})))
	}
	return out
})

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options are written down here
	}
	return v
}

// forms pairs words of a question with other forms of them that a text has.
func forms(question, text string) (out [][2]string) {
	have := wordsOf().Terms(text)
	slices.Sort(have)
	have = slices.Compact(have)
	seen := map[string]bool{}
	for _, w := range wordsOf().Terms(question) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, h := range have {
			if h != w && sameWord(w, h) {
				out = append(out, [2]string{w, h})
			}
		}
	}
	return out
}

// sameWord reports whether two words may be forms or spellings of one: a stemmer
// makes them equal, one letter in five differs, or the one begins with the
// other.
func sameWord(a, b string) bool {
	if common := commonPrefix(a, b); common < leastForm-1 {
		return false
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	return strings.HasPrefix(long, short) || sameStem(a, b) || distance([]rune(a), []rune(b)) <= utf8.RuneCountInString(short)/5
}

func commonPrefix(a, b string) (n int) {
	y := []rune(b)
	for i, r := range []rune(a) {
		if i == len(y) || y[i] != r {
			break
		}
		n++
	}
	return n
}

func sameStem(a, b string) bool {
	return slices.ContainsFunc(stemmersOf(), func(s *analysis.Analyzer) bool {
		return slices.Equal(s.Terms(a), s.Terms(b))
	})
}

// distance is how many letters must be put in, taken out, replaced or swapped with
// their neighbour to make b of a.
//
// Source: Damerau, A Technique for Computer Detection and Correction of Spelling
// Errors (1964), in the form that edits no part twice.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
