package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// corpus makes texts whose words are distributed as in real ones: the i-th
// most frequent word has a frequency of about 1/i, and a document prefers
// some words.
type corpus struct {
	r    *rand.Rand
	zipf *rand.Zipf
}

// corpusWords is how many different words there may be.
const corpusWords = 300_000

func newCorpus(seed uint64) *corpus {
	r := rand.New(rand.NewPCG(seed, 7))
	return &corpus{r: r, zipf: rand.NewZipf(r, 1.07, 3, corpusWords-1)}
}

// wordOf spells a number as a word; frequent ones are short.
func wordOf(n uint64) string {
	const vowels, consonants = "aeiou", "bcdfghklmnprstvz"
	var b []byte
	for n += 3; n > 0; n /= 80 {
		b = append(b, consonants[n%16], vowels[n/16%5])
	}
	return string(b)
}

func (c *corpus) word() string { return wordOf(c.zipf.Uint64()) }

// text makes a text of paragraphs with so many words together.
func (c *corpus) text(n int) string {
	var b strings.Builder
	topic := c.r.Uint64N(corpusWords - 64)
	for i := range n {
		if c.r.IntN(8) == 0 {
			b.WriteString(wordOf(topic + c.r.Uint64N(64)))
		} else {
			b.WriteString(c.word())
		}
		switch {
		case i%75 == 74:
			b.WriteString(".\n\n")
		case i%11 == 10:
			b.WriteString(",\n")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// files makes so many documents of so many words each on average.
func (c *corpus) files(n, words int) []Change {
	out := make([]Change, n)
	for i := range out {
		out[i] = putText(fmt.Sprintf("/zipf/%03d/%d.txt", i%97, i), c.text(words/4+c.r.IntN(words*3/2)))
	}
	return out
}

// query makes a query of 1 to 6 words; about half of them are frequent.
func (c *corpus) query() string {
	words := make([]string, 1+c.r.IntN(6))
	for i := range words {
		words[i] = c.word()
	}
	return strings.Join(words, " ")
}

// bytesOf is the size of the documents' text.
func bytesOf(changes []Change) (n int64) {
	for _, c := range changes {
		n += int64(len(c.Put.Content.Text))
	}
	return n
}
