package extract

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// patched is s with other bytes at an offset.
func patched(s string, off int, with string) string {
	return s[:off] + with + s[off+len(with):]
}

// wordOf makes the streams of a Word document of one piece of 8-bit text, with one
// page of paragraphs' styles and one of hidden characters.
func wordOf(body, notes string, styles map[int]int, hidden [2]int) (main, table string) {
	const textAt = 512
	text := body + notes
	main = u16(0xa5ec, 0xc1, 0, 0x409, 0, fibTable1) + strings.Repeat("\x00", textAt-12)
	main = patched(main, fibLengths, u32(len(body), len(notes)))
	main += padded(text, 1024-textAt, "\x00")
	main += stylesPage(text, textAt, styles) + hiddenPage(textAt+hidden[0], textAt+hidden[1])

	pieces := "\x02" + u32(16) + u32(0, len(text)) + u16(0) + u32(textAt*2|1<<30) + u16(0)
	papx := u32(textAt, textAt+len(text)) + u32(2)
	chpx := u32(textAt, textAt+len(text)) + u32(3)
	table = pieces + papx + chpx
	main = patched(main, fibPieces, u32(0, len(pieces)))
	main = patched(main, fibPapx, u32(len(pieces), len(papx)))
	main = patched(main, fibChpx, u32(len(pieces)+len(papx), len(chpx)))
	return main, table
}

// stylesPage is the page of the styles of the paragraphs by their number.
func stylesPage(text string, at int, styles map[int]int) string {
	ends, entries, data := u32(at), "", strings.Repeat("\x00", 512)
	n := 0
	for i, c := range text {
		if c != '\r' {
			continue
		}
		off := 400 + 4*n
		data = patched(data, off, "\x02"+u16(styles[n]))
		ends += u32(at + i + 1)
		entries += string([]byte{byte(off / 2)}) + strings.Repeat("\x00", 12)
		n++
	}
	return patched(patched(data, 0, ends+entries), 511, string([]byte{byte(n)}))
}

// hiddenPage is a page of formats of characters that hides a range.
func hiddenPage(from, to int) string {
	page := patched(strings.Repeat("\x00", 512), 0, u32(from, to)+"\xc8")
	return patched(patched(page, 400, "\x06"+u16(0x2a42)+"\x01"+u16(sprmHidden)+"\x01"), 511, "\x01")
}

func TestDOC(t *testing.T) {
	const body = "Heading\rcaf\xe9 \x13 HYPERLINK x\x14link\x15 secret\x1e\rDeep\rA1\x07B1\x07\x07C1\x07\x07end\x0bline\r"
	secret := strings.Index(body, "secret")
	main, table := wordOf(body, "\x02 the note\r", map[int]int{0: 1, 2: 3}, [2]int{secret, secret + 6})
	d := checkOutline(t, "dot", oleOf("WordDocument", main, "1Table", table, "\x05SummaryInformation", summary()),
		"# Heading\ncafé link -\n# Heading > Deep\nA1\tB1\nC1\nend\nline\n the note\nkeyed\n")
	if d.Type != "dot" || d.Title != "Т" || d.Author != "Ann" || !d.Date.Equal(time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)) {
		t.Errorf("%s, %q, %q, %v", d.Type, d.Title, d.Author, d.Date)
	}
}

// summary is a stream of properties in the code page 1251.
func summary() string {
	saved := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC).Unix()*1e7 + 116_444_736_000_000_000
	values := []string{u32(2, 1251), u32(30, 2) + "\xd2\x00\x00\x00", u32(30, 4) + "Ann\x00", u32(30, 6) + "keyed\x00\x00\x00",
		u32(64, int(saved&0xffffffff), int(saved>>32))}
	ids := []int{oleCodePage, oleTitle, oleAuthor, oleKeywords, oleSaved}
	table, data, off := "", "", 8+8*len(ids)
	for i, v := range values {
		table += u32(ids[i], off)
		data += v
		off += len(v)
	}
	return u16(0xfffe, 0) + strings.Repeat("\x00", 20) + u32(1) + strings.Repeat("\x00", 16) + u32(48) + u32(off, len(ids)) + table + data
}

func TestWord95(t *testing.T) {
	text := "\xcf\xf0\xe8\xe2\xe5\xf2\rline\r"
	main := u16(0xa5dc, 104, 0, 0x419, 0, 0) + strings.Repeat("\x00", 500)
	main = patched(patched(main, fibTextFrom, u32(512, 512+len(text))), fibLength95, u32(len(text)))
	checkOutline(t, "doc", oleOf("WordDocument", main+text), "Привет\nline\n")
}

