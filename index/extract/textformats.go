package extract

import "strings"

// textFormats are the parsers of formats that are text, or made of it, with their
// types.
var textFormats = []struct {
	parse parser
	raw   bool // takes the file's bytes, since it names its encoding itself
	types string
}{
	{parseRST, false, "rst"},
	{parseAsciiDoc, false, "adoc"},
	{parseOrg, false, "org"},
	{parseLaTeX, false, "tex"},
	{parseHTML, true, "html"},
	{parseMail, true, "mht eml"},
	{parseXML, true, "xml svg dbk docbook rss atom rdf opml dita ditamap tei ttml dfxp xspf gpx kml plist resx xlf xliff tmx enex"},
	{parseJSON, false, "json"},
	{parseJSONLines, false, "jsonl"},
	{parseNotebook, false, "ipynb"},
	{parseYAML, false, "yaml"},
	{parseINI, false, "toml ini"},
	{parseCSV, false, "csv tsv"},
	{parseSubtitles, false, "srt vtt ass sbv lrc"},
	{parseEmlx, true, "emlx"},
	{parseMbox, true, "mbox"},
	{parseMan, false, "1 2 3 4 5 6 7 8 9 1p 3p 3pm 3posix man mdoc"},
}

// otherExtensions are the extensions of a type beside its own.
var otherExtensions = map[string]string{
	"md":    "mdwn mdx qmd rmd",
	"rst":   "rest",
	"adoc":  "asciidoc asc",
	"tex":   "latex ltx sty cls dtx",
	"html":  "htm xhtml xht shtml smi sami",
	"mht":   "mhtml",
	"jsonl": "ndjson",
	"json":  "jsonc json5 geojson",
	"yaml":  "yml",
	"tsv":   "tab",
	"ass":   "ssa",
	"ini":   "cfg conf desktop",
	"vtt":   "webvtt",
	"mbox":  "mbx",
}

func init() {
	for _, f := range textFormats {
		for _, t := range strings.Fields(f.types) {
			parsers[t] = f.parse
			if f.raw {
				raw[t] = true
			}
		}
	}
	for t, others := range otherExtensions {
		for _, extension := range strings.Fields(others) {
			aliases[extension] = t
		}
	}
}
