package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// eachLine calls f with every line that is not empty.
func (b *builder) eachLine(data []byte, f func(n int, line []byte) error) error {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	n := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		n++
		line = bytes.TrimRight(line, "\r")
		if !utf8.Valid(line) {
			return b.at(n, "not UTF-8 (save the file as UTF-8)")
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := f(n, line); err != nil {
			return err
		}
	}
	return nil
}

// decode reads one JSON object of a line.
func (b *builder) decode(n int, line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil && d.More() {
		err = errors.New("more than one value on the line")
	}
	if err != nil {
		return b.at(n, "%v", err)
	}
	return nil
}

// jsonQuestion is a line of a golden set in JSON lines.
type jsonQuestion struct {
	ID       string         `json:"id"`
	Query    string         `json:"query"`
	Evidence []jsonEvidence `json:"evidence"`
}

// jsonEvidence is a string as ParseEvidence reads it, or an object.
type jsonEvidence struct {
	text string
	json struct {
		Path    string   `json:"path"`
		Passage *int     `json:"passage"`
		Quote   string   `json:"quote"`
		Lines   []int    `json:"lines"`
		Grade   *float64 `json:"grade"`
	}
}

func (e *jsonEvidence) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &e.text)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(&e.json)
}

func (e *jsonEvidence) evidence() (Evidence, error) {
	if e.text != "" {
		return ParseEvidence(e.text)
	}
	j := &e.json
	out := Evidence{Path: j.Path, Passage: -1, Quote: foldSpace(j.Quote), Grade: 1}
	if j.Passage != nil {
		out.Passage = *j.Passage
	}
	if j.Grade != nil {
		out.Grade = *j.Grade
	}
	switch {
	case out.Path == "" && out.Quote == "":
		return out, errors.New("evidence without path or quote")
	case j.Passage != nil && out.Passage < 0:
		return out, fmt.Errorf("passage %d is negative", out.Passage)
	case !(out.Grade > 0):
		return out, fmt.Errorf("grade %v is not positive", out.Grade)
	case len(j.Lines) == 1:
		return out, out.lines(strconv.Itoa(j.Lines[0]), "")
	case len(j.Lines) == 2:
		return out, out.lines(strconv.Itoa(j.Lines[0]), strconv.Itoa(j.Lines[1]))
	case len(j.Lines) > 2:
		return out, errors.New("lines are a first and a last one")
	}
	return out, nil
}

func (b *builder) jsonl(data []byte) error {
	return b.eachLine(data, func(n int, line []byte) error {
		var j jsonQuestion
		if err := b.decode(n, line, &j); err != nil {
			return err
		}
		q := Question{ID: j.ID, Text: j.Query, Line: n}
		for i := range j.Evidence {
			e, err := j.Evidence[i].evidence()
			if err != nil {
				return b.at(n, "%v", err)
			}
			q.Evidence = append(q.Evidence, e)
		}
		return b.add(q)
	})
}

// tsv reads lines of a query, a piece of evidence and perhaps a grade. A first
// line that begins with "query" and a tab is a header.
func (b *builder) tsv(data []byte) error {
	return b.eachLine(data, func(n int, line []byte) error {
		fields := strings.Split(string(line), "\t")
		if n == 1 && strings.EqualFold(fields[0], "query") {
			return nil
		}
		if len(fields) < 2 || len(fields) > 3 {
			return b.at(n, "%d columns, must be query, evidence and perhaps a grade, with tabs between", len(fields))
		}
		e, err := b.evidence(n, fields[1])
		if err != nil {
			return err
		}
		if len(fields) == 3 {
			if e.Grade, err = strconv.ParseFloat(fields[2], 64); err != nil || !(e.Grade >= 0) || e.Grade > 1e6 {
				return b.at(n, "grade %q is not a number of at least 0", fields[2])
			}
			if e.Grade == 0 {
				return nil // judged, and no evidence
			}
		}
		return b.add(Question{Text: fields[0], Line: n, Evidence: []Evidence{e}})
	})
}
