package extract

import (
	"sort"
	"strings"
)

// docText makes paragraphs of the text of a Word document.
type docText struct {
	*wordDoc
	lengths [7]int
	chars   int // characters of the part
	part    int
	line    strings.Builder
	fields  []bool // open fields: whether their result has begun
	cell    bool
	hidden  bool // the run is not shown
}

// read goes through the pieces. What it finds at the end of a part begins another.
func (t *docText) read(pieces []piece) {
	for _, p := range pieces {
		data, size := t.bytes(p)
		if err := t.d.budget.inflate(int64(len(data))); err != nil {
			t.b.err = err
		}
		t.shown(data, p.off, size)
		if t.b.full() {
			return
		}
	}
	t.paragraph(0)
}

// shown takes the text of a piece in runs that are hidden or are not.
func (t *docText) shown(data []byte, off, size int) {
	first := sort.Search(len(t.hiddenRuns), func(i int) bool { return t.hiddenRuns[i].end > off })
	for _, r := range t.hiddenRuns[first:] {
		start, end := max(r.start-off, 0)/size*size, min(r.end-off, len(data))/size*size
		if start >= len(data) {
			break
		}
		t.run(data[:start], off, size)
		t.hidden = true
		t.run(data[start:end], off+start, size)
		t.hidden = false
		data, off = data[end:], off+end
	}
	t.run(data, off, size)
}

func (t *docText) run(data []byte, off, size int) {
	if size == 1 {
		t.narrow(data, off)
	} else {
		t.wide(data, off)
	}
}

// narrow takes 8-bit text, decoded by its runs without marks.
func (t *docText) narrow(data []byte, off int) {
	start := 0
	for i := 0; i <= len(data); i++ {
		if i < len(data) && data[i] >= ' ' {
			continue
		}
		t.text(decodePage(t.page, data[start:i]), i-start)
		if i < len(data) {
			t.mark(rune(data[i]), off+i+1)
		}
		start = i + 1
	}
}

func (t *docText) wide(data leReader, off int) {
	start := 0
	for i := range len(data) / 2 {
		c := data.u16(2 * i)
		if c >= ' ' {
			continue
		}
		t.text(utf16LE(data[2*start:2*i]), i-start)
		t.mark(rune(c), off+2*i+2)
		start = i + 1
	}
	t.text(utf16LE(data[2*start:]), len(data)/2-start)
}

// text takes a run of text.
func (t *docText) text(s string, chars int) {
	if chars > 0 && !t.hidden && !t.inInstruction() {
		t.line.WriteString(s)
		if t.line.Len() > maxToken {
			t.flushLine()
		}
	}
	t.advance(chars)
}

// inInstruction says that the text is that of a field's code, not of its result.
func (t *docText) inInstruction() bool {
	for _, result := range t.fields {
		if !result {
			return true
		}
	}
	return false
}

// maxFields bounds how deep fields are told apart.
const maxFields = 64

// mark takes a character that is none of the text; its end is at an offset.
func (t *docText) mark(c rune, end int) {
	switch c {
	case 0x07:
		t.endCell()
	case '\r', '\f', 0x0e:
		t.paragraph(end)
	case 0x0b, '\n':
		t.line.WriteByte('\n')
	case '\t':
		t.line.WriteByte('\t')
	case 0x13:
		if len(t.fields) < maxFields {
			t.fields = append(t.fields, false)
		}
	case 0x14:
		if n := len(t.fields); n > 0 {
			t.fields[n-1] = true
		}
	case 0x15:
		if n := len(t.fields); n > 0 {
			t.fields = t.fields[:n-1]
		}
	case 0x1e:
		t.line.WriteByte('-')
	}
	t.advance(1)
}

// advance counts characters and begins the next part at the end of one.
func (t *docText) advance(n int) {
	t.chars += n
	for t.part < len(t.lengths) && t.chars >= max(t.lengths[t.part], 0) {
		t.chars -= max(t.lengths[t.part], 0)
		if t.part++; t.part == 1 {
			t.paragraph(0)
			t.b.startPage(0)
			t.fields = nil
		}
		if t.chars == 0 {
			return
		}
	}
}

func (t *docText) flushLine() {
	t.b.add(t.line.String())
	t.line.Reset()
}

func (t *docText) endCell() {
	if t.line.Len() == 0 && t.cell {
		t.b.sep(sepLine)
		t.cell = false
		return
	}
	t.flushLine()
	t.b.endCell()
	t.cell = true
}

// paragraph ends a paragraph whose mark ends at an offset.
func (t *docText) paragraph(end int) {
	level := noHeading
	if end > 0 && t.part == 0 {
		level = t.level(end)
	}
	if level != noHeading && strings.TrimSpace(t.line.String()) != "" {
		t.b.heading(level, t.line.String())
		t.line.Reset()
		return
	}
	t.flushLine()
	if t.cell {
		t.b.sep(sepLine)
	} else {
		t.b.sep(sepBlank)
	}
	t.cell = false
}
