package analysis

import (
	"fmt"
	"maps"
	"slices"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// maxStemmed is the longest word that is stemmed, in bytes. Longer ones are no
// words of a language, and a stemmer may take time that grows with the square
// of their length.
const maxStemmed = 256

// stemmer reduces words of one language to their stems.
type stemmer struct {
	name string
	run  func(*snowballstem.Env) bool
	// accents says that the language writes diacritics and that the stemmer
	// knows words by them.
	accents bool
}

// stemmers are the Snowball algorithms by name; see snowballstem.org/algorithms.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"arabic":     arabic.Stem,
	"danish":     danish.Stem,
	"dutch":      dutch.Stem,
	"english":    english.Stem,
	"finnish":    finnish.Stem,
	"french":     french.Stem,
	"german":     german.Stem,
	"hungarian":  hungarian.Stem,
	"irish":      irish.Stem,
	"italian":    italian.Stem,
	"norwegian":  norwegian.Stem,
	"porter":     porter.Stem,
	"portuguese": portuguese.Stem,
	"romanian":   romanian.Stem,
	"russian":    russian.Stem,
	"spanish":    spanish.Stem,
	"swedish":    swedish.Stem,
	"tamil":      tamil.Stem,
	"turkish":    turkish.Stem,
}

// plainStemmers know no letters that foldDiacritics changes: the English ones, and
// the Russian, which wants ё to be е.
var plainStemmers = []string{"english", "porter", "russian"}

// Languages returns the names of the stemmers, sorted. "english" is Snowball's
// English (Porter 2) algorithm, "porter" the original of 1980.
func Languages() []string {
	return slices.Sorted(maps.Keys(stemmers))
}

// newStemmer returns the stemmer of a name, nil for none.
func newStemmer(name string) (*stemmer, error) {
	if name == None || name == "" {
		return nil, nil
	}
	run, ok := stemmers[name]
	if !ok {
		return nil, fmt.Errorf("%w: stemmer is %q, must be %s", ErrOptions, name, valid(append([]string{None}, Languages()...)))
	}
	return &stemmer{name: name, run: run, accents: !slices.Contains(plainStemmers, name)}, nil
}

// stem returns the stem of a word, or the word itself when nothing would be
// left of it.
func (s *stemmer) stem(word string) string {
	if len(word) > maxStemmed {
		return word
	}
	env := snowballstem.NewEnv(word)
	s.run(env)
	if env.Current() == "" {
		return word
	}
	return env.Current()
}
