package index

import (
	"context"
	"strings"
	"testing"
	"time"

	lang "quern/index/query"
)

// BenchmarkFind measures each construct of the query language on an index of
// 80,000 passages. $1 to $3 stand for drawn words, $f for a very frequent one.
func BenchmarkFind(b *testing.B) {
	e := benchEngine()
	for _, bench := range []struct{ name, query string }{
		{"words", "$1 $2 $3"},
		{"must", "+$1 $2 $3"},
		{"must frequent", "+$f $2 $3"},
		{"not", "$1 $2 -$f"},
		{"phrase", `"$1 $2"`},
		{"phrase frequent", `"$f $g"`},
		{"phrase never", `"$f $f $f $f"`},
		{"prefix", "$p*"},
		{"must prefix", "+$p* $2"},
		{"fuzzy 1", "$1~1"},
		{"fuzzy 2", "$1~2"},
		{"nothing ranks", "-$1"},
		{"not phrase", `$1 -"$f $g"`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := newCorpus(3)
			var times []time.Duration
			for b.Loop() {
				q := c.fill(b, bench.query)
				start := time.Now()
				if _, err := e.Snapshot().Find(context.Background(), q, cosine); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			report(b, times)
		})
	}
}

// BenchmarkSuggest measures suggestions for a misspelt word.
func BenchmarkSuggest(b *testing.B) {
	e := benchEngine()
	c := newCorpus(3)
	var times []time.Duration
	for b.Loop() {
		q := c.fill(b, "$1xq")
		start := time.Now()
		if _, err := e.Snapshot().Suggest(context.Background(), q, cosine); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	report(b, times)
}

// fill puts words into a query.
func (c *corpus) fill(b *testing.B, query string) *lang.Query {
	r := strings.NewReplacer("$1", c.word(), "$2", c.word(), "$3", c.word(), "$f", wordOf(0), "$g", wordOf(1), "$p", c.word()[:2])
	q, err := lang.Parse(r.Replace(query))
	if err != nil {
		b.Fatal(err)
	}
	return q
}
