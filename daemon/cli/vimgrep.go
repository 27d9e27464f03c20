package cli

import (
	"bytes"
	"io"
	"os"
	"strings"

	"quern/ipc"
)

// maxLine bounds what vimgrep shows of one line, on each side of the passage.
const maxLine = 4096

// printVimgrep writes path:line:col:text for the first matched word of each
// hit. Line and byte column count from 1.
func (a *app) printVimgrep(hits []ipc.Hit) {
	paths := a.newPathShower(a.out)
	for _, h := range hits {
		line, column, text := firstMatch(h)
		if a.out.terminal {
			text = safeText(text)
		}
		a.out.printf("%s:%d:%d:%s\n", paths.showWire(h.Path), line, column, text)
	}
}

// firstMatch finds the line and byte column of a hit's first matched word,
// and that line's text. When only its heading matched it is column 1 of the
// passage's first line.
func firstMatch(h ipc.Hit) (line, column int, text string) {
	at, marks := 0, cleanMarks(h.Text, h.Highlights)
	if len(marks) > 0 {
		at = marks[0][0]
	}
	start := strings.LastIndexByte(h.Text[:at], '\n') + 1
	end := len(h.Text)
	if i := strings.IndexByte(h.Text[at:], '\n'); i >= 0 {
		end = at + i
	}
	line = h.Lines[0] + strings.Count(h.Text[:start], "\n")
	before, after := "", ""
	if start == 0 || end == len(h.Text) {
		before, after = around(h)
	}
	if start > 0 {
		before = ""
	}
	if end < len(h.Text) {
		after = ""
	}
	if len(marks) > 0 {
		column = len(before) + at - start
	}
	return line, column + 1, before + h.Text[start:end] + after
}

// around reads what stands before a passage on its first line and after it on
// its last: a passage may start in the middle of a line. When the file has
// changed, or its text is not its bytes, it is empty.
func around(h ipc.Hit) (before, after string) {
	size := h.Bytes[1] - h.Bytes[0]
	if h.Bytes[0] < 0 || size < 0 || size > 2*len(h.Text) {
		return "", ""
	}
	path := fromWire(h.Path)
	// Opening a pipe that has meanwhile taken the file's place would hang.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", ""
	}
	file, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	from := max(0, h.Bytes[0]-maxLine)
	data := make([]byte, h.Bytes[1]-from+maxLine)
	n, err := file.ReadAt(data, int64(from))
	if err != nil && err != io.EOF || from+n < h.Bytes[1] {
		return "", ""
	}
	data = data[:n]
	head, body, tail := data[:h.Bytes[0]-from], data[h.Bytes[0]-from:h.Bytes[1]-from], data[h.Bytes[1]-from:]
	if string(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))) != h.Text {
		return "", ""
	}
	return lineEnd(head), lineStart(tail)
}

// lineEnd is what follows the last line end; nothing when the line is too long.
func lineEnd(data []byte) string {
	i := bytes.LastIndexByte(data, '\n')
	if i < 0 && len(data) >= maxLine {
		return ""
	}
	return string(data[i+1:])
}

// lineStart is what precedes the first line end.
func lineStart(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		data = data[:i]
	}
	return strings.ToValidUTF8(strings.TrimSuffix(string(data), "\r"), "")
}
