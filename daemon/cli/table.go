package cli

import (
	"path/filepath"
	"strconv"
	"strings"
)

// table aligns rows of cells. A column whose head starts with ">" is set
// flush right.
type table struct {
	heads []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines renders the table, each line starting with indent. Heads are left out
// when all are empty.
func (t *table) lines(indent string) []string {
	right := make([]bool, len(t.heads))
	heads := make([]string, len(t.heads))
	named := false
	for i, h := range t.heads {
		heads[i], right[i] = strings.CutPrefix(h, ">")
		named = named || heads[i] != ""
	}
	rows := t.rows
	if named {
		rows = append([][]string{heads}, rows...)
	}
	widths := columnWidths(rows, len(heads))
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = strings.TrimRight(indent+joinCells(row, widths, right), " ")
	}
	return out
}

// narrowColumns is the width below which a table does not fit a terminal.
const narrowColumns = 70

// fitted renders the table for a stream: on a narrow terminal one field a line.
func (t *table) fitted(o *output, indent string) []string {
	if !o.terminal || o.columns-len(indent) >= narrowColumns {
		return t.lines(indent)
	}
	var out []string
	for _, row := range t.rows {
		out = append(out, wrapped(row[0], indent, o.columns)...)
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			if head := strings.TrimPrefix(t.heads[i+1], ">"); head != "" {
				cell = head + ": " + cell
			}
			out = append(out, wrapped(cell, indent+"  ", o.columns)...)
		}
	}
	return out
}

// wrapped breaks text at blanks into lines of at most the given number of
// columns. A longer word has a line of its own, and what may be a path is left
// whole: so it can be copied.
func wrapped(text, indent string, columns int) []string {
	if strings.ContainsRune(text, filepath.Separator) {
		return []string{indent + text}
	}
	var out []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		switch {
		case line == "":
			line = indent + word
		case displayWidth(line)+1+displayWidth(word) <= columns:
			line += " " + word
		default:
			out, line = append(out, line), indent+word
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

func columnWidths(rows [][]string, n int) []int {
	widths := make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	return widths
}

func joinCells(row []string, widths []int, right []bool) string {
	cells := make([]string, len(row))
	for i, cell := range row {
		if right[i] {
			cells[i] = padLeft(cell, widths[i])
		} else {
			cells[i] = pad(cell, widths[i])
		}
	}
	return strings.Join(cells, "  ")
}

// count writes a number with commas between the thousands.
func count[T int | int64 | uint64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// plural writes "1 hit" or "2 hits".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}
