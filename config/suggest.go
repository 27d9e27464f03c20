package config

import "strings"

// Suggest returns the candidate that word is most likely a misspelling of, or
// "" when none is near. Case, hyphens and underscores do not count.
func Suggest(word string, candidates []string) string {
	best, distance := "", 1<<30
	for _, c := range candidates {
		if d := editDistance(plain(word), plain(c)); d < distance {
			best, distance = c, d
		}
	}
	if distance > max(1, min(len(best), 9)/3) || distance >= len(best) {
		return ""
	}
	return best
}

var plainer = strings.NewReplacer("-", "", "_", "", " ", "")

func plain(s string) string { return plainer.Replace(strings.ToLower(s)) }

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b (optimal string alignment), in bytes. Words
// far longer than any key are not compared.
func editDistance(a, b string) int {
	const longest = 64
	if len(a) > longest || len(b) > longest {
		return longest
	}
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
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
