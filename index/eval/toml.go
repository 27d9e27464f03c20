package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// tomlSet is a golden set in TOML:
//
//	[[question]]
//	id = "export"                      # optional
//	query = "Can I export my data?"
//	evidence = ["export.md", "cancel.md#2", "plans.md:10-14", '"kept for thirty days"']
type tomlSet struct {
	Question []struct {
		ID       string   `toml:"id"`
		Query    string   `toml:"query"`
		Evidence []string `toml:"evidence"`
	} `toml:"question"`
}

func (b *builder) toml(data []byte) error {
	var set tomlSet
	meta, err := toml.Decode(string(data), &set)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return b.at(parse.Position.Line, "%s", parse.Message)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	lines := headerLines(string(data))
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return b.at(lineOf(string(data), unknown[0]), "unknown key %q (a [[question]] has id, query and evidence)", unknown[0].String())
	}
	for i, q := range set.Question {
		line := 1
		if i < len(lines) {
			line = lines[i]
		}
		question := Question{ID: q.ID, Text: q.Query, Line: line}
		for _, s := range q.Evidence {
			e, err := b.evidence(line, s)
			if err != nil {
				return err
			}
			question.Evidence = append(question.Evidence, e)
		}
		if err := b.add(question); err != nil {
			return err
		}
	}
	return nil
}

// headerLines gives the line of each [[question]].
func headerLines(text string) (lines []int) {
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.ReplaceAll(strings.TrimSpace(line), " ", "") == "[[question]]" {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// lineOf is the first line that begins with the last part of a key.
func lineOf(text string, key toml.Key) int {
	name := key[len(key)-1]
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t[\"'"), name) {
			return i + 1
		}
	}
	return 1
}
