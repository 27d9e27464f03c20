package extract

import (
	"bytes"
	"regexp"
	"strings"
)

// htmlBlock is the kind of an open HTML block, by what ends it.
type htmlBlock int

// The kinds of CommonMark 0.31, section 4.6; its 6 and 7 end alike.
const (
	htmlNone        htmlBlock = iota
	htmlVerbatim              // <script>, <pre>, …: ends with any of their end tags
	htmlComment               // <!--
	htmlInstruction           // <?
	htmlDeclaration           // <!X
	htmlCDATA                 // <![CDATA[
	htmlTag                   // any other tag: ends with a blank line
)

// htmlEnds are what the kinds end with.
var htmlEnds = map[htmlBlock]string{
	htmlComment:     "-->",
	htmlInstruction: "?>",
	htmlDeclaration: ">",
	htmlCDATA:       "]]>",
}

var (
	verbatimStart = regexp.MustCompile(`^<(?i:script|pre|style|textarea)(?:[ \t>]|$)`)
	verbatimEnd   = regexp.MustCompile(`</(?i:script|pre|style|textarea)>`)
	tagStart      = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)(?:[ \t>]|/>|$)`)
	loneTag       = regexp.MustCompile(`^<(?:/[A-Za-z][A-Za-z0-9-]*[ \t]*|[A-Za-z][A-Za-z0-9-]*` +
		`(?:[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*[ \t]*/?)>[ \t]*$`)
)

// blockTags are the tags that begin a block wherever they stand.
var blockTags = func() map[string]bool {
	const names = `address article aside base basefont blockquote body caption center col colgroup dd
		details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6
		head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param
		search section summary table tbody td tfoot th thead title tr track ul`
	set := map[string]bool{}
	for _, n := range strings.Fields(names) {
		set[n] = true
	}
	return set
}()

// html returns the kind of HTML block that the line begins; interrupts says
// that a paragraph is open.
func (l line) html(interrupts bool) htmlBlock {
	if l.code() || l.blank() || l.rest[0] != '<' {
		return htmlNone
	}
	switch rest := l.rest; {
	case verbatimStart.Match(rest):
		return htmlVerbatim
	case bytes.HasPrefix(rest, []byte("<!--")):
		return htmlComment
	case bytes.HasPrefix(rest, []byte("<?")):
		return htmlInstruction
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return htmlCDATA
	case len(rest) > 2 && rest[1] == '!' && (rest[2]|0x20) >= 'a' && (rest[2]|0x20) <= 'z':
		return htmlDeclaration
	}
	if m := tagStart.FindSubmatch(l.rest); m != nil && blockTags[strings.ToLower(string(m[1]))] {
		return htmlTag
	}
	if !interrupts && loneTag.Match(l.rest) {
		return htmlTag
	}
	return htmlNone
}

// closedBy says that the block ends with a line, which may be its first.
func (h htmlBlock) closedBy(l line) bool {
	switch h {
	case htmlTag:
		return l.blank()
	case htmlVerbatim:
		return verbatimEnd.Match(l.content)
	}
	return bytes.Contains(l.content, []byte(htmlEnds[h]))
}
