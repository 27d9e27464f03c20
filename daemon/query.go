package daemon

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"quern/index"
	lang "quern/index/query"
	"quern/ipc"
)

// QueryFields are the names of the fields that a query may have.
func QueryFields() []string { return lang.Fields() }

// parseQuery reads a query. One that does not parse is the client's error, with
// its column.
func parseQuery(text string, literal bool) (*lang.Query, error) {
	if literal {
		return lang.Literal(text), nil
	}
	q, err := lang.Parse(text)
	if e, ok := errors.AsType[*lang.Error](err); ok {
		return nil, badQuery(e.Column, e.Error())
	}
	return q, err
}

// badQuery is an error that points at a column of the query, in characters from 1.
func badQuery(column int, message string) error {
	e := ipc.Errorf(ipc.CodeBadQuery, "%s", message)
	e.Data, _ = json.Marshal(ipc.QueryErrorData{Column: column}) // a number cannot fail
	return e
}

// fieldFilters makes the tests for the fields of a query that are about documents.
// Several paths, types or folders are alternatives; whatever is not wanted is
// excluded by itself.
func fieldFilters(c *core, asked *lang.Query, now time.Time) (filterList, error) {
	var out filterList
	wanted := make(map[lang.Kind]int) // place in out
	for i := range asked.Clauses {
		x := &asked.Clauses[i]
		test, err := fieldTest(c, x, now)
		if err != nil {
			return nil, err
		}
		if test == nil {
			continue
		}
		f := filter{x.String(), test}
		at, again := wanted[x.Kind]
		switch {
		case x.Occur == lang.Not:
			f.test = func(doc *index.DocumentInfo) bool { return !test(doc) }
			out = append(out, f)
		case again && x.Kind <= lang.Folder:
			out[at] = either(out[at], f)
		default:
			wanted[x.Kind] = len(out)
			out = append(out, f)
		}
	}
	return out, nil
}

func either(a, b filter) filter {
	return filter{a.clause + " " + b.clause, func(doc *index.DocumentInfo) bool { return a.test(doc) || b.test(doc) }}
}

// fieldTest makes the test for a field, nil if it is none about documents that the
// daemon knows better than the index.
func fieldTest(c *core, x *lang.Clause, now time.Time) (func(*index.DocumentInfo) bool, error) {
	switch x.Kind {
	case lang.Path:
		return matching(x.Text), nil
	case lang.Type:
		return ofType(strings.Split(x.Text, ",")), nil
	case lang.Folder:
		test, err := inFolders(c, []string{x.Text})
		if e, ok := errors.AsType[*ipc.Error](err); ok {
			return nil, badQuery(x.ValueColumn, strings.Replace(e.Message, "folders: ", "folder: ", 1))
		}
		return test, err
	case lang.Since, lang.Before:
		t, err := lang.ParseDate(x.Text, now)
		if err != nil {
			return nil, badQuery(x.ValueColumn, x.Kind.String()+": "+err.Error()+" ("+lang.Dates+")")
		}
		return changed(t, x.Kind == lang.Since), nil
	}
	return nil, nil
}

// wireDuplicates lists the hits that were folded into one.
func wireDuplicates(all []index.Duplicate) []ipc.Duplicate {
	out := slices.Grow([]ipc.Duplicate(nil), len(all))
	for _, d := range all {
		out = append(out, ipc.Duplicate{
			Path: ipc.EncodePath(d.Document.Path), Folder: d.Document.Folder, Rel: ipc.EncodePath(d.Document.Rel),
			Passage: d.N, Lines: d.Lines,
		})
	}
	return out
}
