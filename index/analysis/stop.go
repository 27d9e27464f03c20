package analysis

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// maxList bounds a stop-word list, in bytes.
const maxList = 4 << 20

// shortList is the list of twelve that comes from Quern's contract.
const shortList = "the a an and or of to in is for on with"

// englishList is Snowball's English list (174 words), as published at
// snowballstem.org/algorithms/english/stop.txt.
const englishList = `
i me my myself we our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself
they them their theirs themselves what which who whom this that these those
am is are was were be been being have has had having do does did doing
would should could ought
i'm you're he's she's it's we're they're i've you've we've they've
i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll
isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't
won't wouldn't shan't shouldn't can't cannot couldn't mustn't
let's that's who's what's here's there's when's where's why's how's
a an the and but if or because as until while of at by for with about against
between into through during before after above below to from up down in out
on off over under again further then once here there when where why how
all any both each few more most other some such no nor not only own same so
than too very`

// stopSet returns the stop words in the form in which words are compared with
// them: normalised, not stemmed.
func (a *Analyzer) stopSet() map[string]struct{} {
	set := make(map[string]struct{}, len(a.words))
	for _, w := range a.words {
		set[a.stopForm(w)] = struct{}{}
	}
	return set
}

// stopForm returns a stop word as words of the text are when they are compared.
func (a *Analyzer) stopForm(w string) string {
	if a.options.Tokenizer == Plain {
		return lower(w)
	}
	return a.folded(a.normalise(w))
}

// stopWords returns the words of a list by its name or path.
func stopWords(list string) ([]string, error) {
	switch list {
	case None, "":
		return nil, nil
	case Short:
		return strings.Fields(shortList), nil
	case English:
		return strings.Fields(englishList), nil
	}
	return readStopWords(list)
}

// readStopWords reads a list of one word a line. Empty lines are skipped, and
// what follows # or | is a comment (| as in Snowball's own lists).
func readStopWords(path string) ([]string, error) {
	what := fmt.Sprintf("stop words: %q is not %q, %q or %q and cannot be read as a file", path, None, Short, English)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", what)
	case info.Size() > maxList:
		return nil, fmt.Errorf("%s: it has %d bytes, at most %d are allowed", what, info.Size(), maxList)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return parseStopWords(path, data)
}

// parseStopWords reads a list's text; path is for messages.
func parseStopWords(path string, data []byte) ([]string, error) {
	var words []string
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "|")
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case !utf8.ValidString(line):
			return nil, fmt.Errorf("stop words: %s:%d: not UTF-8 (save the list as UTF-8)", path, n)
		case len(fields) > 1:
			return nil, fmt.Errorf("stop words: %s:%d: %d words on a line (put one word on each line)", path, n, len(fields))
		}
		words = append(words, fields...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("stop words: %s: %w", path, err)
	}
	return words, nil
}
