package extract

import (
	"bytes"
	"regexp"
)

// declaredAt is how far into a text, in bytes, it may name its encoding.
const declaredAt = 1024

// declarations are how texts name their encoding: the prolog of XML, a style
// sheet's rule, the mode lines of Emacs and Vim and Python's comment, and what a
// gettext catalogue or a TeX file says.
var declarations = []*regexp.Regexp{
	regexp.MustCompile(`^(?:\xEF\xBB\xBF)?\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]+)`),
	regexp.MustCompile(`^@charset\s+"([A-Za-z0-9._-]+)"`),
	regexp.MustCompile(`(?m)^[^\r\n]{0,200}-\*-[^\r\n]{0,200}coding:\s*([A-Za-z0-9._-]+)`),
	regexp.MustCompile(`(?m)^[^\r\n]{0,200}(?:file)?(?:en)?coding[=:]\s*([A-Za-z0-9._-]+)`),
	regexp.MustCompile(`charset=([A-Za-z0-9._-]+)\\n`),
	regexp.MustCompile(`\\inputenc(?:oding)?\{([A-Za-z0-9._-]+)\}|\\usepackage\[([A-Za-z0-9._-]+)\]\{inputenc\}`),
}

// declaredIn returns the encoding that a text names in its first lines, or "".
func declaredIn(data []byte) string {
	head := data[:min(len(data), declaredAt)]
	for _, d := range declarations {
		if m := d.FindSubmatch(head); m != nil {
			return texName(string(bytes.Join(m[1:], nil)))
		}
	}
	return ""
}

// texName maps TeX's names of encodings to those of everybody else.
func texName(name string) string {
	switch name {
	case "latin1", "latin2", "latin5", "utf8":
		return name
	case "latin9":
		return "iso-8859-15"
	case "ansinew":
		return "windows-1252"
	case "applemac":
		return "macroman"
	}
	return name
}
