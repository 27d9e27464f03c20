package extract

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const odfStyles = `<office:automatic-styles><style:style style:name="P1" style:parent-style-name="Title"/>
	<style:style style:name="P2"><style:tab-stops><style:tab-stop/></style:tab-stops></style:style><style:style style:name="T1"><style:text-properties text:display="none"/></style:style></office:automatic-styles>`

func odfOf(t testing.TB, mime, body string, more ...string) []byte {
	return makeZip(t, append([]string{"mimetype", "application/vnd.oasis.opendocument." + mime,
		"content.xml", `<office:document-content>` + odfStyles + `<office:body>` + body + `</office:body></office:document-content>`,
		"styles.xml", `<office:document-styles><office:master-styles><style:master-page><style:header><text:p>running head</text:p></style:header>
			<style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page></office:master-styles></office:document-styles>`,
		"meta.xml", `<office:document-meta><office:meta><dc:title>Meta title</dc:title><meta:initial-creator>Ann</meta:initial-creator>
			<dc:creator>Bob</dc:creator><dc:date>2021-03-04T05:06:07.123</dc:date><meta:keyword>keyed</meta:keyword></office:meta></office:document-meta>`},
		more...)...)
}

func TestODT(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"headings": {`<text:p text:style-name="P1">A title</text:p><text:h text:outline-level="1">One</text:h><text:p>text</text:p>` +
			`<text:h text:outline-level="2">Deep</text:h><text:h text:outline-level="1">Two</text:h>`,
			"# A title\n# A title > One\ntext\n# A title > One > Deep\n# A title > Two\n"},
		"white space": {"<text:p>a\n  b<text:s text:c=\"2\"/>c<text:tab/>d<text:line-break/>e <text:span>f</text:span> g</text:p>", "a b  c\td\ne f g\n"},
		"many spaces": {`<text:p>a<text:s text:c="2000000000"/>b</text:p>`, "a" + strings.Repeat(" ", maxRepeat) + "b\n"},
		"changes":     {`<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes><text:p>kept<text:change/></text:p>`, "kept\n"},
		"hidden":      {`<text:p>seen<text:span text:style-name="T1">unseen</text:span></text:p>`, "seen\n"},
		"lists":       {`<text:list><text:list-item><text:p>a</text:p></text:list-item><text:list-item><text:p>b</text:p></text:list-item></text:list><text:p>c</text:p>`, "- a\n- b\nc\n"},
		"notes": {`<text:p>said<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p></text:note-body></text:note> so` +
			`<office:annotation><dc:creator>Z</dc:creator><text:p>remark</text:p></office:annotation></text:p>`, "said so\nthe note\nremark\n"},
		"text box": {`<text:p>be<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box><svg:title>alt</svg:title></draw:frame>fore</text:p>`, "before\nboxed\n"},
		"tables": {`<table:table table:name="T"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>` +
			`<table:table-row><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>`, "a\tb\nc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d := checkOutline(t, "odt", odfOf(t, "text", `<office:text>`+c.body+`</office:text>`), c.want+"running head\nkeyed\n")
			if d.Title == "" || d.Author != "Ann" || !d.Date.Equal(time.Date(2021, 3, 4, 5, 6, 7, 123e6, time.UTC)) {
				t.Errorf("title %q, author %q, date %v", d.Title, d.Author, d.Date)
			}
		})
	}
}

func TestODS(t *testing.T) {
	body := `<office:spreadsheet><table:table table:name="One"><table:table-row><table:table-cell table:number-columns-repeated="2000000000"><text:p>a</text:p></table:table-cell>
		<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="2000000000"><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>
		<table:table table:name="Two"><table:table-row><table:table-cell><office:annotation><text:p>note</text:p></office:annotation><text:p>d</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`
	d := checkOutline(t, "odt", odfOf(t, "spreadsheet", body), "# One\na\tb\nc\n# Two\nnote\nd\nrunning head\nkeyed\n")
	if d.Type != "ods" {
		t.Errorf("type %s", d.Type)
	}
}