func TestWordInUTF16(t *testing.T) {
	main, table := wordOf(strings.Repeat("x", 9)+"\r", "", nil, [2]int{})
	table = patched(table, 15, u32(512))
	main = patched(main, 512, wide("при日本 ab\r"))
	checkOutline(t, "doc", oleOf("WordDocument", main, "1Table", table), "при日本 ab\n")
}

// rec is a record of an Excel workbook.
func rec(id int, body string) string { return u16(id, len(body)) + body }

func xlsText(s string) string { return u16(len(s)) + "\x00" + s }

func xlsOf(cells string) string {
	globals := rec(xlsBOF, u16(0x600, 5)) + rec(xlsFormat, u16(170)+xlsText("yyyy")) + rec(xlsXF, u16(0, 0)) + rec(xlsXF, u16(0, 170)) +
		rec(xlsSST, u32(3, 3)+xlsText("plain")+u16(4)+"\x09"+u16(1)+wide("rich")+u32(0)+u16(6)+"\x00over") + rec(xlsContinue, "\x01"+wide("日本"))
	sheet := rec(xlsBoundSheet, u32(0)+u16(0)+"\x05\x00Sheet")
	at := len(globals) + len(sheet) + len(rec(0x0a, ""))
	return globals + patched(sheet, 4, u32(at)) + rec(0x0a, "") + rec(xlsBOF, u16(0x600, 0x10)) + cells + rec(0x0a, "")
}

func TestXLS(t *testing.T) {
	cells := rec(xlsHeader, xlsText("&LCorp &D")) +
		rec(xlsLabelSST, u16(0, 0, 0)+u32(0)) + rec(xlsLabelSST, u16(0, 1, 0)+u32(1)) + rec(xlsLabelSST, u16(0, 2, 0)+u32(2)) + rec(xlsLabelSST, u16(0, 3, 0)+u32(9)) +
		rec(xlsNumber, u16(1, 0, 0)+"\x00\x00\x00\x00\x00\x00\xf8\x3f") + rec(xlsRK, u16(1, 1, 1)+u32(43890<<2|2)) +
		rec(xlsMulRK, u16(2, 0, 0)+u32(7<<2|2)+u16(0)+u32(850<<2|3)+u16(1)) +
		rec(xlsFormula, u16(3, 0, 0)+"\x00\x00\x00\x00\x00\x00\xff\xff"+u16(0)) + rec(xlsString, xlsText("made")) +
		rec(xlsBoolErr, u16(3, 1, 0)+"\x01\x00") + rec(xlsBoolErr, u16(3, 2, 0)+"\x2a\x01") +
		rec(xlsTXO, strings.Repeat("\x00", 10)+u16(4, 8)) + rec(xlsContinue, "\x00note") + rec(xlsContinue, "12345678")
	checkOutline(t, "xls", oleOf("Workbook", xlsOf(cells)), "# Sheet\nplain\trich\tover日本\n1.5\t2020-02-29\n7\t8.5\nmade\tTRUE\nnote\nCorp\n")
}

func TestExcel95(t *testing.T) {
	book := rec(xlsBOF, u16(0x500, 5)) + rec(xlsCodePage, u16(1251)) + rec(xlsLabel, u16(0, 0, 0)+u16(2)+"\xef\xf0")
	checkOutline(t, "xls", oleOf("Book", book), "пр\n")
}

func TestExcel4(t *testing.T) {
	book := rec(xlsBOF4, u16(0, 0x10, 0)) + rec(xlsLabel, u16(0, 0, 0)+u16(3)+"old") + rec(xlsNumber, u16(1, 0, 0)+"\x00\x00\x00\x00\x00\x00\xf8\x3f") +
		rec(xlsFormula4, u16(2, 0, 0)+"\x00\x00\x00\x00\x00\x00\xff\xff"+u16(0)) + rec(xlsString, u16(4)+"made")
	checkOutline(t, "xls", []byte(book), "old\n1.5\nmade\n")
}

