package eval

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxFile bounds what is read of a golden set, in bytes.
const maxFile = 1 << 30

// Load reads a golden set: a folder in BEIR's layout, or a file whose ending says
// what it is (.toml, .jsonl, .tsv). Questions of the same text, or of the same
// id, are one. Errors name the file and the line.
func Load(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	b := &builder{path: path, byText: map[string]int{}, byID: map[string]int{}}
	if info.IsDir() {
		err = b.beir()
	} else {
		err = b.file(info)
	}
	if err != nil {
		return nil, err
	}
	if len(b.questions) == 0 {
		return nil, fmt.Errorf("%s: no questions (quern eval --add QUERY begins a golden set)", path)
	}
	for _, q := range b.questions {
		if len(q.Evidence) == 0 {
			return nil, b.at(q.Line, "%q has no evidence (name a path, path#passage, path:lines or a \"phrase\")", q.Text)
		}
	}
	return &Set{Name: filepath.Base(path), Questions: b.questions}, nil
}

// formats are the readers by ending.
var formats = map[string]func(*builder, []byte) error{
	".toml": (*builder).toml, ".jsonl": (*builder).jsonl, ".ndjson": (*builder).jsonl, ".tsv": (*builder).tsv,
}

func (b *builder) file(info os.FileInfo) error {
	read := formats[strings.ToLower(filepath.Ext(b.path))]
	if read == nil {
		return fmt.Errorf("%s: a golden set is a .toml, .jsonl or .tsv file, or a folder with corpus.jsonl, queries.jsonl and qrels.tsv", b.path)
	}
	data, err := readFile(b.path, info)
	if err != nil {
		return err
	}
	return read(b, data)
}

func readFile(path string, info os.FileInfo) ([]byte, error) {
	if info == nil {
		var err error
		if info, err = os.Stat(path); err != nil {
			return nil, err
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: %d bytes are more than the %d that are read", path, info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return data, nil
}

// builder gathers questions.
type builder struct {
	path         string // of the set, for messages
	questions    []Question
	byText, byID map[string]int
}

// at makes an error that names file and line.
func (b *builder) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", b.path, line, fmt.Sprintf(format, args...))
}

// add takes a question, or further evidence of one that is there.
func (b *builder) add(q Question) error {
	q.Text = strings.TrimSpace(q.Text)
	if q.Text == "" {
		return b.at(q.Line, "the query is empty")
	}
	if i, ok := b.find(q); ok {
		old := &b.questions[i]
		if old.Text != q.Text {
			return b.at(q.Line, "the id %q is that of the question on line %d, %q", q.ID, old.Line, old.Text)
		}
		old.Evidence = append(old.Evidence, q.Evidence...)
		return nil
	}
	if q.ID == "" {
		q.ID = strconv.Itoa(len(b.questions) + 1)
	}
	b.byText[q.Text], b.byID[q.ID] = len(b.questions), len(b.questions)
	b.questions = append(b.questions, q)
	return nil
}

func (b *builder) find(q Question) (int, bool) {
	if i, ok := b.byID[q.ID]; ok && q.ID != "" {
		return i, true
	}
	i, ok := b.byText[q.Text]
	return i, ok && (q.ID == "" || b.questions[i].ID == q.ID)
}

// evidence reads a piece of evidence of a line.
func (b *builder) evidence(line int, s string) (Evidence, error) {
	e, err := ParseEvidence(s)
	if err != nil {
		return e, b.at(line, "%v", err)
	}
	return e, nil
}
