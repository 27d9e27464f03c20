package analysis

import (
	"strings"
	"testing"
)

// prose is some English, made of words of uneven frequency.
func prose(size int) []byte {
	words := strings.Fields(englishList + `refund billing invoice customer Customer's account support renewal
		"annual plan," payment. (monthly) charges; approved — naïve resumé 2026 3.14 retrieval index passage document`)
	var b strings.Builder
	for i, x := 0, uint32(1); b.Len() < size; i++ {
		x = x*1664525 + 1013904223
		b.WriteString(words[int(x>>16)*int(x>>20)%len(words)])
		b.WriteByte(" \n"[min(i%12/11, 1)])
	}
	return []byte(b.String())
}

func BenchmarkTokens(b *testing.B) {
	mixed := []byte(strings.Repeat("Größe und Straße; Les élèves d'été. Чайковский и йод. 東京都に行く。한국어를 배우다 ", 2000))
	for _, c := range []struct {
		name string
		o    Options
		text []byte
	}{
		{"plain", Options{Tokenizer: Plain, Stopwords: Short}, prose(1 << 20)},
		{"unicode-english", Default(), prose(1 << 20)},
		{"unicode-mixed", Default(), mixed},
		{"plain-mixed", Options{Tokenizer: Plain}, mixed},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := newAnalyzer(b, c.o)
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				a.Tokens(c.text, func(Token) bool { return true })
			}
		})
	}
}

// BenchmarkNumbers is what a batch pays for its words.
func BenchmarkNumbers(b *testing.B) {
	for _, o := range []Options{{Tokenizer: Plain}, Default()} {
		b.Run(o.Tokenizer, func(b *testing.B) {
			a, text := newAnalyzer(b, o), prose(1<<20)
			to := &counting{numbers: map[string]uint32{}}
			var m Memo
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				a.Numbers(text, to, &m)
			}
		})
	}
}

// counting is a Numbering that does the least.
type counting struct {
	numbers map[string]uint32
	added   int
}

func (c *counting) Number(term string) uint32 {
	if _, ok := c.numbers[term]; !ok {
		c.numbers[term] = uint32(len(c.numbers))
	}
	return c.numbers[term]
}

func (c *counting) Add(uint32) { c.added++ }
