package extract

import (
	"encoding/json"
	"slices"
	"strings"
)

// parseNotebook reads a Jupyter notebook (nbformat 2 to 4): its cells in order, the
// headings of those in Markdown as sections, and the text of outputs, but no
// pictures. What is no notebook is read as JSON.
func parseNotebook(d *Document) error {
	var n notebook
	if err := json.Unmarshal(d.Text, &n); err != nil && len(n.Cells) == 0 && len(n.Worksheets) == 0 {
		return parseJSON(d)
	}
	p := prose{}
	for _, sheet := range append([]worksheet{{n.Cells}}, n.Worksheets...) {
		for _, c := range sheet.Cells {
			p.cell(c)
		}
	}
	if len(p.buf) == 0 {
		return parseJSON(d)
	}
	d.Title = fold(string(n.Metadata.Title))
	return d.document(&p)
}

// notebook is what is read of one; format 3 and older have worksheets.
type notebook struct {
	Cells      []cell
	Worksheets []worksheet
	Metadata   struct{ Title text }
}

type worksheet struct{ Cells []cell }

type cell struct {
	Type    text `json:"cell_type"`
	Level   int
	Source  text
	Input   text
	Outputs []output
}

type output struct {
	Text      text
	Evalue    text
	Traceback text
	Data      map[string]text
}

// text is a string, or a list of the lines of one. Anything else is empty.
type text string

// UnmarshalJSON reads either form, and is never an error.
func (t *text) UnmarshalJSON(data []byte) error {
	var lines []string
	var one string
	switch {
	case json.Unmarshal(data, &one) == nil:
		*t = text(one)
	case json.Unmarshal(data, &lines) == nil:
		*t = text(strings.Join(lines, ""))
	}
	return nil
}

// cell adds a cell and its outputs.
func (p *prose) cell(c cell) {
	p.para()
	switch c.Type {
	case "markdown":
		p.markdown(string(c.Source))
	case "heading": // of format 3
		p.heading(min(max(c.Level, 1), 6), string(c.Source))
	default:
		p.verbatim(string(c.Source + c.Input))
	}
	for _, o := range c.Outputs {
		p.para()
		p.verbatim(withoutEscapes(o.Text))
		p.line()
		p.verbatim(withoutEscapes(o.Traceback))
		if o.Traceback == "" {
			p.verbatim(string(o.Evalue))
		}
		p.data(o.Data)
	}
	p.para()
}

// data adds what an output shows: its plain text, or else what has some.
func (p *prose) data(data map[string]text) {
	for _, media := range []string{"text/plain", "text/markdown", "text/latex"} {
		if t := data[media]; t != "" {
			p.verbatim(withoutEscapes(t))
			return
		}
	}
	if t := data["text/html"]; t != "" {
		p.text(string(readHTML([]byte(t), 0).buf))
	}
}

func withoutEscapes(t text) string {
	plain, _ := stripEscapes([]byte(t))
	return string(plain)
}

// dataURL is how a picture within a text begins.
const dataURL = "data:image/"

// markdown adds a text in Markdown with its headings, without pictures in it.
func (p *prose) markdown(source string) {
	p.settle()
	at := len(p.buf)
	p.buf = append(p.buf, strings.TrimSpace(Decode([]byte(withoutPictures(source))))...)
	s := blockScanner{lineReader: lineReader{text: slices.Clone(p.buf[at:])}}
	s.scan()
	for _, h := range s.headings {
		h.start, h.end, h.after = h.start+at, h.end+at, h.after+at
		p.headings = append(p.headings, h)
	}
}

// withoutPictures drops the data of pictures that are within a text.
func withoutPictures(source string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(source, dataURL)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		end := strings.IndexAny(after, " \t\n\"')>")
		if end < 0 {
			return b.String()
		}
		source = after[end:]
	}
}
