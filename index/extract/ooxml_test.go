package extract

import (
	"strings"
	"testing"
	"time"
)

// docxOf makes a Word document of a body.
func docxOf(t testing.TB, body string, more ...string) []byte {
	return makeZip(t, append([]string{
		"word/document.xml", "<w:document xmlns:w='w'><w:body>" + body + "</w:body></w:document>",
		"word/_rels/document.xml.rels", rels("s", "styles", "styles.xml", "f", "footnotes", "footnotes.xml", "e", "endnotes", "endnotes.xml",
			"c", "comments", "comments.xml", "h", "header", "header1.xml", "h2", "header", "header2.xml", "a", "aFChunk", "chunk.html"),
		"word/styles.xml", `<w:styles><w:style w:styleId="T"><w:name w:val="Title"/></w:style>
			<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>
			<w:style w:styleId="Own"><w:name w:val="Chapter"/><w:basedOn w:val="H1"/></w:style>
			<w:style w:styleId="O2"><w:name w:val="Sub"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>`,
		"word/footnotes.xml", `<w:footnotes><w:footnote w:id="0" w:type="separator"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>
			<w:footnote w:id="5"><w:p><w:r><w:t>the foot</w:t></w:r></w:p></w:footnote></w:footnotes>`,
		"word/endnotes.xml", `<w:endnotes><w:endnote w:id="5"><w:p><w:r><w:t>the end</w:t></w:r></w:p></w:endnote></w:endnotes>`,
		"word/comments.xml", `<w:comments><w:comment w:id="1" w:author="Ann"><w:p><w:r><w:t>really?</w:t></w:r></w:p></w:comment></w:comments>`,
		"word/header1.xml", `<w:hdr><w:p><w:r><w:t>running head</w:t></w:r></w:p></w:hdr>`,
		"word/header2.xml", `<w:hdr><w:p><w:r><w:t>running head</w:t></w:r></w:p></w:hdr>`,
		"word/chunk.html", `<html><body><p>from a <b>chunk</b></p></body></html>`,
		"docProps/core.xml", `<cp:coreProperties><dc:title>Core title</dc:title><dc:creator>Ann Otter</dc:creator><cp:keywords>keyed</cp:keywords>
			<dcterms:created>2019-01-02T03:04:05Z</dcterms:created><dcterms:modified>2020-02-03T04:05:06Z</dcterms:modified></cp:coreProperties>`,
	}, more...)...)
}

