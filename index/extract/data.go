package extract

import (
	"bytes"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// dataBytes is the least length of a section of a data file.
const dataBytes = 400

// parseJSON reads JSON as text, sound or broken: sections begin at the keys of the
// outermost object. Strings with escapes are read without: a \u of each character
// or an n in front of each line would hide the words.
func parseJSON(d *Document) error {
	if text, escaped := unescapeJSON(d.Text); escaped {
		d.replaceText(text)
	}
	d.Sections = group(len(d.Text), jsonKeys(d.Text), dataBytes, joinNames)
	return nil
}

// parseJSONLines reads one value a line.
func parseJSONLines(d *Document) error {
	if text, escaped := unescapeJSON(d.Text); escaped {
		d.replaceText(text)
	}
	return parsePlain(d)
}

// jsonKeys returns where the keys of the outermost object are.
func jsonKeys(text []byte) []place {
	var out []place
	depth, object := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			if depth++; depth == 1 {
				object = c == '{'
			}
		case '}', ']':
			depth--
		case '"':
			end := jsonString(text, i)
			if depth == 1 && object && end-i < maxHeading && isKey(text[end:]) {
				if key := fold(string(text[i+1 : end-1])); key != "" {
					out = append(out, place{at: i, path: []string{key}})
				}
			}
			i = end - 1
		}
	}
	return out
}

// jsonString returns where the string that begins at a place ends.
func jsonString(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 80)], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// unescapeJSON decodes \u escapes, and makes spaces of those for white space, so
// that lines stay lines. It says whether there were any.
func unescapeJSON(text []byte) ([]byte, bool) {
	at := bytes.IndexByte(text, '\\')
	if at < 0 {
		return text, false
	}
	out, found := append(make([]byte, 0, len(text)), text[:at]...), false
	for i := at; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		switch c := text[i+1]; c {
		case 'n', 't', 'r', 'f', 'b':
			out, found = append(out, ' '), true
			i++
		case 'u':
			r, n := jsonRune(text[i:])
			if n == 0 {
				out = append(out, '\\')
				break
			}
			out, found = utf8.AppendRune(out, r), true
			i += n - 1
		default:
			out = append(out, '\\', c)
			i++
		}
	}
	if !found {
		return text, false
	}
	return out, true
}

// jsonRune decodes the \u escape, or the two of a surrogate pair, that b begins with.
func jsonRune(b []byte) (r rune, n int) {
	if r, n = hexRune(b); n == 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		low, m := hexRune(b[n:])
		if pair := utf16.DecodeRune(r, low); m > 0 && pair != utf8.RuneError {
			return pair, n + m
		}
		return utf8.RuneError, n
	}
	if r < ' ' {
		r = ' '
	}
	return r, n
}

func hexRune(b []byte) (rune, int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(v), 6
}

var (
	yamlKey  = regexp.MustCompile(`^["']?([^\s"':#\[\]{}>|&*!%@,?-][^:#"']{0,100}?)["']?\s*:(?:\s|$)`)
	iniTable = regexp.MustCompile(`^\[\[?\s*([^\[\]]{1,100}?)\s*\]\]?\s*(?:[#;].*)?$`)
)

// parseYAML reads YAML as text, with a section for each key that is not indented.
// Aliases are not followed.
func parseYAML(d *Document) error { return d.keyed(yamlKey) }

// parseINI reads TOML and files like it as text, with a section for each table.
func parseINI(d *Document) error { return d.keyed(iniTable) }

// keyed makes sections that begin with the lines that look like key.
func (d *Document) keyed(key *regexp.Regexp) error {
	var places []place
	r := lineReader{text: d.Text}
	for {
		l, ok := r.read()
		if !ok {
			break
		}
		if l.indent > 0 || l.blank() || len(l.content) > maxHeading {
			continue
		}
		if m := key.FindSubmatch(l.content); m != nil {
			if name := fold(string(m[1])); name != "" {
				places = append(places, place{at: l.start, path: []string{name}})
			}
		}
	}
	d.Sections = group(len(d.Text), places, dataBytes, joinNames)
	return nil
}
