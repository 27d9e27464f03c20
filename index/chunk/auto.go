package chunk

import (
	"bytes"
	"slices"

	"quern/index/extract"
)

// The strategy Auto ends passages where the text itself does: it fills up to
// MaxWords words and cuts at the best place in the second half of them, rather at
// a blank line than at a line's end, rather at that than behind a sentence, and the
// last of several. Fenced code and lists are kept whole as far as they fit. The
// next passage begins with the last sentences of the one before, as many as are
// in Overlap words, or, where a sentence is longer, with its last words.

// seam is how good a place between two words is to cut at.
type seam uint8

const (
	noSeam   seam = iota
	sentence      // behind a sentence
	line          // at the end of a line
	block         // before or behind a paragraph, a list or fenced code
)

// piece is a word and the seam before it.
type piece struct {
	word
	seam seam
}

// packer fills passages, one section after the other.
type packer struct {
	Options
	scanner
	out    []Passage
	pieces []piece // from the start of the passage being filled; at most MaxWords and one
	fenced bool
}

func (p *packer) sectionPassages(sec extract.Section) {
	first := len(p.out)
	p.pieces, p.fenced = p.pieces[:0], false
	for {
		w, blank, ok := p.next(sec.End)
		if !ok {
			break
		}
		p.pieces = append(p.pieces, piece{w, p.seamBefore(w, blank)})
		if len(p.pieces) > p.MaxWords {
			p.cut()
		}
	}
	p.rest(first)
}

// seamBefore is the seam between the last word and w.
func (p *packer) seamBefore(w word, blank bool) seam {
	if len(p.pieces) == 0 {
		return block
	}
	last := p.pieces[len(p.pieces)-1]
	text := p.text[w.start:w.end]
	if w.line == last.line {
		if endsSentence(p.text[last.start:last.end]) {
			return sentence
		}
		return noSeam
	}
	switch fence := isFence(text); {
	case p.fenced && fence:
		p.fenced = false
		return noSeam // the closing line belongs to the code
	case p.fenced && !blank:
		return sentence
	case p.fenced:
		return line
	case fence:
		p.fenced = true
		return block
	case blank, isFence(p.text[last.start:last.end]):
		return block
	}
	return line
}

func isFence(word []byte) bool {
	return bytes.HasPrefix(word, []byte("```")) || bytes.HasPrefix(word, []byte("~~~"))
}

// endsSentence says that a word has the mark of a sentence's end, perhaps within
// quotation marks or brackets.
func endsSentence(word []byte) bool {
	word = bytes.TrimRight(word, `"')]}*_”’»`)
	for _, mark := range []string{".", "!", "?", "…", "。", "！", "？", "।", "؟", "։"} {
		if bytes.HasSuffix(word, []byte(mark)) {
			return true
		}
	}
	return false
}

// cut emits the passage that is full.
func (p *packer) cut() {
	at := p.best()
	p.out = append(p.out, span(p.pieces[0].word, p.pieces[at-1].word))
	p.pieces = slices.Delete(p.pieces, 0, p.resume(at))
}

// best is how many of the words the passage holds.
func (p *packer) best() int {
	at, most := p.MaxWords, noSeam
	for i := max(p.MinWords, p.MaxWords/2, 1); i <= p.MaxWords; i++ {
		if s := p.pieces[i].seam; s != noSeam && s >= most {
			at, most = i, s
		}
	}
	return at
}

// resume is the word that the next passage begins with: the first behind a seam
// among the last Overlap words.
func (p *packer) resume(at int) int {
	from := max(at-p.Overlap, 1)
	for i := from; i < at; i++ {
		if p.pieces[i].seam != noSeam {
			return i
		}
	}
	if p.pieces[at].seam == noSeam {
		return from
	}
	return at
}

// rest emits what is left of a section: less than MinWords beyond what the last
// passage has joins that.
func (p *packer) rest(first int) {
	if len(p.pieces) == 0 {
		return
	}
	last := p.pieces[len(p.pieces)-1].word
	if len(p.out) == first {
		p.out = append(p.out, span(p.pieces[0].word, last))
		return
	}
	tail := &p.out[len(p.out)-1]
	fresh := 0
	for _, w := range p.pieces {
		if w.start >= tail.End {
			fresh++
		}
	}
	if fresh < p.MinWords {
		tail.End, tail.LastLine = last.end, last.line
		return
	}
	p.out = append(p.out, span(p.pieces[0].word, last))
}
