package cli

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"golang.org/x/text/width"
)

// maxCluster bounds the bytes of one grapheme cluster as shown: longer ones
// are stacks of marks made to spill over the neighbouring lines.
const maxCluster = 64

// displayWidth is the number of terminal columns that s takes. The escape
// sequences of styles take none.
func displayWidth(s string) int {
	columns := 0
	clusters := graphemes.FromString(s)
	clusters.AnsiEscapeSequences = true
	for clusters.Next() {
		columns += clusterWidth(clusters.Value())
	}
	return columns
}

// clusterWidth is the number of columns of one grapheme cluster: that of its
// widest character.
func clusterWidth(cluster string) int {
	if strings.HasPrefix(cluster, "\x1b[") {
		return 0
	}
	columns := 0
	for _, r := range cluster {
		columns = max(columns, runeWidth(r))
	}
	return columns
}

func runeWidth(r rune) int {
	switch {
	case r == 0xfe0f: // asks for the emoji form of the character before it
		return 2
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r < 0x20:
		return 0
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators: two make a flag
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pad fills s with blanks up to the given number of columns.
func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-displayWidth(s)))
}

// padLeft puts the blanks in front.
func padLeft(s string, columns int) string {
	return strings.Repeat(" ", max(0, columns-displayWidth(s))) + s
}

// cut shortens s to at most the given number of columns; a cut ends in "…".
func cut(s string, columns int) string {
	if displayWidth(s) <= columns {
		return s
	}
	used := 0
	clusters := graphemes.FromString(s)
	for clusters.Next() {
		w := clusterWidth(clusters.Value())
		if used+w > columns-1 {
			return s[:clusters.Start()] + "…"
		}
		used += w
	}
	return s
}
