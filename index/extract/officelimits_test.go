package extract

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// limited reads a document within small limits.
func limited(t testing.TB, typ string, data []byte) *Document {
	d := &Document{Type: typ, Text: data, budget: newBudget(Limits{Inflated: 4 << 20, Text: 64 << 10, Members: 10, Depth: 2})}
	if err := parseOffice(d); err != nil {
		return nil
	}
	return d
}

func TestOfficeWithinLimits(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 20_000) }
	page := `<p>` + many("<b>word </b>") + `</p>`
	for name, data := range map[string][]byte{
		"docx": docxOf(t, para("", textRun("first"))+many(para("", textRun("word")))),
		"pptx": pptxOf(t, many(shape("body", "word"))),
		"xlsx": xlsxOf(t, many(`<row><c t="s"><v>1</v></c></row>`)),
		"xlsb": xlsbOf(t, many(brt(brtCellIsst, u32(0, 0, 0)))),
		"odt":  odfOf(t, "text", many("<text:p>word</text:p>")),
		"epub": epubOf(t, page),
		"fb2":  []byte("<FictionBook><body>" + many("<p>word</p>") + "</body></FictionBook>"),
		"rtf":  []byte(`{\rtf1 ` + many(`word\par `) + "}"),
		"xls":  oleOf("Workbook", xlsOf(many(rec(xlsLabelSST, u16(0, 0, 0)+u32(0))))),
		"ppt":  pptOf(many(box(0xf00d, 0, atom(pptTextBytes, "word")))),
	} {
		t.Run(name, func(t *testing.T) {
			d := limited(t, name, data)
			if d == nil || d.Truncated == "" || len(d.Text) < 32<<10 || len(d.Text) > 512<<10 {
				t.Fatalf("%+.200v", d)
			}
			checkSections(t, d)
		})
	}
}

func TestInflatedBytesAreLimited(t *testing.T) {
	d := limited(t, "docx", docxOf(t, para("", textRun("first"))+`<w:p><w:instrText>`+strings.Repeat("x", 8<<20)+`</w:instrText></w:p>`+para("", textRun("last"))))
	if d == nil || d.Truncated == "" || !strings.Contains(string(d.Text), "first") || strings.Contains(string(d.Text), "last") {
		t.Errorf("%+v", d)
	}
}

