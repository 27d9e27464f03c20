package extract

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// numberKind is how a number in a cell is shown.
type numberKind byte

const (
	numberPlain numberKind = iota
	numberDate
	numberTime
	numberDateTime
	numberPercent
)

// maxCellFormats bounds the formats of a workbook.
const maxCellFormats = 100_000

// cellFormats are the number formats of a workbook.
type cellFormats struct {
	date1904 bool
	custom   map[int]numberKind
	cells    []int // the format of each cell style
}

// read reads the styles of an OOXML workbook.
func (f *cellFormats) read(x *xmlReader) {
	inCells := false
	for e := x.next(); e != xmlEnd && len(f.cells) < maxCellFormats; e = x.next() {
		switch {
		case x.name == "cellxfs":
			inCells = e == xmlOpen
		case e == xmlOpen && x.name == "numfmt":
			f.define(x.intAttr("numfmtid", 0), x.attr("formatcode"))
		case e == xmlOpen && x.name == "xf" && inCells:
			f.cells = append(f.cells, x.intAttr("numfmtid", 0))
		}
	}
}

// define adds a format of the workbook's own.
func (f *cellFormats) define(id int, code string) {
	if f.custom == nil {
		f.custom = map[int]numberKind{}
	}
	if len(f.custom) < maxCellFormats {
		f.custom[id] = formatKind(code)
	}
}

// kind is how a cell of a style shows its number. The formats below 50 are built
// in: ECMA-376 part 1, 18.8.30.
func (f *cellFormats) kind(style int) numberKind {
	if style < 0 || style >= len(f.cells) {
		return numberPlain
	}
	id := f.cells[style]
	if k, ok := f.custom[id]; ok {
		return k
	}
	switch {
	case id == 9 || id == 10:
		return numberPercent
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 58:
		return numberDate
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id >= 45 && id <= 47:
		return numberTime
	case id == 22:
		return numberDateTime
	}
	return numberPlain
}

// formatKind tells from a format's code what it shows: the first of its sections,
// without literal text, colours and conditions.
func formatKind(code string) numberKind {
	var date, clock, percent bool
	for i := 0; i < len(code); i++ {
		switch c := code[i] | 0x20; {
		case code[i] == ';':
			i = len(code)
		case code[i] == '"':
			i += 1 + max(strings.IndexByte(code[i+1:], '"'), 0)
		case code[i] == '\\' || code[i] == '_' || code[i] == '*':
			i++
		case code[i] == '[':
			end := strings.IndexByte(code[i:], ']')
			inner := strings.ToLower(code[i+1 : i+max(end, 1)])
			clock = clock || inner != "" && strings.Trim(inner, "hms") == ""
			i += max(end, 0)
		case c == 'y' || c == 'd':
			date = true
		case c == 'h' || c == 's':
			clock = true
		case c == 'g' && strings.HasPrefix(strings.ToLower(code[i:]), "general"):
			i += len("general") - 1
		case code[i] == '%':
			percent = true
		}
	}
	switch {
	case date && clock:
		return numberDateTime
	case date:
		return numberDate
	case clock:
		return numberTime
	case percent:
		return numberPercent
	}
	return numberPlain
}

// show is a cell's number as text: dates as ISO 8601 writes them, whatever the
// format, others with the digits that count.
func (f *cellFormats) show(style int, v string) string {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	return f.showNumber(style, n)
}

func (f *cellFormats) showNumber(style int, n float64) string {
	kind := f.kind(style)
	switch kind {
	case numberPlain:
		return plainNumber(n)
	case numberPercent:
		return plainNumber(n*100) + "%"
	}
	if n < 0 || n >= 2_958_466 { // after the year 9999
		return plainNumber(n)
	}
	t := f.date(n)
	switch {
	case kind == numberTime, kind == numberDateTime && n < 1:
		return t.Format("15:04:05")
	case kind == numberDate, n == math.Trunc(n):
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02 15:04:05")
}

// date is the time of a serial number: days since the end of 1899, in which 1900
// has a 29 February, or since 1904.
func (f *cellFormats) date(n float64) time.Time {
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case f.date1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case n < 61:
		epoch = epoch.AddDate(0, 0, 1)
	}
	days := math.Floor(n)
	seconds := math.Round((n - days) * 86400)
	return epoch.AddDate(0, 0, int(days)).Add(time.Duration(seconds) * time.Second)
}

// plainNumber is a number with the 15 digits that spreadsheets show.
func plainNumber(n float64) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return ""
	}
	if a := math.Abs(n); a != 0 && (a >= 1e21 || a < 1e-9) {
		return strconv.FormatFloat(n, 'G', -1, 64)
	}
	s := strconv.FormatFloat(n, 'g', 15, 64)
	n, _ = strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// atoi is a whole number, or -1.
func atoi(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return -1
	}
	return n
}