func TestODP(t *testing.T) {
	body := `<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>First</text:p></draw:text-box></draw:frame>
		<draw:frame><draw:text-box><text:p>point</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>say this</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>
		<draw:page><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:page></office:presentation>`
	checkOutline(t, "odp", odfOf(t, "presentation", body), "page 1 # First\npoint\nsay this\npage 2 \nshape\nrunning head\nkeyed\n")
}

func TestFlatODF(t *testing.T) {
	checkOutline(t, "fodt", []byte(`<?xml version="1.0"?><office:document><office:meta><dc:subject>s</dc:subject></office:meta><office:body><office:text>
		<text:h text:outline-level="1">One</text:h><text:p>text<office:binary-data>AAAA</office:binary-data></text:p></office:text></office:body></office:document>`),
		"# One\ntext\ns\n")
}

func TestEncryptedODF(t *testing.T) {
	data := odfOf(t, "text", "", "META-INF/manifest.xml", `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`)
	if _, err := parseTestOffice("odt", data); !errors.Is(err, ErrBinary) || !strings.HasPrefix(err.Error(), "encrypted") {
		t.Error(err)
	}
}

func TestAbiWord(t *testing.T) {
	d := checkOutline(t, "abw", []byte(`<?xml version="1.0"?><!DOCTYPE abiword PUBLIC "a" "b"><abiword><metadata><m key="dc.title">T</m><m key="dc.creator">A</m>
		<m key="dc.contributor">C</m><m key="dc.date">Fri Jan 13 02:49:11 2023
		</m></metadata><section><p style="Heading 1"><c>One</c></p><p>a <c props="x">b</c></p></section><data><d>AAAA</d></data></abiword>`), "# One\na b\nC\n")
	if d.Title != "T" || d.Author != "A" || d.Date.Year() != 2023 {
		t.Errorf("%q, %q, %v", d.Title, d.Author, d.Date)
	}
}

const fictionBookText = `<FictionBook><description><title-info><genre>prose</genre><author><first-name>Ann</first-name><last-name>Otter</last-name></author>
	<book-title>A Book</book-title><annotation><p>about it</p></annotation><date value="1999-05-06">May</date></title-info>
	<document-info><author><nickname>scanner</nickname></author></document-info></description>
	<body><title><p>A Book</p></title><section><title><p>Part</p><p>One</p></title><section><title><p>Chapter</p></title><p>some <emphasis>words</emphasis></p>
	<poem><stanza><v>line a</v><v>line b</v></stanza></poem></section></section><section><title><p>Part Two</p></title><p>more</p></section></body>
	<body name="notes"><section id="n"><p>a note</p></section></body><binary>AAAA</binary></FictionBook>`

func TestFB2(t *testing.T) {
	const want = "# A Book\n# A Book > Part One\n# A Book > Part One > Chapter\nsome words\nline a\nline b\n# A Book > Part Two\nmore\na note\nprose\nabout it\n"
	for name, data := range map[string][]byte{
		"plain":        []byte(`<?xml version="1.0" encoding="utf-8"?>` + fictionBookText),
		"zipped":       makeZip(t, "book.fb2", fictionBookText),
		"windows-1251": []byte(`<?xml version="1.0" encoding="windows-1251"?>` + fictionBookText),
		"UTF-16":       []byte("\xff\xfe" + wide(`<?xml version="1.0" encoding="utf-16"?>`+fictionBookText)),
	} {
		t.Run(name, func(t *testing.T) {
			d := checkOutline(t, "fb2", data, want)
			if d.Title != "A Book" || d.Author != "Ann Otter" || d.Date.Year() != 1999 {
				t.Errorf("%q, %q, %v", d.Title, d.Author, d.Date)
			}
		})
	}
	checkOutline(t, "fb2", []byte(`<?xml version="1.0" encoding="windows-1251"?><FictionBook><body><p>`+"\xef\xf0\xe8\xe2\xe5\xf2"+`</p></body></FictionBook>`), "привет\n")
}

