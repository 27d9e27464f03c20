package extract

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// meta is the front matter of a text.
type meta struct {
	title      string
	start, end int // of what stands between the two rules
	after      int // where the text begins
}

// keyLine is how the first line of front matter looks, comments aside.
var keyLine = map[string]*regexp.Regexp{
	"---": regexp.MustCompile(`^["']?[^\s"':#\[{>|-][^:]*:(?:\s|$)`),
	"+++": regexp.MustCompile(`^(?:\[|["']?[\pL\pN_][^=]*=)`),
}

// frontMatter returns the front matter that a text begins with: YAML between
// two lines ---, or TOML between two lines +++. A rule followed by anything
// that is not a key is a thematic break.
func frontMatter(text []byte) (meta, bool) {
	r := lineReader{text: text}
	first, _ := r.read()
	rule := string(bytes.TrimRight(first.content, " \t"))
	key := keyLine[rule]
	if key == nil {
		return meta{}, false
	}
	m := meta{start: first.next}
	seen, comment := false, false // a key, a line of comment before any
	for {
		l, ok := r.read()
		if !ok {
			return meta{}, false
		}
		if end := string(bytes.TrimRight(l.content, " \t")); end == rule || end == "..." && rule == "---" {
			m.end, m.after = l.start, l.next
			m.title = metaTitle(text[m.start:m.end], rule)
			return m, seen || !comment
		}
		switch {
		case l.blank() || seen:
		case l.rest[0] == '#':
			comment = true
		case key.Match(l.content):
			seen = true
		default:
			return meta{}, false
		}
	}
}

// metaTitle returns the value of the top-level key title.
func metaTitle(block []byte, rule string) string {
	r := lineReader{text: block}
	for {
		l, ok := r.read()
		if !ok || rule == "+++" && l.indent == 0 && !l.blank() && l.rest[0] == '[' {
			return ""
		}
		value, ok := titleValue(string(l.content), rule)
		if !ok {
			continue
		}
		if rule == "---" {
			value = continued(value, &r)
		}
		return strings.Join(strings.Fields(Decode([]byte(scalar(value)))), " ")
	}
}

// titleValue returns what a line gives the key title, in either case and with
// or without quotes.
func titleValue(line, rule string) (string, bool) {
	separator := ":"
	if rule == "+++" {
		separator = "="
	}
	key, value, ok := strings.Cut(line, separator)
	key = strings.Trim(strings.TrimRight(key, " \t"), `"'`)
	return strings.TrimSpace(value), ok && strings.EqualFold(key, "title")
}

// continued returns a YAML value with its further lines, which are indented,
// and without the mark of a block scalar.
func continued(value string, r *lineReader) string {
	if value != "" && (value[0] == '|' || value[0] == '>') {
		value = ""
	}
	var b strings.Builder
	b.WriteString(value)
	for b.Len() < maxHeading {
		l, ok := r.read()
		if !ok || l.indent == 0 || l.blank() {
			break
		}
		b.WriteByte(' ')
		b.Write(l.rest)
	}
	return strings.TrimSpace(b.String())
}

// scalar returns the text of a YAML or TOML string, quoted or plain. What it
// cannot read it returns as it stands.
func scalar(v string) string {
	switch {
	case len(v) > 1 && v[0] == '\'':
		body := v[1:]
		for at := 0; at < len(body); at++ {
			if body[at] != '\'' {
				continue
			}
			if at+1 < len(body) && body[at+1] == '\'' {
				at++
				continue
			}
			return strings.ReplaceAll(body[:at], "''", "'")
		}
	case len(v) > 1 && v[0] == '"':
		if quoted, err := strconv.QuotedPrefix(v); err == nil {
			if s, err := strconv.Unquote(quoted); err == nil {
				return s
			}
		}
	default:
		if plain, _, ok := strings.Cut(v, " #"); ok {
			return strings.TrimRight(plain, " \t")
		}
	}
	return v
}