func TestKnownButNotRead(t *testing.T) {
	for name, data := range map[string][]byte{"ppt": oleOf("PP40", "x"), "vsd": oleOf("VisioDocument", "x"), "pages": makeZip(t, "Index/Document.iwa", "x")} {
		if _, err := parseTestOffice(name, data); !errors.Is(err, ErrBinary) || !strings.HasPrefix(err.Error(), "not read: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// atom and box are records of a PowerPoint document.
func atom(kind int, body string) string { return u16(0, kind) + u32(len(body)) + body }

func box(kind, instance int, body ...string) string {
	all := strings.Join(body, "")
	return u16(15|instance<<4, kind) + u32(len(all)) + all
}

func pptOf(slide string) []byte {
	document := box(0x03e8, 0,
		box(pptSlideList, 0, atom(pptSlidePersist, u32(2, 0, 0, 256, 0)), atom(pptTextHeader, u32(0)), atom(pptTextChars, wide("Первый")),
			atom(pptTextHeader, u32(1)), atom(pptTextBytes, "point\rtwo"), atom(pptSlidePersist, u32(3, 0, 0, 257, 0))),
		box(pptSlideList, 2, atom(pptSlidePersist, u32(4, 0, 0, 300, 0))))
	first := box(0x03ee, 0, atom(pptSlideAtom, u32(0, 0, 0, 0, 300, 0)), slide)
	second := box(0x03ee, 0, box(0xf00d, 0, atom(pptTextHeader, u32(6)), atom(pptTextBytes, "Second")))
	notes := box(0x03f0, 0, box(0xf00d, 0, atom(pptTextHeader, u32(2)), atom(pptTextBytes, "say this")), box(0xf00d, 0, atom(pptTextBytes, "*")))
	stale := box(0x03ee, 0, box(0xf00d, 0, atom(pptTextBytes, "older")))
	data, places := "", []int{}
	for _, part := range []string{document, first, second, notes} {
		places = append(places, len(data))
		data += part
	}
	oldSlide := len(data)
	data += stale
	oldTable := len(data)
	data += atom(pptPersistTable, u32(2|1<<20, oldSlide))
	oldEdit := len(data)
	data += atom(pptUserEdit, u32(0, 0, 0, oldTable, 1, 0, 0))
	table := len(data)
	data += atom(pptPersistTable, u32(append([]int{1 | 4<<20}, places...)...))
	edit := len(data)
	data += atom(pptUserEdit, u32(0, 0, oldEdit, table, 1, 0, 0))
	return oleOf("PowerPoint Document", data, "Current User", atom(0x0ff6, u32(0x14, 0xe391c05f, edit)))
}

func TestPPT(t *testing.T) {
	slide := box(0xf00d, 0, atom(pptTextHeader, u32(4)), atom(pptTextBytes, "a box")) +
		box(pptComment, 0, u16(0, pptCString)+u32(6)+wide("Ann"), u16(1<<4, pptCString)+u32(12)+wide("remark"))
	checkOutline(t, "ppt", pptOf(slide), "page 1 # Первый\npoint\ntwo\na box\nremark\nsay this\npage 2 # Second\n")
}

func TestEncryptedOffice(t *testing.T) {
	for name, data := range map[string][]byte{
		"OOXML":      oleOf("EncryptionInfo", "x", "EncryptedPackage", "x"),
		"Word":       oleOf("WordDocument", u16(0xa5ec, 0xc1, 0, 0x409, 0, fibEncrypted)),
		"Excel":      oleOf("Workbook", rec(xlsBOF, u16(0x600, 5))+rec(xlsFilePass, u16(1))),
		"PowerPoint": oleOf("PowerPoint Document", "x", "Current User", atom(0x0ff6, u32(0x14, pptEncryptedMarker, 0))),
	} {
		if _, err := parseTestOffice("docx", data); !errors.Is(err, ErrBinary) || !strings.HasPrefix(err.Error(), "encrypted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCorruptOffice(t *testing.T) {
	docx := docxOf(t, para("", textRun("text")))
	for name, data := range map[string]string{
		"empty": "", "text": "only text", "cut zip": string(docx[:len(docx)/2]), "no part": string(makeZip(t, "a.txt", "x")),
		"cut compound": oleMagic, "no stream": string(oleOf("x", "y")), "Word": string(oleOf("WordDocument", "x")),
		"Excel": string(oleOf("Workbook", "x")), "PowerPoint": string(oleOf("PowerPoint Document", "x")), "EPUB": string(makeZip(t, "META-INF/container.xml", "x")),
	} {
		if d, err := parseTestOffice("docx", []byte(data)); !errors.Is(err, ErrBinary) || !strings.HasPrefix(err.Error(), "corrupt") {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
	}
}

func TestOLELoops(t *testing.T) {
	data := oleOf("WordDocument", strings.Repeat("x", 2000))
	for at := 512; at < 1024; at += 4 { // every sector is followed by the first
		copy(data[at:], u32(0))
	}
	if _, err := parseTestOffice("doc", data); err == nil {
		t.Error("a loop of sectors is read")
	}
}
