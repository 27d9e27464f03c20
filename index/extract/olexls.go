package extract

import (
	"math"
)

// Records of Excel workbooks: MS-XLS 2.3.
const (
	xlsFormula    = 0x06
	xlsHeader     = 0x14
	xlsFooter     = 0x15
	xlsNote       = 0x1c
	xlsDateMode   = 0x22
	xlsFilePass   = 0x2f
	xlsContinue   = 0x3c
	xlsCodePage   = 0x42
	xlsBoundSheet = 0x85
	xlsMulRK      = 0xbd
	xlsRString    = 0xd6
	xlsXF         = 0xe0
	xlsSST        = 0xfc
	xlsLabelSST   = 0xfd
	xlsTXO        = 0x1b6
	xlsNumber     = 0x203
	xlsLabel      = 0x204
	xlsFormula3   = 0x206
	xlsFormula4   = 0x406
	xlsBOF3       = 0x209
	xlsBOF4       = 0x409
	xlsBoolErr    = 0x205
	xlsString     = 0x207
	xlsRK         = 0x27e
	xlsFormat     = 0x41e
	xlsBOF        = 0x809
	xlsSeriesText = 0x100d
)

// xlsBook reads a workbook of Excel 3 to 2003.
type xlsBook struct {
	d       *Document
	b       *textBuilder
	data    leReader
	pos     int
	old     bool // of Excel 5 or 95: strings are in a code page
	page    int
	formats cellFormats
	shared  []string
	sheets  map[int]string // names by the place of the sheet
	row     int
	trailer []string
}

func parseXLS(d *Document, f *oleFile) error {
	data, err := f.stream("Workbook")
	old := len(data) == 0
	if old {
		data, err = f.stream("Book")
	}
	if err != nil {
		return err
	}
	return readXLS(d, data, old, f.properties())
}

// parseBareXLS reads a workbook without a compound file, as Excel 3 and 4 write it.
func parseBareXLS(d *Document) error {
	d.Type = "xls"
	return readXLS(d, d.Text, true, properties{})
}

// isBIFF says that data begins as a workbook of Excel 3 or newer.
func isBIFF(data leReader) bool {
	switch data.u16(0) {
	case xlsBOF, xlsBOF3, xlsBOF4:
		return data.u16(2) >= 4 && data.u16(2) <= 16
	}
	return false
}

func readXLS(d *Document, data leReader, old bool, props properties) error {
	if !isBIFF(data) {
		return notText("corrupt: its workbook has no header")
	}
	w := &xlsBook{d: d, b: newTextBuilder(d), data: data, page: 1252, old: old || data.u16(4) < 0x600, sheets: map[int]string{}, row: -1}
	if err := w.read(); err != nil {
		return err
	}
	props.apply(d)
	w.b.closing(append(w.trailer, props.more...))
	return w.b.finish(nil)
}

// read goes through the records. A string formula's result is in a record of its
// own, which adds it.
func (w *xlsBook) read() error {
	for w.pos+4 <= len(w.data) && !w.b.full() {
		at := w.pos
		id, r := w.record()
		switch id {
		case xlsFilePass:
			return notText("encrypted: it needs a password")
		case xlsBOF:
			w.begin(at)
		case xlsSST:
			w.readShared(r)
		default:
			if !w.global(id, r) {
				w.cell(id, r)
			}
		}
	}
	return nil
}

// record reads the record at pos and goes on behind it.
func (w *xlsBook) record() (int, leReader) {
	id, n := int(w.data.u16(w.pos)), int(w.data.u16(w.pos+2))
	start := w.pos + 4
	w.pos = min(start+n, len(w.data))
	return id, w.data[start:w.pos]
}

// continued are the records that go on with the last one.
func (w *xlsBook) continued() []leReader {
	var parts []leReader
	for w.data.u16(w.pos) == xlsContinue && w.pos+4 <= len(w.data) {
		_, r := w.record()
		parts = append(parts, r)
	}
	return parts
}

// begin begins a sheet where one is known to be.
func (w *xlsBook) begin(at int) {
	if name, ok := w.sheets[at]; ok {
		w.b.startPage(0)
		w.b.heading(1, name)
		w.row = -1
	}
}

// global takes the records of the workbook as a whole. It says whether the record is
// one.
func (w *xlsBook) global(id int, r leReader) bool {
	switch id {
	case xlsCodePage:
		w.page = int(r.u16(0))
	case xlsDateMode:
		w.formats.date1904 = r.u16(0) == 1
	case xlsBoundSheet:
		if len(w.sheets) < maxRelations {
			w.sheets[int(r.u32(0))] = w.shortString(r, 6)
		}
	case xlsFormat:
		if w.old {
			w.formats.define(int(r.u16(0)), w.shortString(r, 2))
		} else {
			w.formats.define(int(r.u16(0)), w.longString(r, 2))
		}
	case xlsXF:
		if len(w.formats.cells) < maxCellFormats {
			w.formats.cells = append(w.formats.cells, int(r.u16(2)))
		}
	case xlsHeader, xlsFooter:
		w.header(r)
	case xlsTXO:
		w.textObject(r)
	case xlsSeriesText:
		w.b.addLine(w.shortString(r, 2))
	case xlsNote:
		if w.old {
			w.b.addLine(decodePage(w.page, r.at(6, min(int(r.u16(4)), max(len(r)-6, 0)))))
		}
	default:
		return false
	}
	return true
}

func (w *xlsBook) header(r leReader) {
	text := ""
	if w.old {
		text = w.shortString(r, 0)
	} else {
		text = w.longString(r, 0)
	}
	if len(w.trailer) < maxRelations {
		w.trailer = append(w.trailer, headerText(text))
	}
}

