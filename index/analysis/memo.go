package analysis

// Numbering is given the terms of texts as numbers of its own.
type Numbering interface {
	// Number gives the number, below 1<<32 - 1, of a term. It must always be
	// the same, until Memo.Reset.
	Number(term string) uint32
	// Add takes the number of the next term.
	Add(number uint32)
}

// Memo remembers the numbers of words, so that a word which comes again is
// neither made a term nor looked up. It serves one goroutine, one Analyzer and
// one Numbering. The zero value is ready.
type Memo struct {
	to    Numbering
	slots []memoSlot
	made  int // words put into slots
}

// memoSlot is a word of at most keySize bytes; an empty one has length 0.
type memoSlot struct {
	key    key
	length uint32
	number uint32
}

const (
	noTerm   = 1<<32 - 1
	minSlots = 1 << 10 // powers of two
	maxSlots = 1 << 15
)

// Reset forgets all words, and the Numbering.
func (m *Memo) Reset() {
	m.to, m.made = nil, 0
	m.slots = m.slots[:0]
}

// Numbers gives to the numbers of the terms of text, in the order of Tokens.
func (a *Analyzer) Numbers(text []byte, to Numbering, m *Memo) {
	m.to = to
	if a.options.Tokenizer == Plain {
		a.plainNumbers(text, m)
		return
	}
	t := a.tokenizerOf(text)
	t.memo = m
	t.run()
}

// word takes the next word; entryOf says what becomes of one that is new.
func (m *Memo) word(a *Analyzer, raw []byte, entryOf func(raw []byte) *entry) {
	if len(raw) > keySize {
		m.entry(entryOf(raw))
		return
	}
	if m.made >= len(m.slots) {
		m.grow()
	}
	k := keyOf(raw)
	s := &m.slots[a.cache.hash(k, raw)&uint64(len(m.slots)-1)]
	if s.key != k || s.length != uint32(len(raw)) {
		e := entryOf(raw)
		if e.more != nil {
			m.entry(e)
			return
		}
		*s = memoSlot{k, uint32(len(raw)), m.number(e.term)}
		m.made++
	}
	if s.number != noTerm {
		m.to.Add(s.number)
	}
}

func (m *Memo) number(term string) uint32 {
	if term == "" {
		return noTerm
	}
	return m.to.Number(term)
}

// entry takes the terms of an entry.
func (m *Memo) entry(e *entry) {
	if e.term == "" {
		return
	}
	m.to.Add(m.to.Number(e.term))
	if e.more == nil {
		return
	}
	for _, term := range *e.more {
		m.to.Add(m.to.Number(term))
	}
}

// grow makes more room, up to a bound, and forgets the words.
func (m *Memo) grow() {
	m.made = 0
	n := min(max(2*len(m.slots), minSlots), maxSlots)
	if n == len(m.slots) {
		m.made = -1 << 62 // as large as it gets
		return
	}
	if cap(m.slots) < n {
		m.slots = make([]memoSlot, n)
		return
	}
	m.slots = m.slots[:n]
	clear(m.slots)
}
