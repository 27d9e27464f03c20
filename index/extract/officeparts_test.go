package extract

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// zipOf makes a zip archive of names and contents in turn.
func makeZip(t testing.TB, parts ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := 0; i < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rels makes a part of relations of triples: id, kind, target.
func rels(triples ...string) string {
	var b strings.Builder
	b.WriteString("<Relationships>")
	for i := 0; i < len(triples); i += 3 {
		fmt.Fprintf(&b, `<Relationship Id="%s" Type="http://x/%s" Target="%s"/>`, triples[i], triples[i+1], triples[i+2])
	}
	return b.String() + "</Relationships>"
}

// u16 and u32 are numbers as the old formats write them, wide a text in UTF-16.
func u16(n ...int) string {
	var b []byte
	for _, v := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return string(b)
}

func u32(n ...int) string {
	var b []byte
	for _, v := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// oleOf makes a compound file of names and streams in turn, each stream in its own
// sectors of 512 bytes; the cutoff of small streams is 0.
func oleOf(streams ...string) []byte {
	count := len(streams) / 2
	dirSectors, total := (count+4)/4, (count+4)/4
	for i := range count {
		total += sectorsOf(streams[2*i+1])
	}
	fatSectors := total/127 + 1
	fat, list, first := []int{}, []int{}, fatSectors
	for i := range fatSectors {
		fat, list = append(fat, -3), append(list, i)
	}
	allot := func(sectors int) {
		for j := range sectors {
			first++
			fat = append(fat, chainTo(first, j == sectors-1))
		}
	}
	allot(dirSectors)
	dir, body := dirEntry("Root Entry", 5, 1, -2, 0), ""
	for i := range count {
		data, right := streams[2*i+1], i+2
		if i+1 == count {
			right = -1
		}
		dir += dirEntry(streams[2*i], 2, right, first, len(data))
		body += padded(data, sectorsOf(data)*512, "\x00")
		allot(sectorsOf(data))
	}
	header := oleMagic + strings.Repeat("\x00", 16) + u16(0x3e, 3, 0xfffe, 9, 6, 0, 0, 0) +
		u32(0, fatSectors, fatSectors, 0, 0, -2, 0, -2, 0) + u32(list...)
	return []byte(padded(header, 512, "\xff") + padded(u32(fat...), fatSectors*512, "\xff") + padded(dir, dirSectors*512, "\x00") + body)
}

// sectorsOf is how many sectors a stream takes.
func sectorsOf(s string) int { return (len(s) + 511) / 512 }

func chainTo(next int, last bool) int {
	if last {
		return -2
	}
	return next
}

func padded(s string, n int, with string) string {
	return s + strings.Repeat(with, max(n-len(s), 0))
}

// dirEntry is an entry of a compound file's directory. The root's link is to its
// child, a stream's to the next one.
func dirEntry(name string, kind, link, start, size int) string {
	right, child := link, -1
	if kind == 5 {
		right, child = -1, link
	}
	n := wide(name)
	return padded(n, 64, "\x00") + u16(len(n)+2) + string([]byte{byte(kind), 1}) + u32(-1, right, child) +
		strings.Repeat("\x00", 36) + u32(start, size, 0)
}

// outlined is a document as lines: pages, heading paths and texts.
func outlined(d *Document) string {
	var b strings.Builder
	for _, s := range d.Sections {
		if s.Page > 0 {
			fmt.Fprintf(&b, "page %d ", s.Page)
		}
		if len(s.Heading) > 0 {
			fmt.Fprintf(&b, "# %s", strings.Join(s.Heading, " > "))
		}
		if s.Page > 0 || len(s.Heading) > 0 {
			b.WriteString("\n")
		}
		for line := range strings.Lines(string(d.Text[s.Start:s.End])) {
			if strings.TrimSpace(line) != "" {
				b.WriteString(strings.TrimRight(line, "\n") + "\n")
			}
		}
	}
	return b.String()
}

// checkOutline checks what is read of a document.
func checkOutline(t *testing.T, typ string, data []byte, want string) *Document {
	t.Helper()
	d, err := parseTestOffice(typ, data)
	if err != nil {
		t.Fatal(err)
	}
	checkSections(t, d)
	if !d.Extracted {
		t.Error("not marked as extracted")
	}
	if got := outlined(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return d
}
