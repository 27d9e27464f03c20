package extract

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"unicode/utf16"
)

// Records of binary workbooks: MS-XLSB 2.3.
const (
	brtRowHdr       = 0
	brtCellRk       = 2
	brtCellBool     = 4
	brtCellReal     = 5
	brtCellSt       = 6
	brtCellIsst     = 7
	brtFmlaString   = 8
	brtFmlaNum      = 9
	brtFmlaBool     = 10
	brtSSTItem      = 19
	brtFmt          = 44
	brtXF           = 47
	brtCellRString  = 62
	brtWbProp       = 153
	brtBundleSh     = 156
	brtBeginCellXFs = 617
	brtEndCellXFs   = 618
	brtCommentText  = 637
)

// parseXLSB reads a binary workbook.
func parseXLSB(p *zipPackage) error {
	w := &xlsx{p: p, b: newTextBuilder(p.d)}
	main := p.mainPartOr("xl/workbook.bin")
	rels := p.relations(main)
	ids := byID(rels)
	var sheets []workbookSheet
	err := w.records(main, func(id int, r leReader) {
		switch id {
		case brtWbProp:
			w.formats.date1904 = r.u32(0)&1 != 0
		case brtBundleSh:
			rel, after := r.wideString(8)
			name, _ := r.wideString(after)
			if len(sheets) < maxRelations {
				sheets = append(sheets, workbookSheet{name, ids[rel].target})
			}
		}
	})
	for _, part := range targets(rels, "styles") {
		w.binaryStyles(part)
	}
	for _, part := range targets(rels, "sharedStrings") {
		w.binaryShared(part)
	}
	for _, s := range sheets {
		if e := w.binarySheet(s); err == nil {
			err = e
		}
	}
	props := p.ooxmlProperties()
	props.apply(p.d)
	w.b.closing(props.more)
	return w.b.finish(err)
}

// records reads the records of a binary part.
func (w *xlsx) records(part string, f func(id int, r leReader)) error {
	part = partName(part)
	in, err := w.p.open(part)
	if err != nil {
		if errors.Is(err, errNoPart) {
			return nil
		}
		return err
	}
	defer in.Close()
	r := bufio.NewReader(in)
	var buf []byte
	for !w.b.full() {
		id, err := readVarint(r, 2)
		if err != nil {
			return readError(err)
		}
		size, err := readVarint(r, 4)
		if err == nil && size > maxToken {
			return notText("corrupt: " + part + " has a record that is too long")
		}
		if err == nil {
			if cap(buf) < size {
				buf = make([]byte, size)
			}
			buf = buf[:size]
			_, err = io.ReadFull(r, buf)
		}
		if err != nil {
			return readError(err)
		}
		f(id, buf)
	}
	return nil
}

// readVarint reads a number of up to n bytes. Those of two bytes are the ids of
// records, whose high bits the format leaves in place of the marks: 7 bits a byte.
func readVarint(r io.ByteReader, n int) (int, error) {
	value := 0
	for i := range n {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		value |= int(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			break
		}
	}
	return value, nil
}

func (w *xlsx) binaryStyles(part string) {
	inCells := false
	w.records(part, func(id int, r leReader) {
		switch id {
		case brtFmt:
			code, _ := r.wideString(2)
			w.formats.define(int(r.u16(0)), code)
		case brtBeginCellXFs, brtEndCellXFs:
			inCells = id == brtBeginCellXFs
		case brtXF:
			if inCells && len(w.formats.cells) < maxCellFormats {
				w.formats.cells = append(w.formats.cells, int(r.u16(2)))
			}
		}
	})
}

func (w *xlsx) binaryShared(part string) {
	total := 0
	w.records(part, func(id int, r leReader) {
		if id == brtSSTItem && total < maxPart {
			s, _ := r.wideString(1)
			total += len(s) + 32
			w.shared = append(w.shared, s)
		}
	})
}

func (w *xlsx) binarySheet(s workbookSheet) error {
	w.b.startPage(0)
	w.b.heading(1, s.name)
	err := w.records(s.part, w.binaryCell)
	w.b.sep(sepBlank)
	for _, r := range w.p.relations(s.part) {
		switch r.kind {
		case "comments":
			w.records(r.target, func(id int, r leReader) {
				if id == brtCommentText {
					text, _ := r.wideString(1)
					w.b.addLine(text)
				}
			})
		case "drawing":
			w.drawing(r.target)
		}
	}
	return err
}

// binaryCell adds a cell: its column, its style, its value.
func (w *xlsx) binaryCell(id int, r leReader) {
	text, style := "", int(r.u32(4)&0xffffff)
	switch id {
	case brtRowHdr:
		w.b.sep(sepLine)
		return
	case brtCellRk:
		text = w.formats.showNumber(style, rkNumber(r.u32(8)))
	case brtCellReal, brtFmlaNum:
		text = w.formats.showNumber(style, math.Float64frombits(r.u64(8)))
	case brtCellBool, brtFmlaBool:
		text = boolText(r.u8(8) != 0)
	case brtCellSt, brtFmlaString:
		text, _ = r.wideString(8)
	case brtCellRString:
		text, _ = r.wideString(9)
	case brtCellIsst:
		if i := int(r.u32(8)); i < len(w.shared) {
			text = w.shared[i]
		}
	}
	if text != "" {
		w.b.add(oneCell(text))
		w.b.endCell()
	}
}

// rkNumber decodes a number of 30 bits: MS-XLS 2.5.217.
func rkNumber(rk uint32) float64 {
	n := float64(int32(rk) >> 2)
	if rk&2 == 0 {
		n = math.Float64frombits(uint64(rk&^3) << 32)
	}
	if rk&1 != 0 {
		n /= 100
	}
	return n
}

// leReader reads little-endian values at offsets; what lies outside is zero.
type leReader []byte

func (r leReader) at(off, n int) []byte {
	if off < 0 || n < 0 || off > len(r) || n > len(r)-off {
		return nil
	}
	return r[off : off+n]
}

func (r leReader) u8(off int) byte {
	if b := r.at(off, 1); b != nil {
		return b[0]
	}
	return 0
}

func (r leReader) u16(off int) uint16 {
	if b := r.at(off, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r leReader) u32(off int) uint32 {
	if b := r.at(off, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r leReader) u64(off int) uint64 {
	if b := r.at(off, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// wideString is a string in UTF-16 after its length, and the offset behind it.
func (r leReader) wideString(off int) (string, int) {
	n := int(r.u32(off))
	if n > len(r)/2 {
		return "", len(r)
	}
	return utf16LE(r.at(off+4, 2*n)), off + 4 + 2*n
}

// utf16LE decodes UTF-16, little end first.
func utf16LE(b []byte) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}