// para is a paragraph of a style.
func para(style, runs string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/><w:rPr><w:vanish/></w:rPr></w:pPr>` + runs + `</w:p>`
}

func textRun(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }

func TestDOCX(t *testing.T) {
	const head = "running head\nkeyed\n"
	for name, c := range map[string]struct{ body, want string }{
		"headings by style, base and outline level": {
			para("T", textRun("A title")) + para("H1", textRun("One")) + para("", textRun("text")) + para("O2", textRun("Deep")) + para("Own", textRun("Two")) +
				para("", textRun("more")),
			"# A title\n# A title > One\ntext\n# A title > One > Deep\n# A title > Two\nmore\n"},
		"words over runs": {para("", textRun("sp")+textRun("lit &amp; joined")+`<w:r><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r>`),
			"split & joined\tx\ny\n"},
		"tab stops are none": {`<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>` + textRun("a") + `</w:p>`, "a\n"},
		"changes": {para("", textRun("kept ")+`<w:ins>`+textRun("new ")+`</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>`+
			`<w:moveFrom>`+textRun("gone")+`</w:moveFrom><w:moveTo>`+textRun("here")+`</w:moveTo>`), "kept new here\n"},
		"hidden":   {para("", `<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>plain</w:t></w:r>`), "plain\n"},
		"fields":   {para("", `<w:r><w:instrText>HYPERLINK x</w:instrText></w:r>`+textRun("link")), "link\n"},
		"lists":    {`<w:p><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>` + textRun("item") + textRun(" one") + `</w:p>`, "- item one\n"},
		"tables":   {`<w:tbl><w:tr><w:tc>` + para("", textRun("a")) + `</w:tc><w:tc>` + para("", textRun("b")) + `</w:tc></w:tr><w:tr><w:tc>` + para("", textRun("c")) + `</w:tc></w:tr></w:tbl>`, "a\tb\nc\n"},
		"notes":    {para("", textRun("said")+`<w:r><w:footnoteReference w:id="5"/></w:r><w:r><w:endnoteReference w:id="5"/></w:r><w:r><w:commentReference w:id="1"/></w:r>`+textRun(" so")) + para("", textRun("next")), "said so\n[1] the foot\n[2] the end\n[Ann] really?\nnext\n"},
		"text box": {para("", textRun("be")+`<mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent>`+para("", textRun("boxed"))+`</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict>`+para("", textRun("boxed"))+`</w:pict></mc:Fallback></mc:AlternateContent>`+textRun("fore")), "before\nboxed\n"},
		"chunk":    {`<w:altChunk r:id="a"/>` + para("", textRun("after")), "from a chunk\nafter\n"},
		"readings": {para("", `<w:ruby><w:rt>`+textRun("kana")+`</w:rt><w:rubyBase>`+textRun("漢字")+`</w:rubyBase></w:ruby>`), "漢字\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := checkOutline(t, "docx", docxOf(t, c.body), c.want+head)
			if d.Title != "Core title" && d.Title != "A title" || d.Author != "Ann Otter" || !d.Date.Equal(time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)) {
				t.Errorf("title %q, author %q, date %v", d.Title, d.Author, d.Date)
			}
		})
	}
}

func TestDOCXMembers(t *testing.T) {
	inner := docxOf(t, para("", textRun("inner words")))
	d := checkOutline(t, "docm", docxOf(t, para("", textRun("outer")), "word/embeddings/a.docx", string(inner), "word/embeddings/bad.xlsx", "no"),
		"outer\nrunning head\nkeyed\n")
	if d.Type != "docm" || len(d.Members) != 1 || d.Members[0].Name != "word/embeddings/a.docx" ||
		!strings.HasPrefix(string(d.Members[0].Document.Text), "inner words\n") {
		t.Errorf("type %s, members %+v", d.Type, d.Members)
	}
}

func TestFlatWord(t *testing.T) {
	checkOutline(t, "xml", []byte(`<?xml version="1.0"?><w:wordDocument><o:DocumentProperties><o:Title>T</o:Title></o:DocumentProperties>
		<w:styles><w:style><w:name w:val="x"/></w:style></w:styles><w:body>`+para("Heading1", textRun("One"))+para("", textRun("text"))+
		`<aml:annotation w:type="Word.Deletion">`+textRun("gone")+`</aml:annotation></w:body></w:wordDocument>`), "# One\ntext\n")
	checkOutline(t, "doc", []byte(`<pkg:package><pkg:part pkg:name="/word/document.xml"><pkg:xmlData><w:document><w:body>`+para("", textRun("flat"))+
		`</w:body></w:document></pkg:xmlData></pkg:part><pkg:part pkg:name="/word/x.xml"><w:body>`+para("", textRun("other"))+`</w:body></pkg:part></pkg:package>`), "flat\n")
}

// shape is a shape of a slide with a placeholder of a kind.
func shape(kind, text string) string {
	ph := ""
	if kind != "" {
		ph = `<p:nvPr><p:ph type="` + kind + `"/></p:nvPr>`
	}
	return `<p:sp>` + ph + `<p:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
}

