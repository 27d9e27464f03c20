package extract

import (
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	d := wantOutline(t, "a.html", `<!DOCTYPE html><html><head><title>The &amp; title</title><meta name=author content="Ann A."><meta property="article:published_time" content="2024-03-05T10:00:00Z">
		<style>p{x}</style><script>var x = "<p>no</p>"</script></head><body><nav>menu <nav>inner</nav> more</nav><!-- no -->
		<h1>One <b>b</b></h1><p>A para<b>gra</b>ph&nbsp;x.<br>next<ul><li>item<li>other</ul><table><tr><td>c1<td>c2<tr><td>c3</table>
		<h2>Two</h2><img alt="a picture" title="its title"><pre>  code
   more</pre><div hidden>hidden <div>x</div></div><template>no</template><noscript>no</noscript>end</body></html>`,
		"The & title: ", "The & title > One b: A paragraph x. next item other c1 c2 c3", "The & title > One b > Two: a picture its title code more end")
	wantMeta(t, d, "The & title, Ann A., 2024-03-05")
	for _, part := range []string{"The & title\n\nOne b\n\nA paragraph\u00a0x.\nnext\n", "item\nother\n", "c1 c2\nc3", "  code\n   more"} {
		if !strings.Contains(string(d.Text), part) {
			t.Errorf("%q is not in %q", part, d.Text)
		}
	}
}

// What is not closed hides nothing, and XHTML's empty elements are empty.
func TestBrokenHTML(t *testing.T) {
	wantOutline(t, "a.html", "<nav>menu<p>text", ": menu text")
	wantOutline(t, "a.html", "<nav>only a menu</nav>", ": only a menu")
	wantOutline(t, "a.html", "<h1>open<p>text<h2>two", "open text: ", "open text > two: ")
	wantOutline(t, "a.html", "<h1></h1><h1> </h1>x", ": x")
	wantOutline(t, "a.xhtml", "<?xml version='1.0'?><html><head><title/><script src='x'/></head><body>text</body></html>", ": text")
	wantOutline(t, "a.html", "a < b > c & d &unknown; <x", ": a < b > c & d &unknown;")
	wantOutline(t, "a.html", repeat("<div>", 1000)+"deep", ": deep")
	wantOutline(t, "a.html", "<frameset><noframes><p>old</noframes></frameset>", ": old")
	wantOutline(t, "a.html", "", ": ")
}

func TestHTMLEncodings(t *testing.T) {
	for text, want := range map[string]string{
		"<meta charset=windows-1251><p>\xd1\xed\xe5\xe3":                                  "Снег",
		repeat("<!-- long -->", 200) + "<meta content='text/html; charset=koi8-r'>\xf3":   "С",
		"<meta charset=utf-8><p>caf\xe9 au lait, d\xe9j\xe0 vu, \xe9t\xe9, pr\xe8s":       "café au lait, déjà vu, été, près",
		"<meta charset=iso-8859-1><p>Снег":                                                "Снег",
		"\xff\xfe<\x00p\x00>\x00a\x00":                                                    "a",
		"<?xml version='1.0' encoding='iso-8859-5'?><html>\xc1\xdd\xd5\xd3</html>":        "Снег",
		"<meta charset=iso-2022-jp>\x1b$B8@\x1b(B":                                        "言",
		"<meta http-equiv=Content-Type content=\"text/html; charset=shift_jis\">\x8c\xbe": "言",
	} {
		if d := read(t, "a.html", text); string(d.Text) != want {
			t.Errorf("%q: %q, want %q", text, d.Text, want)
		}
	}
}

func TestXML(t *testing.T) {
	d := wantOutline(t, "a.xml", `<?xml version="1.0"?><!DOCTYPE book [<!ENTITY a "lol">]><book><info><title>Book</title><author>Ann A.</author><pubdate>2024-03-05</pubdate></info>
		<chapter><title>One <emphasis>x</emphasis></title><para>A pa<emphasis>ra</emphasis>graph &amp; &a;</para><section><title>Two</title><programlisting>  code</programlisting></section></chapter>
		<chapter><title>Three</title><para>end</para></chapter></book>`,
		"Book: Ann A. 2024-03-05", "Book > One x: A paragraph & &a;", "Book > One x > Two: code", "Book > Three: end")
	wantMeta(t, d, "Book, Ann A., 2024-03-05")
	wantOutline(t, "a.svg", `<svg xmlns="x"><title>Map</title><script>no</script><style>no</style><text>A <tspan>to</tspan>wn</text><path d="M0"/></svg>`, "Map: A town")
	wantOutline(t, "a.opml", `<opml><body><outline text="Feed one"/><outline text="Feed two"/></body></opml>`, ": Feed one Feed two")
	if d := wantOutline(t, "a.xml", `<a b="c"/>`, `: <a b="c"/>`); d.Extracted {
		t.Error("extracted nothing")
	}
	wantOutline(t, "a.xml", "<a><![CDATA[x < y]]></a>", ": x < y")
	wantOutline(t, "a.xml", "<a>unclosed <b>text", ": unclosed text")
	wantOutline(t, "a.svg", "<html><script>x</script><body>page", ": page")
}

// Levels are bounded, since each passage names those above it.
func TestNestingIsBounded(t *testing.T) {
	d := read(t, "a.xml", repeat("<section><title>x</title>", 5000))
	for _, s := range d.Sections {
		if len(s.Heading) > maxLevel {
			t.Fatal(len(s.Heading))
		}
	}
}
