package chunk

import (
	"slices"

	"quern/index/extract"
)

// Split cuts a document into passages, in the order of their starts. The
// options must be valid: Split panics otherwise.
//
// Window and Whole cut the text as it stands, headings and all; a passage's
// heading path is that of the section in which it starts, and a heading's line
// counts as part of its section. Paragraph and Auto cut each section on its own and
// leave the headings' lines out; only a heading with neither text nor a
// deeper heading below it is a passage itself, so that it can be found.
func Split(d *extract.Document, o Options) []Passage {
	if err := o.Validate(); err != nil {
		panic(err)
	}
	s := splitter{packer: packer{Options: o, scanner: scanner{text: d.Text, line: 1}}, windower: newWindower(o)}
	sections := d.Sections
	if len(sections) == 0 {
		sections = []extract.Section{{End: len(d.Text)}}
	}
	s.out = make([]Passage, 0, estimate(len(d.Text), len(sections), o))
	if o.Strategy == Paragraph || o.Strategy == Auto {
		s.sections(sections)
	} else {
		s.whole()
		label(s.out, sections)
	}
	return slices.Clip(s.out)
}

// estimate guesses the number of passages, for words of seven bytes with the
// space behind them. It errs on the small side.
func estimate(size, sections int, o Options) int {
	if o.Strategy == Whole {
		return 1
	}
	return min(size/7/(o.MaxWords-o.Overlap)+sections, 1<<16)
}

// splitter is one Split.
type splitter struct {
	packer
	windower
}

// whole cuts the whole text into windows.
func (s *splitter) whole() {
	for {
		w, _, ok := s.next(len(s.text))
		if !ok {
			break
		}
		s.take(w)
	}
	s.finish()
}

// sections cuts each section into its paragraphs, and adds the headings that
// have nothing below them.
func (s *splitter) sections(sections []extract.Section) {
	for i, sec := range sections {
		first := len(s.out)
		if sec.HeadingEnd > 0 {
			s.seek(sec.HeadingStart)
			at := s.scanner
			s.seek(sec.Start)
			s.section(sec)
			leaf := i+1 == len(sections) || len(sections[i+1].Heading) <= len(sec.Heading)
			if len(s.out) == first && leaf {
				s.heading(at, sec)
			}
		} else {
			s.seek(sec.Start)
			s.section(sec)
		}
		for j := first; j < len(s.out); j++ {
			s.out[j].Heading, s.out[j].Page = sec.Heading, sec.Page
		}
	}
}

// section gathers a section's paragraphs until there are enough words, cuts
// those into windows and begins anew. What is left at the end joins the last
// passage, or is the only one.
func (s *splitter) section(sec extract.Section) {
	if s.Strategy == Auto {
		s.sectionPassages(sec)
		return
	}
	first := len(s.out)
	begun := first // passages before the words now gathered
	s.begin()
	for {
		w, blank, ok := s.next(sec.End)
		if !ok {
			break
		}
		if blank && s.n >= s.MinWords {
			s.finish()
			begun = len(s.out)
		}
		s.take(w)
	}
	if s.n >= s.MinWords || s.n == 0 {
		s.finish()
		return
	}
	// With min > max, windows of the tail may be out already.
	s.out = s.out[:begun]
	if begun == first {
		s.out = append(s.out, span(s.windower.first, s.last))
		return
	}
	tail := &s.out[begun-1]
	tail.End, tail.LastLine = s.last.end, s.last.line
}

// heading adds the heading of a section as a passage; at stands at its start.
func (s *splitter) heading(at scanner, sec extract.Section) {
	first, _, ok := at.next(sec.HeadingEnd)
	if !ok {
		return
	}
	last := first
	for ok {
		var w word
		if w, _, ok = at.next(sec.HeadingEnd); ok {
			last = w
		}
	}
	p := span(first, last)
	p.HeadingOnly = true
	s.out = append(s.out, p)
}

// take adds a word, and the window it fills.
func (s *splitter) take(w word) {
	if p, full := s.add(w); full {
		s.out = append(s.out, p)
	}
}

// finish adds the last window of the words gathered and begins anew.
func (s *splitter) finish() {
	if p, ok := s.end(); ok {
		s.out = append(s.out, p)
	}
	s.begin()
}

// label gives each passage the heading path and page of the section where it starts.
func label(passages []Passage, sections []extract.Section) {
	next := 0
	var heading []string
	page := 0
	for i := range passages {
		for next < len(sections) && begins(sections[next]) <= passages[i].Start {
			heading, page = sections[next].Heading, sections[next].Page
			next++
		}
		passages[i].Heading, passages[i].Page = heading, page
	}
}

// begins returns where a section begins, heading and all.
func begins(s extract.Section) int {
	if s.HeadingEnd > 0 {
		return s.HeadingStart
	}
	return s.Start
}
