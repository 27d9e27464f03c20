package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quern/ipc"
)

const (
	// defaultK and defaultBudget bound the answers to search and similar, in hits
	// and tokens of four characters; mostTokens is what a client may ask for.
	defaultK, defaultBudget, mostTokens = 8, 2000, 20000
	// syncMS is how long a tool waits for changes to become searchable.
	syncMS = 2000
	// charsPerToken is a rule of thumb.
	charsPerToken = 4
)

type searchArguments struct {
	Query   string   `json:"query"`
	K       int      `json:"k"`
	Budget  int      `json:"budget"`
	Folders []string `json:"folders"`
	Path    string   `json:"path"`
	Types   []string `json:"types"`
	Since   string   `json:"since"`
}

type similarArguments struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Passage *int   `json:"passage"`
	Text    string `json:"text"`
	K       int    `json:"k"`
	Budget  int    `json:"budget"`
}

// freshness is in every structured answer.
type freshness struct {
	Generation uint64 `json:"generation"`
	Pending    int    `json:"pending"`
	// Fresh says that the answer sees every change that was made before it.
	Fresh bool `json:"fresh"`
}

func (f freshness) String() string {
	if f.Fresh {
		return fmt.Sprintf("index generation %d, up to date", f.Generation)
	}
	return fmt.Sprintf("index generation %d, NOT up to date: %d changes are not searchable yet", f.Generation, f.Pending)
}

// hit is a passage with its provenance.
type hit struct {
	Path     string   `json:"path"`
	Passage  int      `json:"passage"`
	Lines    [2]int   `json:"lines"`
	Heading  []string `json:"heading,omitempty"`
	Modified string   `json:"modified,omitempty"`
	Score    float64  `json:"score,omitempty"`
	Text     string   `json:"text"`
}

type hitsAnswer struct {
	freshness
	Total       int      `json:"total"`
	Hits        []hit    `json:"hits"`
	Suggestions []string `json:"suggestions,omitempty"`
}

// tokens is the budget to keep, within what is allowed.
func tokens(asked int) (int, error) {
	switch {
	case asked < 0 || asked > mostTokens:
		return 0, fmt.Errorf("argument \"budget\" must be from 1 to %d, not %d", mostTokens, asked)
	case asked == 0:
		return defaultBudget, nil
	}
	return asked, nil
}

func amount(asked int) int {
	if asked == 0 {
		return defaultK
	}
	return asked
}

func (b bridge) search(ctx context.Context, a searchArguments) (reply, error) {
	budget, err := tokens(a.Budget)
	if err != nil {
		return reply{}, err
	}
	p := ipc.SearchParams{
		Query: a.Query, K: amount(a.K), Budget: budget, Folders: a.Folders, Path: a.Path, Types: a.Types, Since: a.Since,
		Sync: true, SyncTimeoutMS: syncMS,
	}
	var raw json.RawMessage
	if err := b.daemon.Call(ctx, ipc.MethodSearch, p, &raw); err != nil {
		return reply{}, err
	}
	var r ipc.SearchResult
	var also struct{ Suggestions []string }
	if err := errors.Join(json.Unmarshal(raw, &r), json.Unmarshal(raw, &also)); err != nil {
		return reply{}, fmt.Errorf("read the daemon's answer: %w", err)
	}
	if len(r.Hits) == 0 {
		return b.nothing(ctx, p, r, also.Suggestions), nil
	}
	return hitsReply(r, fmt.Sprintf("for %q", a.Query), p.K), nil
}

func (b bridge) similar(ctx context.Context, a similarArguments) (reply, error) {
	budget, err := tokens(a.Budget)
	if err != nil {
		return reply{}, err
	}
	p := ipc.SimilarParams{
		Path: a.Path, Line: a.Line, Passage: a.Passage, Text: a.Text, K: amount(a.K), Budget: budget,
		Sync: true, SyncTimeoutMS: syncMS,
	}
	var r ipc.SearchResult
	if err := b.daemon.Call(ctx, ipc.MethodSimilar, p, &r); err != nil {
		return reply{}, err
	}
	if len(r.Hits) > 0 {
		return hitsReply(r, "like it", p.K), nil
	}
	out := hitsAnswer{freshness: freshnessOf(r), Total: r.Total, Hits: []hit{}}
	return reply{out, fmt.Sprintf("No passage has words in common with it%s: %d passages were searched (%s).",
		tooSmall(r), r.Passages, out.freshness)}, nil
}

