package extract

import "sort"

// textRange is a half-open range of bytes in a stream.
type textRange struct{ start, end int }

// Numbers of properties of characters: MS-DOC 2.6.1. Word 6 and 95 have others.
const (
	sprmDeleted   = 0x0800
	sprmHidden    = 0x083c
	sprmDeleted95 = 65
	sprmHidden95  = 92
)

// styleTitle is the number of the built-in style for a document's title; headings
// have 1 to 9.
const styleTitle = 62

// readStylesheet finds the heading levels of styles by what they are, or are based
// on.
func (w *wordDoc) readStylesheet() {
	if w.old {
		return
	}
	sheet := leReader(w.table.at(int(w.main.u32(fibStyles)), int(w.main.u32(fibStyles+4))))
	off := 2 + int(sheet.u16(0))
	var base []int
	for off+2 <= len(sheet) {
		n := int(sheet.u16(off))
		off += 2
		level, parent := noHeading, -1
		if n >= 4 {
			level, parent = builtInLevel(int(sheet.u16(off)&0xfff)), int(sheet.u16(off+2)>>4)
		}
		w.levels, base = append(w.levels, level), append(base, parent)
		off += n + n&1
	}
	for i := range w.levels {
		for at, n := i, 0; n < 20 && w.levels[i] == noHeading && at >= 0 && at < len(base); n++ {
			at = base[at]
			if at >= 0 && at < len(w.levels) {
				w.levels[i] = w.levels[at]
			}
		}
	}
}

// builtInLevel is the heading level of a built-in style.
func builtInLevel(style int) int {
	switch {
	case style >= 1 && style <= 9:
		return style
	case style == styleTitle:
		return titleLevel
	}
	return noHeading
}

// readHidden finds the text that is not shown: that marked as hidden or as deleted.
func (w *wordDoc) readHidden() {
	for _, page := range w.formatPages(fibChpx, fibChpx95) {
		runs := int(page.u8(511))
		for i := range runs {
			off := 2 * int(page.u8(4*(runs+1)+i))
			if off > 0 && w.isHidden(page.at(off+1, int(page.u8(off)))) {
				w.hiddenRuns = append(w.hiddenRuns, textRange{int(page.u32(4 * i)), int(page.u32(4 * (i + 1)))})
			}
		}
	}
	sort.Slice(w.hiddenRuns, func(i, j int) bool { return w.hiddenRuns[i].start < w.hiddenRuns[j].start })
	kept := w.hiddenRuns[:0]
	for _, r := range w.hiddenRuns {
		if n := len(kept); r.end > r.start && (n == 0 || kept[n-1].end <= r.start) {
			kept = append(kept, r)
		}
	}
	w.hiddenRuns = kept
}

// isHidden looks for the two properties in a list of them. In that of the old
// versions the sizes are not told: only the first is looked at.
func (w *wordDoc) isHidden(list leReader) bool {
	if w.old {
		return (list.u8(0) == sprmDeleted95 || list.u8(0) == sprmHidden95) && list.u8(1) == 1
	}
	for off := 0; off+2 < len(list); {
		sprm := list.u16(off)
		off += 2
		if (sprm == sprmDeleted || sprm == sprmHidden) && list.u8(off) == 1 {
			return true
		}
		off += sprmSize(sprm, list.u8(off))
	}
	return false
}

// sprmSize is the size of a property's value, which its number tells, or the first
// byte of it.
func sprmSize(sprm uint16, first byte) int {
	switch sprm >> 13 {
	case 0, 1:
		return 1
	case 2, 4, 5:
		return 2
	case 3:
		return 4
	case 6:
		return 1 + int(first)
	}
	return 3
}