// textObject adds the text of a comment or a shape, which is in the next record.
func (w *xlsBook) textObject(r leReader) {
	chars := int(r.u16(10))
	parts := w.continued()
	if chars == 0 || len(parts) == 0 {
		return
	}
	s := &xlsStrings{parts: parts}
	w.b.addLine(s.chars(chars, s.byte()&1 != 0))
}

// cell adds a cell: row, column, style, value.
func (w *xlsBook) cell(id int, r leReader) {
	style := int(r.u16(4))
	switch id {
	case xlsLabelSST:
		if i := int(r.u32(6)); i < len(w.shared) {
			w.add(r, w.shared[i])
		}
	case xlsLabel, xlsRString:
		w.add(r, w.longString(r, 6))
	case xlsNumber:
		w.add(r, w.formats.showNumber(style, math.Float64frombits(r.u64(6))))
	case xlsRK:
		w.add(r, w.formats.showNumber(style, rkNumber(r.u32(6))))
	case xlsMulRK:
		for off := 4; off+6 <= len(r)-2; off += 6 {
			w.add(r, w.formats.showNumber(int(r.u16(off)), rkNumber(r.u32(off+2))))
		}
	case xlsFormula, xlsFormula3, xlsFormula4:
		w.formula(r, style)
	case xlsString:
		w.b.add(oneCell(w.longString(r, 0)))
		w.b.endCell()
	case xlsBoolErr:
		if r.u8(7) == 0 {
			w.add(r, boolText(r.u8(6) != 0))
		}
	}
}

// add adds a text to the row that the record names.
func (w *xlsBook) add(r leReader, text string) {
	if row := int(r.u16(0)); row != w.row {
		w.row = row
		w.b.sep(sepLine)
	}
	if text != "" {
		w.b.add(oneCell(text))
		w.b.endCell()
	}
}

// formula adds the last result of a formula.
func (w *xlsBook) formula(r leReader, style int) {
	switch {
	case r.u16(12) != 0xffff:
		w.add(r, w.formats.showNumber(style, math.Float64frombits(r.u64(6))))
	case r.u8(6) == 1:
		w.add(r, boolText(r.u8(8) != 0))
	default:
		w.add(r, "")
	}
}

// shortString is a string after its length of one byte, longString one after its
// length of two.
func (w *xlsBook) shortString(r leReader, off int) string {
	return w.stringAt(r, off+1, int(r.u8(off)))
}

func (w *xlsBook) longString(r leReader, off int) string {
	return w.stringAt(r, off+2, int(r.u16(off)))
}

func (w *xlsBook) stringAt(r leReader, off, chars int) string {
	if off >= len(r) {
		return ""
	}
	if w.old {
		return decodePage(w.page, r[off:min(off+chars, len(r))])
	}
	s := &xlsStrings{parts: []leReader{r[off:]}}
	return s.chars(chars, s.byte()&1 != 0)
}

// readShared reads the strings that cells refer to.
func (w *xlsBook) readShared(r leReader) {
	s := &xlsStrings{parts: append([]leReader{r}, w.continued()...)}
	s.skip(8)
	total := 0
	for n := r.u32(4); n > 0 && len(s.parts) > 0; n-- {
		text := s.next()
		if total += len(text) + 16; total > maxPart {
			return
		}
		w.shared = append(w.shared, text)
	}
}

// xlsStrings reads strings that go on over the ends of records.
type xlsStrings struct{ parts []leReader }

// byte reads one byte.
func (s *xlsStrings) byte() byte {
	s.trim()
	if len(s.parts) == 0 {
		return 0
	}
	b := s.parts[0][0]
	s.parts[0] = s.parts[0][1:]
	return b
}

// trim goes on to the next record where this one is read.
func (s *xlsStrings) trim() {
	for len(s.parts) > 0 && len(s.parts[0]) == 0 {
		s.parts = s.parts[1:]
	}
}

func (s *xlsStrings) u16() int { return int(s.byte()) | int(s.byte())<<8 }

// skip passes over n bytes.
func (s *xlsStrings) skip(n int) {
	for n > 0 {
		if s.trim(); len(s.parts) == 0 {
			return
		}
		k := min(n, len(s.parts[0]))
		s.parts[0] = s.parts[0][k:]
		n -= k
	}
}

// next reads a string with its formatting behind it.
func (s *xlsStrings) next() string {
	chars, flags := s.u16(), s.byte()
	after := 0
	if flags&8 != 0 {
		after = 4 * s.u16()
	}
	if flags&4 != 0 {
		low := s.u16()
		after += low | s.u16()<<16
	}
	text := s.chars(chars, flags&1 != 0)
	s.skip(after)
	return text
}

// chars reads n characters, wide or narrow. A record that goes on with them begins
// with a byte that says anew which they are.
func (s *xlsStrings) chars(n int, wide bool) string {
	var text []byte
	for s.trim(); n > 0 && len(s.parts) > 0; {
		size := 1
		if wide {
			size = 2
		}
		k := min(n, len(s.parts[0])/size)
		run := s.parts[0][:k*size]
		if wide {
			text = append(text, utf16LE(run)...)
		} else {
			text = append(text, latin1(run)...)
		}
		n -= k
		s.parts[0] = s.parts[0][k*size:]
		if n == 0 {
			break
		}
		s.parts = s.parts[1:]
		if s.trim(); len(s.parts) > 0 {
			wide = s.byte()&1 != 0
			s.trim()
		}
	}
	return string(text)
}

// latin1 decodes the low bytes of UTF-16.
func latin1(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}
