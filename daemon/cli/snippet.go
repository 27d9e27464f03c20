package cli

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// snippetLines is about how many lines of a passage a hit shows.
const snippetLines = 3

// glyph is one grapheme cluster, harmless, with its width in columns.
type glyph struct {
	text   string
	width  int
	marked bool
}

// word is a run of glyphs without white space.
type word []glyph

func (w word) width() int {
	columns := 0
	for _, g := range w {
		columns += g.width
	}
	return columns
}

// snippet renders the part of a passage around best, or around its densest
// highlights if that is empty, as lines of at most columns columns. Marked words
// are wrapped by mark. White space is folded; an ellipsis stands where text was
// left out.
func snippet(text string, highlights [][2]int, best [2]int, columns int, mark func(string) string) []string {
	columns = max(columns, 10)
	marks := cleanMarks(text, highlights)
	budget := columns * snippetLines * 9 / 10
	from, to := snippetRange(text, marks, best, budget)
	words := splitWords(text, from, to, marks)
	if len(words) == 0 { // the chosen part is blank: show the beginning
		from, to = snippetRange(text, nil, [2]int{}, budget)
		words = splitWords(text, from, to, marks)
	}
	if len(words) == 0 {
		return nil
	}
	ellipsis := glyph{text: "…", width: 1}
	if strings.TrimSpace(text[:from]) != "" {
		words[0] = append(word{ellipsis}, words[0]...)
	}
	if strings.TrimSpace(text[to:]) != "" {
		words[len(words)-1] = append(words[len(words)-1], ellipsis)
	}
	return render(fold(words, columns), mark)
}

// cleanMarks sorts highlights and drops those that do not lie in text.
func cleanMarks(text string, highlights [][2]int) [][2]int {
	marks := make([][2]int, 0, len(highlights))
	for _, h := range highlights {
		if h[0] >= 0 && h[0] < h[1] && h[1] <= len(text) {
			marks = append(marks, h)
		}
	}
	sort.Slice(marks, func(i, j int) bool { return marks[i][0] < marks[j][0] })
	return marks
}

// snippetRange chooses about budget bytes of text, at word boundaries where
// there are any.
func snippetRange(text string, marks [][2]int, best [2]int, budget int) (from, to int) {
	if len(text) <= budget {
		return 0, len(text)
	}
	if len(marks) == 0 {
		from = len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		to = min(len(text), from+budget)
		return from, wordEnd(text, to, from+budget/2)
	}
	left, right := best[0], best[1]
	if left < 0 || left >= right || right > len(text) || right-left > budget {
		left, right = densest(text, marks, budget)
	}
	right = min(right, left+budget)
	from = max(0, left-(budget-(right-left))/2)
	to = min(len(text), from+budget)
	from = max(0, to-budget)
	return wordStart(text, from, left), wordEnd(text, to, right)
}

// densest finds the span of at most budget bytes with the most different
// marked words, then the most marked words, then the earliest.
func densest(text string, marks [][2]int, budget int) (left, right int) {
	best, seen, first := [2]int{}, map[string]int{}, 0
	key := func(m [2]int) string { return strings.ToLower(text[m[0]:m[1]]) }
	left, right = marks[0][0], marks[0][1]
	for last, m := range marks {
		seen[key(m)]++
		for first < last && m[1]-marks[first][0] > budget {
			k := key(marks[first])
			if seen[k]--; seen[k] == 0 {
				delete(seen, k)
			}
			first++
		}
		score := [2]int{len(seen), last - first + 1}
		if score[0] > best[0] || score[0] == best[0] && score[1] > best[1] {
			best, left, right = score, marks[first][0], m[1]
		}
	}
	return left, right
}

// longWord is the length in bytes of a word that may be cut: beyond it, it is
// no word of a language that has blanks.
const longWord = 40

// wordStart moves from forward to the start of a word, not beyond limit.
func wordStart(text string, from, limit int) int {
	if from == 0 {
		return 0
	}
	near := min(max(from, limit), from+longWord)
	if i := strings.IndexFunc(text[from:near], unicode.IsSpace); i >= 0 {
		return from + i
	}
	for from < limit && !utf8.RuneStart(text[from]) {
		from++
	}
	return from
}

// wordEnd moves to back to the end of a word, not before limit.
func wordEnd(text string, to, limit int) int {
	if to >= len(text) {
		return len(text)
	}
	limit = min(limit, to)
	near := max(limit, to-longWord)
	if i := strings.LastIndexFunc(text[near:to], unicode.IsSpace); i >= 0 {
		return near + i
	}
	for to > limit && !utf8.RuneStart(text[to]) {
		to--
	}
	return to
}

// splitWords cuts text[from:to] into words of harmless glyphs.
func splitWords(text string, from, to int, marks [][2]int) []word {
	var words []word
	var current word
	next := 0
	clusters := graphemes.FromString(text[from:to])
	for clusters.Next() {
		at := from + clusters.Start()
		for next < len(marks) && marks[next][1] <= at {
			next++
		}
		marked := next < len(marks) && marks[next][0] <= at
		g, space := newGlyph(clusters.Value(), marked)
		if !space {
			current = append(current, g)
		} else if len(current) > 0 {
			words = append(words, current)
			current = nil
		}
	}
	if len(current) > 0 {
		words = append(words, current)
	}
	return words
}

// newGlyph makes a cluster harmless and tells whether it is white space.
func newGlyph(cluster string, marked bool) (g glyph, space bool) {
	r, size := utf8.DecodeRuneInString(cluster)
	if unicode.IsSpace(r) {
		return glyph{}, true
	}
	if len(cluster) > maxCluster {
		cluster = cluster[:size]
	}
	cluster = safeText(cluster)
	// Stand-ins do not combine as what they stand for does: measure again.
	return glyph{text: cluster, width: displayWidth(cluster), marked: marked}, false
}

// fold breaks words into lines of at most columns columns; a word longer than
// a line is broken inside.
func fold(words []word, columns int) []word {
	var lines []word
	var line word
	used := 0
	newline := func() {
		if len(line) > 0 {
			lines = append(lines, line)
		}
		line, used = nil, 0
	}
	for _, w := range words {
		need := w.width()
		if used > 0 && used+1+need > columns {
			newline()
		}
		if used > 0 {
			blank := glyph{text: " ", width: 1, marked: line[len(line)-1].marked && w[0].marked}
			line, used = append(line, blank), used+1
		}
		for _, g := range w {
			if used+g.width > columns {
				newline()
			}
			line, used = append(line, g), used+g.width
		}
	}
	newline()
	return lines
}

// render joins the glyphs of each line, with every marked run wrapped.
func render(lines []word, mark func(string) string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		var b strings.Builder
		for len(line) > 0 {
			n := 1
			for n < len(line) && line[n].marked == line[0].marked {
				n++
			}
			b.WriteString(wrapRun(line[:n], mark))
			line = line[n:]
		}
		out[i] = b.String()
	}
	return out
}

func wrapRun(run word, mark func(string) string) string {
	var b strings.Builder
	for _, g := range run {
		b.WriteString(g.text)
	}
	if run[0].marked {
		return mark(b.String())
	}
	return b.String()
}
