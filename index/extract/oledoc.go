package extract

import "sort"

// Offsets in the file information block: MS-DOC 2.5.1. Word 6 and 95 have another
// one from 0x60 on.
const (
	fibVersion  = 0x02
	fibLanguage = 0x06
	fibFlags    = 0x0a
	fibTextFrom = 0x18
	fibTextTo   = 0x1c
	fibLengths  = 0x4c  // eight lengths of the parts, in characters
	fibStyles   = 0xa2  // where the styles are
	fibChpx     = 0xfa  // where the formats of characters are listed
	fibPapx     = 0x102 // where paragraphs' styles are listed
	fibPieces   = 0x1a2 // where the piece table is
	fibPieces95 = 0x160
	fibChpx95   = 0xb8
	fibPapx95   = 0xc0
	fibLength95 = 0x34

	fibEncrypted = 0x0100
	fibTable1    = 0x0200
	fibComplex   = 0x0004

	wordVersion97 = 106 // versions below it have the old block
)

// piece is a run of the text as it lies in the stream.
type piece struct {
	chars int // how many
	off   int // in bytes
	wide  bool
}

// wordDoc reads a Word document of the versions 6 to 2003.
type wordDoc struct {
	d          *Document
	b          *textBuilder
	main       leReader // the stream WordDocument
	table      leReader // the stream with the tables
	old        bool     // of Word 6 or 95
	page       int      // the code page of 8-bit text
	styles     []styleRun
	levels     []int       // heading levels of the styles
	hiddenRuns []textRange // in order, apart from each other
}

// styleRun is a run of paragraphs of one style, until an offset in the stream.
type styleRun struct{ end, style int }

func parseDOC(d *Document, f *oleFile) error {
	main, err := f.stream("WordDocument")
	if err != nil {
		return err
	}
	if id := main.u16(0); id != 0xa5ec && id != 0xa5dc {
		return notText("corrupt: its Word document has no header")
	}
	flags := main.u16(fibFlags)
	if flags&fibEncrypted != 0 {
		return notText("encrypted: it needs a password")
	}
	w := &wordDoc{d: d, b: newTextBuilder(d), main: main, old: main.u16(fibVersion) < wordVersion97}
	w.page, w.table = 1252, main
	if w.old {
		w.page = languagePage(int(main.u16(fibLanguage)))
	} else {
		name := "0Table"
		if flags&fibTable1 != 0 {
			name = "1Table"
		}
		if w.table, err = f.stream(name); err != nil {
			return err
		}
	}
	w.readStyles()
	w.readStylesheet()
	w.readHidden()
	pieces := w.pieces(flags)
	props := f.properties()
	props.apply(d)
	(&docText{wordDoc: w, lengths: w.lengths()}).read(pieces)
	w.b.closing(props.more)
	if len(w.b.text) == 0 && len(pieces) == 0 {
		return notText("corrupt: its Word document has no text")
	}
	return w.b.finish(nil)
}

// lengths are those of the parts of the text: body, footnotes, headers, macros,
// comments, endnotes, text boxes.
func (w *wordDoc) lengths() [7]int {
	var l [7]int
	at := fibLengths
	if w.old {
		at = fibLength95
	}
	for i := range l {
		l[i] = int(int32(w.main.u32(at + 4*i)))
	}
	return l
}

// pieces are the runs of the text in order.
func (w *wordDoc) pieces(flags uint16) []piece {
	at := fibPieces
	if w.old {
		at = fibPieces95
	}
	clx := leReader(w.table.at(int(w.main.u32(at)), int(w.main.u32(at+4))))
	pieces := w.pieceTable(clx)
	if len(pieces) == 0 && (w.old || flags&fibComplex == 0) {
		from, to := int(w.main.u32(fibTextFrom)), min(int(w.main.u32(fibTextTo)), len(w.main))
		if from < to {
			return []piece{{chars: to - from, off: from}}
		}
	}
	return pieces
}

// pieceTable reads the table of pieces, which follows lists of properties.
func (w *wordDoc) pieceTable(clx leReader) []piece {
	off := 0
	for off < len(clx) && clx[off] == 1 {
		off += 3 + int(clx.u16(off+1))
	}
	if clx.u8(off) != 2 {
		return nil
	}
	n := (int(clx.u32(off+1)) - 4) / 12
	off += 5
	if n <= 0 || n > len(clx)/12 {
		return nil
	}
	pieces := make([]piece, 0, n)
	for i := range n {
		from, to := int(clx.u32(off+4*i)), int(clx.u32(off+4*i+4))
		fc := clx.u32(off + 4*(n+1) + 8*i + 2)
		p := piece{chars: to - from, off: int(fc &^ (1 << 30)), wide: fc&(1<<30) == 0 && !w.old}
		if !p.wide && !w.old {
			p.off /= 2
		}
		if p.chars > 0 {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// bytes is the text of a piece as it lies in the stream, and the size of a
// character in it.
func (w *wordDoc) bytes(p piece) ([]byte, int) {
	size := 1
	if p.wide {
		size = 2
	}
	if p.off > len(w.main) {
		return nil, size
	}
	rest := w.main[p.off:]
	return rest[:min(len(rest), p.chars*size)], size
}

// readStyles reads the styles of the paragraphs: pages of 512 bytes, listed in a
// table, each with the ends of its runs and their properties, of which a style
// begins each.
func (w *wordDoc) readStyles() {
	for _, page := range w.formatPages(fibPapx, fibPapx95) {
		w.stylePage(page)
	}
	sort.SliceStable(w.styles, func(i, j int) bool { return w.styles[i].end < w.styles[j].end })
}

// formatPages are the pages of formats that a table lists.
func (w *wordDoc) formatPages(at, old int) []leReader {
	entry := 4
	if w.old {
		at, entry = old, 2
	}
	list := leReader(w.table.at(int(w.main.u32(at)), int(w.main.u32(at+4))))
	n := (len(list) - 4) / (4 + entry)
	var pages []leReader
	for i := range max(n, 0) {
		off := 4*(n+1) + entry*i
		number := int(list.u16(off))
		if entry == 4 {
			number = int(list.u32(off))
		}
		if page := w.main.at(number*512, 512); page != nil && len(pages) <= len(w.main)/512 {
			pages = append(pages, page)
		}
	}
	return pages
}

func (w *wordDoc) stylePage(page leReader) {
	runs, size := int(page.u8(511)), 13
	if w.old {
		size = 7
	}
	for i := range runs {
		off := 2 * int(page.u8(4*(runs+1)+size*i))
		style := 0
		if off > 0 {
			if off++; page.u8(off-1) == 0 && !w.old {
				off++
			}
			style = int(page.u16(off))
		}
		w.styles = append(w.styles, styleRun{int(page.u32(4 * (i + 1))), style})
	}
}

// level is the heading level of the paragraph that ends at an offset. The first
// styles are the same in all documents: text, then nine headings.
func (w *wordDoc) level(end int) int {
	i := sort.Search(len(w.styles), func(i int) bool { return w.styles[i].end >= end })
	if i >= len(w.styles) {
		return noHeading
	}
	style := w.styles[i].style
	switch {
	case style < len(w.levels):
		return w.levels[style]
	case style >= 1 && style <= 9:
		return style
	}
	return noHeading
}
