package extract

import (
	"fmt"
	"strings"
	"testing"
)

// outline returns what the tests compare: a line for each section, its heading
// path and the first line of its text.
func outline(d *Document) string {
	var b strings.Builder
	for _, s := range d.Sections {
		text := strings.TrimSpace(string(d.Text[s.Start:s.End]))
		first, _, _ := strings.Cut(text, "\n")
		fmt.Fprintf(&b, "%s: %s\n", strings.Join(s.Heading, " > "), strings.TrimRight(first, "\r"))
	}
	return b.String()
}

func markdown(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Extract("x.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMarkdownSections(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", "just text\n\nmore\n", ": just text\n"},
		{"empty", "", ": \n"},
		{"nesting", "# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne\n", "A: a\nA > B: b\nA > B > C: c\nA > D: d\nE: e\n"},
		{"levels left out", "# A\n### C\nc\n## B\nb\n", "A: \nA > C: c\nA > B: b\n"},
		{"deep first", "### C\nc\n# A\na\n", "C: c\nA: a\n"},
		{"text before", "intro\n# A\na\n", ": intro\nA: a\n"},
		{"closing marks", "## A ##  \na\n# B #x\nb\n# C\\#\nc\n#\tD\nd\n", "A: a\nB #x: b\nC#: c\nD: d\n"},
		{"not ATX", "#a\n\n####### b\n\n    # c\n\n\\# d\n", ": #a\n"},
		{"indented ATX", "   # A\na\n", "A: a\n"},
		{"continuation is no code", "text\n    # b\n", ": text\n"},
		{"empty headings", "#\na\n##   ##\n# ![](x.png)\n", ": #\n"},
		{"setext", "A\n===\na\n\nB\n-\nb\n", "A: a\nA > B: b\n"},
		{"setext of two lines", "A\nB\n====   \nc\n", "A B: c\n"},
		{"setext after blank", "A\n\n===\nc\n\n---\nd\n", ": A\n"},
		{"setext after ATX", "# A\n---\nc\n", "A: ---\n"},
		{"no setext of a list", "- a\n---\nb\n===\n", ": - a\nb: \n"},
		{"no setext of a quote", "> a\n---\nb\n", ": > a\n"},
		{"lazy lines are the quote's", "> a\nb\n===\nc\n", ": > a\n"},
		{"lazy lines are the item's", "- a\nb\n===\nc\n", ": - a\n"},
		{"after a quoted heading", "> # a\nb\n===\nc\n", ": > # a\nb: c\n"},
		{"no setext of a table", "| a |\n|---|\n| b |\n---\nc\n", ": | a |\n"},
		{"no setext of a definition", "[a]: /b\n===\nc\n", ": [a]: /b\n"},
		{"no setext in formulas", "$$\na\n=\nb\n$$\n", ": $$\n"},
		{"underline too far in", "a\n    ===\nb\n", ": a\n"},
		{"underline with more", "a\n=== =\nb\n--- -\nc\n", ": a\n"},
		{"fence", "```sh\n# no\n```\n# A\na\n~~~\n# no\n```\n~~~~\n# B\nb\n", ": ```sh\nA: a\nB: b\n"},
		{"long fence", "````\n```\n# no\n````\n# A\na\n", ": ````\nA: a\n"},
		{"fence without an end", "# A\n```\n# no\n", "A: ```\n"},
		{"no fence", "```a`b```\n# A\na\n", ": ```a`b```\nA: a\n"},
		{"indented code", "a\n\n    # no\n\n\t# no\n# A\n", ": a\nA: \n"},
		{"quotes and items", "> # no\n\n- # no\n\n  # no\n\n1. a\n\n   # no\n\n# A\na\n", ": > # no\nA: a\n"},
		{"an item ends", "- a\n# A\nb\n1) c\n# B\n", ": - a\nA: b\nB: \n"},
		{"an empty item ends", "-\n\n  a\n  ===\n", ": -\na: \n"},
		{"fence in an item", "- ```\n  # no\n  ```\n# A\n", ": - ```\nA: \n"},
		{"numbers interrupt no paragraph", "a\n2. b\n===\nc\n", "a 2. b: c\n"},
		{"thematic breaks", "a\n***\nb\n* * *\n# A\n", ": a\nA: \n"},
		{"comment", "<!--\n# no\n\n# no\n-->\n# A\na\n<!-- x -->\n# B\n", ": <!--\nA: a\nB: \n"},
		{"html block", "<div>\n# no\n\n# A\na\n", ": <div>\nA: a\n"},
		{"pre", "<pre>\n\n# no\n</pre>\n# A\n", ": <pre>\nA: \n"},
		{"lone tag", "<x-y a='1' b>\n# no\n\ntext\n<b>\n# A\n", ": <x-y a='1' b>\nA: \n"},
		{"line ends", "# A\r\na\r\n\r\nB\r\n---\r\nb\r\n", "A: a\nA > B: b\n"},
		{"lone returns", "# A\ra\r\rB\r---\rb\r", "A: a\nA > B: b\n"},
		{"byte order mark", "\ufeff# A\na\n", "A: a\n"},
		{"front matter", "---\ntitle: T\n# note\ntags: [x]\n---\n# A\na\n", ": title: T\nA: a\n"},
		{"no front matter", "---\n# A\na\n\n---\nb\n", ": ---\nA: a\n"},
		{"TOML", "+++\ntitle = 'T'\n+++\na\n", ": title = 'T'\n: a\n"},
	} {
		if got := outline(markdown(t, c.text)); got != c.want {
			t.Errorf("%s: %q gives\n%swant\n%s", c.name, c.text, got, c.want)
		}
	}
}
