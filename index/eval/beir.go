package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The layout of BEIR: corpus.jsonl (_id, title, text), queries.jsonl (_id, text)
// and qrels.tsv, or qrels/test.tsv (a header, then query id, document id, grade).
// A further file spans.tsv (a header, then query id, document id, start and end in
// characters of the text) names the spans of a document that are the evidence.
//
// Source: Thakur et al., BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation
// of Information Retrieval Models (2021).

// CorpusDocument is a document of a corpus in BEIR's layout.
type CorpusDocument struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// What some collections have beside it is not used.
	Metadata any `json:"metadata"`
	URL      any `json:"url"`
}

// LoadCorpus reads the corpus.jsonl of a folder. Errors name the file and line.
func LoadCorpus(dir string) ([]CorpusDocument, error) {
	b := &builder{path: filepath.Join(dir, "corpus.jsonl")}
	data, err := readFile(b.path, nil)
	if err != nil {
		return nil, err
	}
	var docs []CorpusDocument
	lines := map[string]int{}
	err = b.eachLine(data, func(n int, line []byte) error {
		var d CorpusDocument
		if err := b.decode(n, line, &d); err != nil {
			return err
		}
		switch first := lines[d.ID]; {
		case d.ID == "":
			return b.at(n, "the document has no _id")
		case first > 0:
			return b.at(n, "the _id %q is that of line %d, too", d.ID, first)
		}
		lines[d.ID] = n
		docs = append(docs, d)
		return nil
	})
	if err == nil && len(docs) == 0 {
		err = fmt.Errorf("%s: no documents", b.path)
	}
	return docs, err
}

// beir reads the questions of a folder. Those that nobody judged are left out.
func (b *builder) beir() error {
	dir := b.path
	texts, err := readQueries(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	if err := b.spans(filepath.Join(dir, "spans.tsv"), dir, texts); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = b.qrels(filepath.Join(dir, "qrels.tsv"), texts)
	if errors.Is(err, fs.ErrNotExist) {
		err = b.qrels(filepath.Join(dir, "qrels", "test.tsv"), texts)
	}
	return err
}

func readQueries(path string) (map[string]string, error) {
	b := &builder{path: path}
	data, err := readFile(path, nil)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	err = b.eachLine(data, func(n int, line []byte) error {
		var q struct {
			ID       string `json:"_id"`
			Text     string `json:"text"`
			Metadata any    `json:"metadata"`
		}
		if err := b.decode(n, line, &q); err != nil {
			return err
		}
		if _, twice := texts[q.ID]; q.ID == "" || twice {
			return b.at(n, "the _id %q is missing, or that of an earlier line", q.ID)
		}
		texts[q.ID] = q.Text
		return nil
	})
	return texts, err
}

// table reads lines of so many columns below a header.
func (b *builder) table(path string, columns int, f func(n int, fields []string) error) error {
	b.path = path
	data, err := readFile(path, nil)
	if err != nil {
		return err
	}
	return b.eachLine(data, func(n int, line []byte) error {
		fields := strings.Split(string(line), "\t")
		switch {
		case n == 1:
			return nil
		case len(fields) != columns:
			return b.at(n, "%d columns, must be %d with tabs between", len(fields), columns)
		}
		return f(n, fields)
	})
}

func (b *builder) qrels(path string, texts map[string]string) error {
	return b.table(path, 3, func(n int, f []string) error {
		grade, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return b.at(n, "grade %q is no number", f[2])
		}
		if grade <= 0 {
			return nil
		}
		return b.judged(n, f[0], texts, Evidence{Path: f[1], Passage: -1, Grade: grade})
	})
}

// judged adds evidence to the query of an id.
func (b *builder) judged(n int, id string, texts map[string]string, e Evidence) error {
	text, ok := texts[id]
	if !ok {
		return b.at(n, "no query has the id %q", id)
	}
	return b.add(Question{ID: id, Text: text, Line: n, Evidence: []Evidence{e}})
}

// spans reads spans.tsv, and the corpus that its offsets are in.
func (b *builder) spans(path, dir string, texts map[string]string) error {
	var offsets map[string][]int // of each character, by document
	err := b.table(path, 4, func(n int, f []string) error {
		if offsets == nil {
			docs, err := LoadCorpus(dir)
			if err != nil {
				return err
			}
			offsets = characterOffsets(docs)
		}
		at, ok := offsets[f[1]]
		if !ok {
			return b.at(n, "no document has the id %q", f[1])
		}
		start, errStart := strconv.Atoi(f[2])
		end, errEnd := strconv.Atoi(f[3])
		if errStart != nil || errEnd != nil || start < 0 || end <= start || end >= len(at) {
			return b.at(n, "%s to %s is no span of %q, which has %d characters", f[2], f[3], f[1], len(at)-1)
		}
		e := Evidence{Path: f[1], Passage: -1, Grade: 1, Bytes: [2]int{at[start], at[end]}}
		return b.judged(n, f[0], texts, e)
	})
	return err
}

// characterOffsets gives the byte of each character in what CorpusDocument.Body
// makes of a document, and of its end.
func characterOffsets(docs []CorpusDocument) map[string][]int {
	out := make(map[string][]int, len(docs))
	for i := range docs {
		title := len(docs[i].Body()) - len(docs[i].Text)
		at := make([]int, 0, utf8.RuneCountInString(docs[i].Text)+1)
		for pos := range docs[i].Text {
			at = append(at, title+pos)
		}
		out[docs[i].ID] = append(at, title+len(docs[i].Text))
	}
	return out
}

// Body is the document's whole text: the title, an empty line and the text, or
// the text alone if there is no title.
func (d *CorpusDocument) Body() string {
	if strings.TrimSpace(d.Title) == "" {
		return d.Text
	}
	return d.Title + "\n\n" + d.Text
}
