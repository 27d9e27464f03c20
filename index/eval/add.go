package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Append adds a question with its evidence to the golden set in a file, which is
// made if it is not there. The file's ending says how it is written. What stands
// in the file stays as it is.
func Append(path, query string, evidence []Evidence) error {
	query = strings.TrimSpace(query)
	if query == "" || len(evidence) == 0 {
		return errors.New("a query and at least one piece of evidence are needed")
	}
	for _, e := range evidence {
		if again, err := ParseEvidence(e.String()); err != nil || again != e {
			return fmt.Errorf("evidence %s cannot be written down", e)
		}
	}
	var entry string
	switch strings.ToLower(filepath.Ext(path)) {
	case ".toml":
		entry = tomlEntry(query, evidence)
	case ".jsonl", ".ndjson":
		entry = jsonEntry(query, evidence)
	case ".tsv":
		if strings.ContainsAny(query, "\t\r\n") {
			return errors.New("a query with a tab or a line end cannot stand in a .tsv file")
		}
		for _, e := range evidence {
			entry += query + "\t" + e.String() + "\n"
		}
	default:
		return fmt.Errorf("%s: a golden set is written as .toml, .jsonl or .tsv", path)
	}
	return appendEntry(path, entry)
}

// tomlEntry writes strings as JSON does, which TOML reads alike.
func tomlEntry(query string, evidence []Evidence) string {
	var list []string
	for _, e := range evidence {
		list = append(list, quoted(e.String()))
	}
	return fmt.Sprintf("\n[[question]]\nquery = %s\nevidence = [%s]\n", quoted(query), strings.Join(list, ", "))
}

func jsonEntry(query string, evidence []Evidence) string {
	var list []string
	for _, e := range evidence {
		list = append(list, quoted(e.String()))
	}
	return fmt.Sprintf(`{"query": %s, "evidence": [%s]}`+"\n", quoted(query), strings.Join(list, ", "))
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string has no error
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", "\x7f", `\u007f`).Replace(string(b))
}

func appendEntry(path, entry string) (err error) {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case len(old) == 0:
		entry = strings.TrimPrefix(entry, "\n")
	case old[len(old)-1] != '\n':
		entry = "\n" + entry
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(entry)
	return errors.Join(err, f.Close())
}
