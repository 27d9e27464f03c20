package daemon

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"quern/index"
	lang "quern/index/query"
	"quern/ipc"
)

// filter is a test that the documents of hits pass.
type filter struct {
	clause string // of the query, if it is there that it was asked for
	test   func(*index.DocumentInfo) bool
}

type filterList []filter

// keep is the test that all pass, nil for none.
func (l filterList) keep() func(*index.DocumentInfo) bool {
	if len(l) == 0 {
		return nil
	}
	return func(doc *index.DocumentInfo) bool {
		return !slices.ContainsFunc(l, func(f filter) bool { return !f.test(doc) })
	}
}

// explain says which parts of the query a document meets.
func (l filterList) explain(doc *index.DocumentInfo) []ipc.DemandExplain {
	var out []ipc.DemandExplain
	for _, f := range l {
		if f.clause != "" {
			out = append(out, ipc.DemandExplain{Clause: f.clause, Met: f.test(doc)})
		}
	}
	return out
}

// filters makes the tests for the documents that the params and the fields of the
// query choose.
func filters(c *core, p ipc.SearchParams, asked *lang.Query, now time.Time) (filterList, error) {
	var out filterList
	add := func(test func(*index.DocumentInfo) bool) { out = append(out, filter{test: test}) }
	if len(p.Folders) > 0 {
		test, err := inFolders(c, p.Folders)
		if err != nil {
			return nil, err
		}
		add(test)
	}
	if p.Path != "" {
		if !doublestar.ValidatePattern(p.Path) {
			return nil, ipc.Errorf(ipc.CodeInvalidParams, "path: %q is not a valid glob", p.Path)
		}
		add(matching(p.Path))
	}
	if len(p.Types) > 0 {
		add(ofType(p.Types))
	}
	for _, param := range []struct {
		name, value string
		since       bool
	}{{"since", p.Since, true}, {"before", p.Before, false}} {
		if param.value == "" {
			continue
		}
		t, err := lang.ParseDate(param.value, now)
		if err != nil {
			return nil, ipc.Errorf(ipc.CodeInvalidParams, "%s: %v (%s)", param.name, err, lang.Dates)
		}
		add(changed(t, param.since))
	}
	fields, err := fieldFilters(c, asked, now)
	return append(out, fields...), err
}

// changed keeps the documents changed since a time, or before it.
func changed(t time.Time, since bool) func(*index.DocumentInfo) bool {
	return func(doc *index.DocumentInfo) bool { return doc.Modified.Before(t) != since }
}

// inFolders keeps the documents at or below the folders given, by name or by
// absolute path: also those of a folder that lies inside another.
func inFolders(c *core, folders []string) (func(*index.DocumentInfo) bool, error) {
	named := map[string]string{}
	for _, f := range c.list() {
		named[f.Name] = f.Path
	}
	var paths []string
	for _, f := range folders {
		p, ok := named[f]
		switch {
		case ok:
		case filepath.IsAbs(f):
			var err error
			if p, err = absolute(f); err != nil {
				return nil, err
			}
		default:
			return nil, ipc.Errorf(ipc.CodeInvalidParams, "folders: no folder is named %q (see: quern folders list)", f)
		}
		paths = append(paths, p)
	}
	return func(doc *index.DocumentInfo) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			_, ok := relativeTo(p, doc.Path)
			return ok
		})
	}, nil
}

// matching keeps the documents whose path matches the glob: the absolute path
// when the glob begins with /, the base name when it has no /, else the path
// within the folder.
func matching(glob string) func(*index.DocumentInfo) bool {
	return func(doc *index.DocumentInfo) bool {
		subject := doc.Rel
		switch {
		case strings.HasPrefix(glob, "/"):
			subject = filepath.ToSlash(doc.Path)
		case !strings.Contains(glob, "/"):
			subject = path.Base(doc.Rel)
		}
		ok, _ := doublestar.Match(glob, subject)
		return ok
	}
}

// ofType keeps the documents of the formats named, with or without a dot.
func ofType(types []string) func(*index.DocumentInfo) bool {
	wanted := map[string]bool{}
	for _, t := range types {
		wanted[strings.ToLower(strings.TrimPrefix(t, "."))] = true
	}
	return func(doc *index.DocumentInfo) bool {
		return wanted[doc.Type] || wanted[strings.ToLower(strings.TrimPrefix(path.Ext(doc.Rel), "."))]
	}
}