func pptxOf(t testing.TB, slide string) []byte {
	return makeZip(t,
		"ppt/presentation.xml", `<p:presentation><p:sldIdLst><p:sldId id="256" r:id="b"/><p:sldId id="257" r:id="a"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", rels("a", "slide", "slides/slide1.xml", "b", "slide", "slides/slide2.xml", "m", "slideMaster", "m.xml"),
		"ppt/slides/slide1.xml", `<p:sld>`+slide+`</p:sld>`,
		"ppt/slides/slide2.xml", `<p:sld>`+shape("title", "First")+shape("", "opening")+shape("ftr", "foot")+`</p:sld>`,
		"ppt/slides/_rels/slide1.xml.rels", rels("n", "notesSlide", "../n.xml", "d", "diagramData", "../d.xml", "c", "comments", "../c.xml"),
		"ppt/n.xml", `<p:notes>`+shape("body", "say this")+shape("sldNum", "7")+`</p:notes>`,
		"ppt/d.xml", `<dgm:dataModel><dgm:pt><a:p><a:r><a:t>node</a:t></a:r></a:p></dgm:pt></dgm:dataModel>`,
		"ppt/c.xml", `<p:cmLst><p:cm><p:text>remark</p:text></p:cm></p:cmLst>`,
		"ppt/m.xml", `<p:sldMaster>`+shape("title", "Click to edit")+shape("ftr", "foot")+shape("", "logo")+`</p:sldMaster>`)
}

func TestPPTX(t *testing.T) {
	slide := shape("body", "point") + shape("ctrTitle", "Second") + shape("sldNum", "2") + shape("ftr", "foot") +
		`<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:t>a</a:t></a:p></a:tc><a:tc><a:p><a:t>b</a:t></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>`
	checkOutline(t, "pptx", pptxOf(t, slide),
		"page 1 # First\nopening\npage 2 # Second\npoint\na\tb\nnode\nremark\nsay this\nfoot\nlogo\n")
}

func xlsxOf(t testing.TB, rows string) []byte {
	return makeZip(t,
		"xl/workbook.xml", `<workbook><sheets><sheet name="Übersicht" r:id="a"/><sheet name="Empty" r:id="b"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("a", "worksheet", "/xl/s.xml", "s", "styles", "styles.xml", "t", "sharedStrings", "strings.xml"),
		"xl/s.xml", `<worksheet><sheetData>`+rows+`</sheetData><headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Corp &amp;&amp; Co&amp;RPage &amp;P</oddHeader><oddFooter>&amp;CPage &amp;P</oddFooter></headerFooter></worksheet>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[$-409]d\-mmm\ h:mm;@"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="10"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
		"xl/strings.xml", `<sst><si><t>plain</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>kana</t></rPh></si></sst>`,
		"xl/_rels/s.xml.rels", rels("c", "comments", "c.xml", "d", "drawing", "d.xml"),
		"xl/c.xml", `<comments><authors><author>A</author></authors><commentList><comment><text><r><t>a no</t></r><r><t>te</t></r></text></comment></commentList></comments>`,
		"xl/d.xml", `<xdr:wsDr><xdr:sp><a:p><a:r><a:t>shape</a:t></a:r></a:p></xdr:sp></xdr:wsDr>`)
}

func TestXLSX(t *testing.T) {
	rows := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c><c t="s"><v>99</v></c><c t="inlineStr"><is><t>in` + "\n" + `line</t></is></c></row>
		<row r="2"><c><v>0.30000000000000004</v></c><c s="1"><v>43890</v></c><c s="2"><v>43890.5</v></c><c s="3"><v>0.125</v></c><c s="4"><v>0.75</v></c></row>
		<row r="1048576"><c r="XFD1048576" t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="str"><f>A1</f><v>made</v></c></row>`
	checkOutline(t, "xlsx", xlsxOf(t, rows), "# Übersicht\nplain\trich\tin line\n0.3\t2020-02-29\t2020-02-29 12:00:00\t12.5%\t18:00:00\n"+
		"TRUE\t#N/A\tmade\na note\nshape\n# Empty\nCorp & Co Page\n")
}

func TestFormatKinds(t *testing.T) {
	for code, want := range map[string]numberKind{
		"General": numberPlain, "0.00": numberPlain, "#,##0.00\\ [$€-407]": numberPlain, `"day "0`: numberPlain, "0.0E+00": numberPlain,
		"[Red]0": numberPlain, "0%": numberPercent, "dd.mm.yyyy": numberDate, "[h]:mm": numberTime, "mm:ss.0": numberTime,
		"yyyy-mm-dd hh:mm": numberDateTime, `_-* #,##0\ _€_-`: numberPlain, "[": numberPlain, `"`: numberPlain, "": numberPlain,
	} {
		if got := formatKind(code); got != want {
			t.Errorf("%q: %d, want %d", code, got, want)
		}
	}
}

func TestDatesOfSpreadsheets(t *testing.T) {
	f := cellFormats{cells: []int{14}}
	for n, want := range map[float64]string{1: "1900-01-01", 59: "1900-02-28", 61: "1900-03-01", 43890: "2020-02-29", -1: "-1", 3e6: "3000000"} {
		if got := f.showNumber(0, n); got != want {
			t.Errorf("%v: %s, want %s", n, got, want)
		}
	}
	f.date1904 = true
	if got := f.showNumber(0, 42428); got != "2020-02-29" {
		t.Error(got)
	}
}

// brt is a record of a binary workbook.
func brt(id int, body string) string {
	b := []byte{byte(id)}
	if id >= 128 {
		b = []byte{byte(id&0x7f | 0x80), byte(id >> 7)}
	}
	return string(append(b, byte(len(body)))) + body
}

func wideString(s string) string { return u32(len(wide(s))/2) + wide(s) }

func xlsbOf(t testing.TB, sheet string) []byte {
	return makeZip(t,
		"xl/workbook.bin", brt(brtWbProp, u32(0))+brt(brtBundleSh, u32(0, 1)+wideString("a")+wideString("Binary")),
		"xl/_rels/workbook.bin.rels", rels("a", "worksheet", "s.bin", "s", "styles", "styles.bin", "t", "sharedStrings", "t.bin"),
		"xl/styles.bin", brt(brtFmt, u16(170)+wideString("yyyy"))+brt(brtBeginCellXFs, "")+brt(brtXF, u16(0, 0))+brt(brtXF, u16(0, 170))+brt(brtEndCellXFs, ""),
		"xl/t.bin", brt(brtSSTItem, "\x00"+wideString("shared"))+brt(brtSSTItem, "\x00"+wideString("ünd")),
		"xl/s.bin", sheet)
}

func TestXLSB(t *testing.T) {
	sheet := brt(brtRowHdr, u32(0)) + brt(brtCellIsst, u32(0, 0, 1)) + brt(brtCellSt, u32(1, 0)+wideString("own")) +
		brt(brtRowHdr, u32(7)) + brt(brtCellRk, u32(0, 1, 43890<<2|2)) + brt(brtCellBool, u32(1, 0)+"\x01") + brt(brtFmlaString, u32(2, 0)+wideString("made"))
	checkOutline(t, "xlsb", xlsbOf(t, sheet), "# Binary\nünd\town\n2020-02-29\tTRUE\tmade\n")
}

func TestVSDX(t *testing.T) {
	checkOutline(t, "vsdx", makeZip(t,
		"visio/document.xml", "<VisioDocument/>", "visio/_rels/document.xml.rels", rels("p", "pages", "pages/pages.xml"),
		"visio/pages/pages.xml", `<Pages><Page Name="Plan"><Rel r:id="a"/></Page></Pages>`,
		"visio/pages/_rels/pages.xml.rels", rels("a", "page", "page1.xml"),
		"visio/pages/page1.xml", `<PageContents><Shape><Text><cp IX="0"/>a box</Text></Shape></PageContents>`), "page 1 # Plan\na box\n")
}

func TestFlatExcel(t *testing.T) {
	checkOutline(t, "xml", []byte(`<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook><Worksheet ss:Name="S"><Table><Row><Cell><Data ss:Type="String">a</Data></Cell><Cell><Data>2</Data></Cell></Row></Table></Worksheet></Workbook>`), "# S\na\t2\n")
}
