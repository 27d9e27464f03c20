package ignore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tables find the rule that going through the list finds.
func TestLookupIsTheList(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "abcdefgh", "*", "**", "?", "[ab]", `\*`, ".", "/", "!", "é"})
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "abcdefgh", ".", "é"}), 1, 4).Draw(t, "name"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		for _, line := range rapid.SliceOfN(rapid.SliceOfN(piece, 1, 5), 0, 60).Draw(t, "rules") {
			file.WriteString(strings.Join(line, "") + "\n")
		}
		rules := parseRules([]byte(file.String()), false)
		list, long := &ruleList{rules: rules}, &ruleList{rules: rules, long: newLookups(rules)}
		for range 20 {
			path := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "path"), "/")
			base := path[strings.LastIndexByte(path, '/')+1:]
			dir := rapid.Bool().Draw(t, "dir")
			if want, got := list.last(path, base, dir), long.last(path, base, dir); want != got {
				t.Fatalf("%q (dir %t): the list says %+v, the tables %+v", path, dir, want, got)
			}
		}
	})
}

// BenchmarkManyRules asks one file of 1 MiB with 60,000 globs.
func BenchmarkManyRules(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var file strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&file, []string{"*.x%d\n", "name%d*\n", "dir/*/%d\n", "lit%d\n"}[r.IntN(4)], i)
	}
	l := newRuleList("", parseRules([]byte(file.String()), false))
	b.ReportAllocs()
	for b.Loop() {
		l.last("some/dir/with/a-file.txt", "a-file.txt", false)
	}
}
