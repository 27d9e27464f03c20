package chunk

import "math"

// windower cuts a stream of words into windows of size words that start every
// step words: over n words the starts are 0, step, 2·step, … below
// max(n-overlap, 1), where overlap is size-step. A window is reported when its
// last word comes, so that only the starts of the windows still open are kept:
// at most size/step, rounded up.
type windower struct {
	size, step int
	n          int // words since begin
	first      word
	last       word
	open       []opening // from head on, oldest first
	head       int
	nextStart  int
}

// opening is the start of a window that is not full.
type opening struct {
	index int // of its first word
	word  word
}

// newWindower returns a windower for valid options.
func newWindower(o Options) windower {
	if o.Strategy == Whole {
		return windower{size: math.MaxInt, step: math.MaxInt}
	}
	return windower{size: o.MaxWords, step: o.MaxWords - o.Overlap}
}

// begin forgets what was gathered.
func (w *windower) begin() {
	w.n, w.nextStart, w.head, w.open = 0, 0, 0, w.open[:0]
}

// add takes the next word and, when it fills a window, returns that.
func (w *windower) add(x word) (Passage, bool) {
	if w.n == 0 {
		w.first = x
	}
	if w.n == w.nextStart {
		w.open = append(w.open, opening{w.n, x})
		w.nextStart += w.step
	}
	w.last = x
	w.n++
	if w.head == len(w.open) || w.n-w.open[w.head].index < w.size {
		return Passage{}, false
	}
	p := span(w.open[w.head].word, x)
	w.drop()
	return p, true
}

// drop forgets the oldest open window, and moves the others to the front when
// there are no more of them than places before.
func (w *windower) drop() {
	w.head++
	if 2*w.head >= len(w.open) {
		w.open = w.open[:copy(w.open, w.open[w.head:])]
		w.head = 0
	}
}

// end returns the last window, if one is open that reaches beyond the overlap
// of the one before it. There is at most one: the next would have to reach
// beyond the end of this one.
func (w *windower) end() (Passage, bool) {
	if w.head == len(w.open) {
		return Passage{}, false
	}
	o := w.open[w.head]
	if o.index > 0 && o.index+w.size-w.step >= w.n {
		return Passage{}, false
	}
	return span(o.word, w.last), true
}

// span returns the passage from one word to another.
func span(first, last word) Passage {
	return Passage{Start: first.start, End: last.end, FirstLine: first.line, LastLine: last.line}
}