func TestEntitiesAreNotExpanded(t *testing.T) {
	xml := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><FictionBook><body><p>so &b; &amp; on</p></body></FictionBook>`
	checkOutline(t, "fb2", []byte(xml), "so &b; & on\n")
}

func TestLongTextsAndTags(t *testing.T) {
	long := strings.Repeat("word ", maxToken/4)
	d, err := parseTestOffice("fb2", []byte("<FictionBook><body><p>"+long+"</p><p>after</p></body></FictionBook>"))
	if err != nil || strings.Count(string(d.Text), "word") != maxToken/4 || !strings.Contains(string(d.Text), "after") {
		t.Errorf("%v: a text longer than a token is not whole", err)
	}
	d, err = parseTestOffice("fb2", []byte("<FictionBook><body><p>before</p><p x='"+long+long+"'>after</p></body></FictionBook>"))
	if err != nil || d.Truncated == "" || string(d.Text) != "before\n" {
		t.Errorf("%v, %+.100v", err, d)
	}
}

func TestNestedElements(t *testing.T) {
	const n = 100_000
	for _, tag := range []string{"w:p", "w:tbl", "w:ins"} {
		data := docxOf(t, strings.Repeat("<"+tag+">", n)+textRun("deep")+strings.Repeat("</"+tag+">", n)+para("", textRun("after")))
		d, err := parseTestOffice("docx", data)
		if err != nil || !strings.Contains(string(d.Text), "deep") && tag != "w:ins" || !strings.Contains(string(d.Text), "after") {
			t.Errorf("%s: %v, %+.200v", tag, err, d)
		}
	}
}

// fuzzDocument checks what must hold for every document.
func fuzzDocument(t *testing.T, typ string, data []byte) {
	d := limited(t, typ, data)
	if d == nil {
		return
	}
	checkSections(t, d)
	if !utf8.Valid(d.Text) || len(d.Text) > 1<<20 {
		t.Fatalf("%d bytes of text, valid: %v", len(d.Text), utf8.Valid(d.Text))
	}
}

func FuzzDOCX(f *testing.F) {
	f.Add(para("H1", textRun("a")) + `<w:tbl><w:tr><w:tc>` + para("", textRun("b")) + `</w:tc></w:tr></w:tbl><w:altChunk r:id="a"/>`)
	f.Add(`<w:p><w:r><w:footnoteReference w:id="5"/></w:r><w:txbxContent><w:p>` + textRun("c") + `</w:p></w:txbxContent></w:p>`)
	f.Fuzz(func(t *testing.T, body string) { fuzzDocument(t, "docx", docxOf(t, body)) })
}

func FuzzPPTX(f *testing.F) {
	f.Add(shape("title", "a") + shape("ftr", "b") + `<a:tbl><a:tr><a:tc><a:p><a:t>c</a:t></a:p></a:tc></a:tr></a:tbl>`)
	f.Fuzz(func(t *testing.T, slide string) { fuzzDocument(t, "pptx", pptxOf(t, slide)) })
}

func FuzzXLSX(f *testing.F) {
	f.Add(`<row><c t="s" s="1"><v>1</v></c><c s="2"><v>43890.5</v></c><c t="inlineStr"><is><t>a</t></is></c></row>`)
	f.Fuzz(func(t *testing.T, rows string) { fuzzDocument(t, "xlsx", xlsxOf(t, rows)) })
}

func FuzzXLSB(f *testing.F) {
	f.Add(brt(brtRowHdr, u32(0)) + brt(brtCellIsst, u32(0, 0, 1)) + brt(brtCellSt, u32(1, 0)+wideString("own")) + brt(brtCellRk, u32(0, 1, 7)))
	f.Fuzz(func(t *testing.T, sheet string) { fuzzDocument(t, "xlsb", xlsbOf(t, sheet)) })
}

func FuzzODF(f *testing.F) {
	f.Add(`<text:h text:outline-level="2">a</text:h><text:p>b<text:note><text:p>c</text:p></text:note></text:p><draw:page><draw:frame presentation:class="title"><text:p>d</text:p></draw:frame></draw:page>`)
	f.Add(`<table:table table:name="T"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>`)
	f.Fuzz(func(t *testing.T, body string) { fuzzDocument(t, "ods", odfOf(t, "spreadsheet", body)) })
}

func FuzzEPUB(f *testing.F) {
	f.Add(`<h1 id="c">a</h1><p>b<br/></p><pre> c</pre><ul><li>d</li></ul><title>e</title><script>f`,
		`<nav epub:type="toc"><ol><li><a href="text/a%20b.xhtml#c">A</a></li></ol></nav>`)
	f.Fuzz(func(t *testing.T, page, nav string) { fuzzDocument(t, "epub", epubOf(t, page, "OEBPS/nav.xhtml", nav)) })
}

func FuzzRTF(f *testing.F) {
	f.Add(`{\fonttbl{\f1\fcharset128 x;}}{\stylesheet{\s1 heading 1;}}\s1\f1\'93\'fa a\par\pard\u-10179?\u-8704?{\footnote b}\cell{\upr{a}{\*\ud{b}}}\bin3 abc`)
	f.Fuzz(func(t *testing.T, body string) { fuzzDocument(t, "rtf", []byte(`{\rtf1 `+body)) })
}

// FuzzFlatOffice covers the documents that are one XML file.
func FuzzFlatOffice(f *testing.F) {
	f.Add([]byte(fictionBookText))
	f.Add([]byte(`<abiword><m key="dc.title">a</m><p style="Heading 1">b</p></abiword>`))
	f.Add([]byte(`<office:document><office:body><text:h>a</text:h><text:p>b</text:p></office:body></office:document>`))
	f.Add([]byte(`<w:wordDocument><w:body><w:p><w:r><w:t>a</w:t></w:r></w:p></w:body></w:wordDocument>`))
	f.Add([]byte(`<Workbook><Worksheet ss:Name="a"><Row><Data>b</Data></Row></Worksheet></Workbook>`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDocument(t, "xml", data) })
}

func FuzzDOC(f *testing.F) {
	main, table := wordOf("Head\ra\x13b\x14c\x15\x07\x07\r", "note\r", map[int]int{0: 1}, [2]int{5, 6})
	f.Add(main, table)
	f.Fuzz(func(t *testing.T, main, table string) {
		fuzzDocument(t, "doc", oleOf("WordDocument", main, "1Table", table))
	})
}

func FuzzXLS(f *testing.F) {
	f.Add(xlsOf(rec(xlsLabelSST, u16(0, 0, 0)+u32(1)) + rec(xlsMulRK, u16(2, 0, 0)+u32(7)+u16(0)) + rec(xlsTXO, strings.Repeat("\x00", 10)+u16(1)) + rec(xlsContinue, "\x00a")))
	f.Fuzz(func(t *testing.T, book string) { fuzzDocument(t, "xls", oleOf("Workbook", book)) })
}

func FuzzPPT(f *testing.F) {
	f.Add(pptOf(box(0xf00d, 0, atom(pptTextHeader, u32(4)), atom(pptTextBytes, "a"))))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDocument(t, "ppt", data) })
}

// FuzzOffice covers the containers.
func FuzzOffice(f *testing.F) {
	f.Add(docxOf(f, para("", textRun("a"))))
	f.Add(oleOf("Workbook", xlsOf(""), "\x05SummaryInformation", summary()))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzDocument(t, "docx", data) })
}