// tooSmall explains hits that the budget leaves none of.
func tooSmall(r ipc.SearchResult) string {
	if r.Total == 0 {
		return ""
	}
	return " that the budget has room for (ask for more tokens)"
}

func freshnessOf(r ipc.SearchResult) freshness {
	return freshness{r.Generation, r.Pending, !r.Stale}
}

// hitsReply quotes the hits. of says what was asked for.
func hitsReply(r ipc.SearchResult, of string, k int) reply {
	out := hitsAnswer{freshness: freshnessOf(r), Total: r.Total}
	q := newQuoter("%d of %d passages %s (%s).", len(r.Hits), r.Total, plain(of), out.freshness)
	if len(r.Hits) < min(k, r.Total) {
		q.line("Others did not fit the token budget.")
	}
	q.warn()
	for i, h := range r.Hits {
		out.Hits = append(out.Hits, hit{h.Path, h.Passage, h.Lines, h.Heading, h.Modified, h.Score, h.Text})
		q.line("\n[%d] %s:%d-%d (passage %d, score %.3f, changed %s)", i+1, plain(h.Path), h.Lines[0], h.Lines[1], h.Passage, h.Score, day(h.Modified))
		q.quote(underHeading(h.Heading, h.Text))
	}
	return reply{out, q.String()}
}

// underHeading is a passage's text below its heading path.
func underHeading(heading []string, text string) string {
	if len(heading) == 0 {
		return text
	}
	return plain(strings.Join(heading, " › ")) + "\n" + text
}

// day is the date of a time of the protocol.
func day(modified string) string { return modified[:min(10, len(modified))] }

// nothing says what was searched without a hit, whether the filters are why, and
// which queries like it would find something.
func (b bridge) nothing(ctx context.Context, p ipc.SearchParams, r ipc.SearchResult, suggestions []string) reply {
	out := hitsAnswer{freshness: freshnessOf(r), Total: r.Total, Hits: []hit{}, Suggestions: suggestions}
	q := newQuoter("No passage%s for %q: %d passages in %s were searched (%s).",
		tooSmall(r), plain(p.Query), r.Passages, searched(p), out.freshness)
	if n := b.unfiltered(ctx, p); n > 0 {
		q.line("Without path, types, since and folders there are %d: leave some of these out.", n)
	}
	if len(out.Suggestions) > 0 {
		q.line("These would find something: %s", plain(strings.Join(out.Suggestions, "; ")))
	} else if r.Total == 0 {
		q.line("Try other words that the text itself would use, or fewer filters.")
	}
	return reply{out, q.String()}
}

// searched names what the filters let through.
func searched(p ipc.SearchParams) string {
	var parts []string
	for _, f := range p.Folders {
		parts = append(parts, "folder "+f)
	}
	for name, value := range map[string]string{"path": p.Path, "types": strings.Join(p.Types, ","), "since": p.Since} {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	if len(parts) == 0 {
		return "all folders"
	}
	slices.Sort(parts)
	return plain(strings.Join(parts, ", "))
}

// unfiltered is how many hits there would be without filters; 0 without any.
func (b bridge) unfiltered(ctx context.Context, p ipc.SearchParams) int {
	if len(p.Folders)+len(p.Types) == 0 && p.Path == "" && p.Since == "" {
		return 0
	}
	var r ipc.SearchResult
	// An error here would hide the answer that there is.
	_ = b.daemon.Call(ctx, ipc.MethodSearch, ipc.SearchParams{Query: p.Query, K: 1}, &r)
	return r.Total
}
