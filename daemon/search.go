package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"quern/config"
	"quern/index"
	"quern/ipc"
)

const (
	// defaultHits is k when the client names none.
	defaultHits = 10
	// defaultSearchSync is how long a search with sync waits for the files.
	defaultSearchSync = 2 * time.Second
	// charsPerToken is the usual rule of thumb for the context window of a
	// language model.
	charsPerToken = 4
)

// search answers a query.
func (d *Daemon) search(ctx context.Context, p ipc.SearchParams) (ipc.SearchResult, error) {
	options, err := d.searchOptions(p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	c, stale, err := d.fresh(ctx, p)
	if err != nil {
		return ipc.SearchResult{}, err
	}
	if options.Keep, err = keep(c, p, time.Now()); err != nil {
		return ipc.SearchResult{}, err
	}
	if options.Keep, err = c.withoutAbsent(ctx, options.Keep); err != nil {
		return ipc.SearchResult{}, err
	}
	start := time.Now()
	pending := c.watch.State().Pending
	snapshot := c.engine.Snapshot()
	found, err := snapshot.Search(ctx, p.Query, options)
	if err != nil {
		return ipc.SearchResult{}, fmt.Errorf("search: %w", err)
	}
	out := ipc.SearchResult{
		Query: p.Query, Model: string(options.Model), Generation: c.base + found.Generation,
		Passages: found.Passages, Total: found.Total, TotalAtLeast: found.TotalAtLeast,
		Pending: pending, Stale: stale,
		Hits: make([]ipc.Hit, 0, len(found.Hits)),
	}
	for _, h := range within(found.Hits, p.Budget) {
		hit := wireHit(&h, p.Text == nil || *p.Text)
		if p.Explain {
			why, err := snapshot.Explain(p.Query, options, h.Document.Path, h.N)
			if err != nil {
				return ipc.SearchResult{}, fmt.Errorf("explain: %w", err)
			}
			hit.Explain = wireExplanation(why)
		}
		out.Hits = append(out.Hits, hit)
	}
	out.TookUS = time.Since(start).Microseconds()
	return out, nil
}

// searchOptions checks the params and fills in the config's defaults.
func (d *Daemon) searchOptions(p ipc.SearchParams) (index.SearchOptions, error) {
	rank := d.config().Rank
	o := index.SearchOptions{K: p.K, Offset: p.Offset, K1: rank.K1, B: rank.B, Text: p.Text == nil || *p.Text || p.Budget > 0}
	if o.K == 0 {
		o.K = defaultHits
		if p.Budget > 0 {
			o.K = maxHits
		}
	}
	for _, param := range []struct {
		name  string
		value int
	}{{"k", p.K}, {"offset", p.Offset}, {"budget", p.Budget}, {"sync_timeout_ms", p.SyncTimeoutMS}} {
		if param.value < 0 {
			return o, ipc.Errorf(ipc.CodeInvalidParams, "%s: %d is negative", param.name, param.value)
		}
	}
	if o.K > maxHits {
		return o, ipc.Errorf(ipc.CodeInvalidParams, "k: %d is over the limit of %d (use offset for further hits)", p.K, maxHits)
	}
	var err error
	if o.Model, o.TF, err = modelOf(rank, p.Model, p.TF); err != nil {
		return o, err
	}
	switch p.Collapse {
	case "", "none":
	case "document":
		o.CollapseDocument = true
	default:
		return o, ipc.Errorf(ipc.CodeInvalidParams, "collapse: %q is neither none nor document", p.Collapse)
	}
	return o, nil
}

// modelOf is the ranking the client named, or the config's.
func modelOf(rank config.Rank, model, tf string) (index.Model, index.TF, error) {
	m, t := index.Model(cmp.Or(model, rank.Model)), index.TF(cmp.Or(tf, rank.TF))
	if m != index.TFIDF && m != index.BM25 {
		return m, t, ipc.Errorf(ipc.CodeInvalidParams, "model: %q is neither tfidf nor bm25", m)
	}
	if t != index.LogTF && t != index.RawTF {
		return m, t, ipc.Errorf(ipc.CodeInvalidParams, "tf: %q is neither log nor raw", t)
	}
	return m, t, nil
}

// fresh is the core to ask. With sync it has seen every earlier change; stale
// says that it has not within the time allowed.
func (d *Daemon) fresh(ctx context.Context, p ipc.SearchParams) (c *core, stale bool, err error) {
	if !p.Sync {
		return d.core.Load(), false, nil
	}
	limited, cancel := context.WithTimeout(ctx, milliseconds(p.SyncTimeoutMS, defaultSearchSync))
	defer cancel()
	c, err = d.barrier(limited)
	if errors.Is(err, errPaused) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return c, true, nil
	}
	return c, false, closing(err)
}

// within takes the hits, best first, whose text fits into what is left of
// budget tokens: one that does not is passed over, and a later one may fit. A
// budget of 0 takes them all.
func within(hits []index.Hit, budget int) []index.Hit {
	if budget == 0 {
		return hits
	}
	var out []index.Hit
	chars := 0
	for _, h := range hits {
		n := utf8.RuneCountInString(h.Text)
		if tokens := (chars + n + charsPerToken - 1) / charsPerToken; tokens <= budget {
			out, chars = append(out, h), chars+n
		}
	}
	return out
}

// keep makes the test for the documents that the params choose, nil for all.
func keep(c *core, p ipc.SearchParams, now time.Time) (func(*index.DocumentInfo) bool, error) {
	var tests []func(*index.DocumentInfo) bool
	if len(p.Folders) > 0 {
		test, err := inFolders(c, p.Folders)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	if p.Path != "" {
		test, err := matching(p.Path)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	if len(p.Types) > 0 {
		tests = append(tests, ofType(p.Types))
	}
	for _, param := range []struct {
		name, value string
		since       bool
	}{{"since", p.Since, true}, {"before", p.Before, false}} {
		if param.value == "" {
			continue
		}
		t, err := parseTime(param.value, now)
		if err != nil {
			return nil, ipc.Errorf(ipc.CodeInvalidParams, "%s: %v", param.name, err)
		}
		tests = append(tests, func(doc *index.DocumentInfo) bool { return doc.Modified.Before(t) != param.since })
	}
	if len(tests) == 0 {
		return nil, nil
	}
	return func(doc *index.DocumentInfo) bool {
		return !slices.ContainsFunc(tests, func(test func(*index.DocumentInfo) bool) bool { return !test(doc) })
	}, nil
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
func matching(glob string) (func(*index.DocumentInfo) bool, error) {
	if !doublestar.ValidatePattern(glob) {
		return nil, ipc.Errorf(ipc.CodeInvalidParams, "path: %q is not a valid glob", glob)
	}
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
	}, nil
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

// parseTime reads a time (RFC 3339), a day (2006-01-02, local) or an age (30m,
// 36h, 7d, 2w, 1y).
func parseTime(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	units := map[byte]time.Duration{
		'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour, 'y': 365 * 24 * time.Hour,
	}
	if s != "" {
		n, err := strconv.ParseUint(s[:len(s)-1], 10, 31)
		unit, ok := units[s[len(s)-1]]
		if err == nil && ok && time.Duration(n) <= math.MaxInt64/unit {
			return now.Add(-time.Duration(n) * unit), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a date (2006-01-02), a time (RFC 3339) nor an age (30m, 36h, 7d, 2w, 1y)", s)
}
