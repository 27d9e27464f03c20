package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// numbered is a Numbering that remembers.
type numbered struct {
	numbers map[string]uint32
	names   []string
	got     []string
}

func (n *numbered) Number(term string) uint32 {
	if _, ok := n.numbers[term]; !ok {
		n.numbers[term] = uint32(len(n.names))
		n.names = append(n.names, term)
	}
	return n.numbers[term]
}

func (n *numbered) Add(number uint32) { n.got = append(n.got, n.names[number]) }

// TestNumbersAreTerms: with one memo for many texts, and reset at times, the
// terms are those of Terms.
func TestNumbersAreTerms(t *testing.T) {
	for _, o := range append(variants(), Default()) {
		a := newAnalyzer(t, o)
		var m Memo
		n := &numbered{numbers: map[string]uint32{}}
		r := rand.New(rand.NewPCG(5, 6))
		for range 500 {
			if r.IntN(10) == 0 {
				m.Reset()
				n = &numbered{numbers: map[string]uint32{}}
			}
			text := randomText(r, 0x110000)
			n.got = nil
			a.Numbers([]byte(text), n, &m)
			if want := a.Terms(text); !slices.Equal(n.got, want) {
				t.Fatalf("%q gives %q, not %q", text, n.got, want)
			}
		}
	}
}

// TestMemoGrows takes more words than it holds.
func TestMemoGrows(t *testing.T) {
	a := newAnalyzer(t, Options{Tokenizer: Plain})
	var m Memo
	n := &numbered{numbers: map[string]uint32{}}
	var text []byte
	for i := range 3 * maxSlots {
		text = append(text, 'w')
		for x := i; x > 0; x /= 26 {
			text = append(text, byte('a'+x%26))
		}
		text = append(text, ' ')
	}
	for range 2 {
		n.got = nil
		a.Numbers(text, n, &m)
		if !slices.Equal(n.got, a.Terms(string(text))) {
			t.Fatal("other terms")
		}
	}
}