func epubOf(t testing.TB, page string, more ...string) []byte {
	return makeZip(t, append([]string{
		"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf", `<package><metadata><dc:title>A Book</dc:title><dc:creator opf:role="aut">Ann Otter</dc:creator><dc:creator opf:role="ill">Ill</dc:creator>
			<dc:date>2012-03-04</dc:date><dc:description>&lt;p&gt;about &lt;b&gt;it&lt;/b&gt;&lt;/p&gt;</dc:description></metadata><manifest>
			<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
			<item id="a" href="text/a%20b.xhtml" media-type="application/xhtml+xml"/><item id="b" href="text/b.xhtml" media-type="application/xhtml+xml"/></manifest>
			<spine toc="x"><itemref idref="b"/><itemref idref="a"/><itemref idref="b"/></spine></package>`,
		"OEBPS/text/a b.xhtml", page,
		"OEBPS/text/b.xhtml", `<html><head><title>skip</title><script src="x"/></head><body><p>before</p></body></html>`,
	}, more...)...)
}

func TestEPUB(t *testing.T) {
	const page = `<?xml version="1.0" encoding="utf-8"?><html><head><title/><style>p{}</style></head><body><section id="c1"><h1>1. The Chapter</h1><p>some
		<i>wo</i>rds<br/>and lines</p><h2>Below</h2><ul><li>x</li></ul></section><p id="c2">Quiet start</p><p>told<rt>kana</rt></p><pre>a
  b</pre><table><tr><td>1</td><td>2</td></tr></table></body></html>`
	const want = "# Opening\nbefore\n# Opening > 1. The Chapter\nsome words\nand lines\n# Opening > 1. The Chapter > Below\n- x\n# Quiet start\ntold\na\n  b\n1\t2\nIll\nabout it\n"
	ncx := []string{"OEBPS/toc.ncx", `<ncx><navMap><navPoint><navLabel><text>Opening</text></navLabel><content src="text/b.xhtml"/>
		<navPoint><navLabel><text>The Chapter</text></navLabel><content src="text/a%20b.xhtml#c1"/></navPoint></navPoint>
		<navPoint><navLabel><text>Quiet start</text></navLabel><content src="text/a%20b.xhtml#c2"/></navPoint></navMap></ncx>`}
	nav := []string{"OEBPS/nav.xhtml", `<html><body><nav epub:type="toc"><ol><li><a href="text/b.xhtml">Opening</a><ol><li><a href="text/a%20b.xhtml#c1">The <b>Chapter</b></a></li></ol></li>
		<li><a href="text/a%20b.xhtml#c2">Quiet start</a></li></ol></nav><nav epub:type="page-list"><ol><li><a href="text/b.xhtml#p">9</a></li></ol></nav></body></html>`}
	for name, toc := range map[string][]string{"NCX": ncx, "nav": nav} {
		t.Run(name, func(t *testing.T) {
			d := checkOutline(t, "epub", epubOf(t, page, toc...), want)
			if d.Title != "A Book" || d.Author != "Ann Otter" || d.Date.Year() != 2012 {
				t.Errorf("%q, %q, %v", d.Title, d.Author, d.Date)
			}
		})
	}
	checkOutline(t, "epub", epubOf(t, page), "before\n# 1. The Chapter\nsome words\nand lines\n# 1. The Chapter > Below\n- x\nQuiet start\ntold\na\n  b\n1\t2\nIll\nabout it\n")
}

func TestProtectedEPUB(t *testing.T) {
	const entry = `<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/%"/></CipherData></EncryptedData></encryption>`
	data := epubOf(t, "<p>x</p>", "META-INF/encryption.xml", strings.Replace(entry, "%", "text/b.xhtml", 1))
	if _, err := parseTestOffice("epub", data); !errors.Is(err, ErrBinary) || !strings.HasPrefix(err.Error(), "encrypted") {
		t.Error(err)
	}
	if _, err := parseTestOffice("epub", epubOf(t, "<p>x</p>", "META-INF/encryption.xml", strings.Replace(entry, "%", "f.ttf", 1))); err != nil {
		t.Errorf("fonts alone: %v", err)
	}
}
