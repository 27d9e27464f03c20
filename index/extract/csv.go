package extract

import (
	"bytes"
	"strings"
)

// maxHeader is the longest line of column names, maxColumn the longest name.
const (
	maxHeader = 400
	maxColumn = 60
)

// parseCSV reads tables as text, line by line, whatever their quotes say. The names
// of the columns, where the first line holds some, are the heading of all.
func parseCSV(d *Document) error {
	r := lineReader{text: d.Text}
	l, ok := r.read()
	names := columnNames(l.content)
	if !ok || names == "" || l.next == len(d.Text) {
		return parsePlain(d)
	}
	start := l.start
	if bytes.HasPrefix(d.Text, []byte(bytesUTF8)) {
		start = len(bytesUTF8)
	}
	d.sections(start, []heading{{level: 2, text: names, start: start, end: l.end, after: l.next}})
	return nil
}

// columnNames returns the names in a table's first line, or "" if these are rather
// data: numbers, nothing, or sentences.
func columnNames(line []byte) string {
	text := strings.TrimPrefix(Decode(line), "\ufeff")
	if len(text) > maxHeader || strings.Count(text, `"`)%2 != 0 {
		return ""
	}
	fields := strings.Split(text, separator(text))
	if len(fields) < 2 {
		return ""
	}
	for i, f := range fields {
		f = strings.Trim(fold(f), `"' `)
		if f == "" || len(f) > maxColumn || strings.ContainsAny(f[:1], "0123456789-+.=$€") {
			return ""
		}
		fields[i] = f
	}
	return strings.Join(fields, ", ")
}

// separator returns what a line has most of.
func separator(line string) string {
	best, most := ",", 0
	for _, s := range []string{",", ";", "\t", "|"} {
		if n := strings.Count(line, s); n > most {
			best, most = s, n
		}
	}
	return best
}
