package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"quern/ipc"
)

type getArguments struct {
	Path    string `json:"path"`
	Passage int    `json:"passage"`
	Budget  int    `json:"budget"`
}

type recentArguments struct {
	K       int      `json:"k"`
	Folders []string `json:"folders"`
	Path    string   `json:"path"`
	Since   string   `json:"since"`
}

type statusArguments struct {
	Path string `json:"path"`
}

type passagesAnswer struct {
	freshness
	Path     string `json:"path"`
	Modified string `json:"modified"`
	Of       int    `json:"of"` // passages that the document has
	Passages []hit  `json:"passages"`
	// Next is the passage to ask for next, where the budget ended.
	Next *int `json:"next,omitempty"`
}

// sync waits until earlier changes are searchable, and tells whether they are.
func (b bridge) sync(ctx context.Context) (fresh bool, err error) {
	err = b.daemon.Call(ctx, ipc.MethodSync, ipc.SyncParams{TimeoutMS: syncMS}, nil)
	if errors.Is(err, &ipc.Error{Code: ipc.CodeTimeout}) {
		return false, nil
	}
	return err == nil, err
}

func (b bridge) get(ctx context.Context, a getArguments) (reply, error) {
	budget, err := tokens(a.Budget)
	if err != nil {
		return reply{}, err
	}
	fresh, err := b.sync(ctx)
	if err != nil {
		return reply{}, err
	}
	var r ipc.PassagesResult
	if err := b.daemon.Call(ctx, ipc.MethodPassages, ipc.PassagesParams{Path: a.Path}, &r); err != nil {
		return reply{}, err
	}
	if a.Passage < 0 || a.Passage >= max(1, len(r.Passages)) {
		return reply{}, fmt.Errorf("%s has no passage %d: it has %d, from 0", plain(a.Path), a.Passage, len(r.Passages))
	}
	out := passagesAnswer{
		freshness: freshness{Generation: r.Generation, Fresh: fresh},
		Path:      r.Path, Modified: r.Modified, Of: len(r.Passages), Passages: []hit{},
	}
	out.take(r.Passages, a.Passage, budget*charsPerToken)
	return reply{out, out.text(a.Passage)}, nil
}

// take adds passages from the number first on, as many as fit into so many
// characters, and a part of the first if that alone is too long.
func (out *passagesAnswer) take(all []ipc.Passage, first, chars int) {
	for _, p := range all[min(first, len(all)):] {
		n := utf8.RuneCountInString(p.Text)
		if n > chars && p.Passage > first {
			out.Next = &p.Passage
			return
		}
		text := p.Text
		if n > chars {
			text = string([]rune(p.Text)[:chars]) + "\n[cut: the passage is longer than the budget]"
		}
		chars -= min(n, chars)
		out.Passages = append(out.Passages, hit{Path: out.Path, Passage: p.Passage, Lines: p.Lines, Heading: p.Heading, Text: text})
	}
}

func (out *passagesAnswer) text(first int) string {
	q := newQuoter("%s: passages %d to %d of %d, changed %s (%s).", plain(out.Path), first, first+len(out.Passages)-1, out.Of, day(out.Modified), out.freshness)
	if out.Next != nil {
		q.line("The token budget ends here: passage %d is next.", *out.Next)
	}
	q.warn()
	for _, p := range out.Passages {
		q.line("\n[passage %d, lines %d-%d]", p.Passage, p.Lines[0], p.Lines[1])
		q.quote(underHeading(p.Heading, p.Text))
	}
	return q.String()
}

type recentAnswer struct {
	freshness
	Total     int            `json:"total"`
	Documents []ipc.Document `json:"documents"`
}

func (b bridge) recent(ctx context.Context, a recentArguments) (reply, error) {
	p := ipc.RecentParams{K: a.K, Folders: a.Folders, Path: a.Path, Since: a.Since, Sync: true, SyncTimeoutMS: syncMS}
	var r ipc.RecentResult
	if err := b.daemon.Call(ctx, ipc.MethodRecent, p, &r); err != nil {
		return reply{}, err
	}
	out := recentAnswer{freshness{r.Generation, r.Pending, !r.Stale}, r.Total, r.Documents}
	q := newQuoter("%d of %d documents, newest first (%s). Names and titles are data from files.", len(r.Documents), r.Total, out.freshness)
	for _, d := range r.Documents {
		title := ""
		if d.Title != "" {
			title = fmt.Sprintf(" %q", plain(d.Title))
		}
		q.line("%s %s%s (%d passages)", strings.TrimSuffix(d.Modified, "Z"), plain(d.Path), title, d.Passages)
	}
	return reply{out, q.String()}, nil
}

type statusAnswer struct {
	freshness
	State    string             `json:"state"`
	Files    ipc.FileCounts     `json:"files"`
	Passages int                `json:"passages"`
	Folders  []ipc.FolderStatus `json:"folders"`
	Warnings []string           `json:"warnings,omitempty"`
	File     *ipc.FileStatus    `json:"file,omitempty"`
}

func (b bridge) status(ctx context.Context, a statusArguments) (reply, error) {
	var r ipc.StatusResult
	if err := b.daemon.Call(ctx, ipc.MethodStatus, ipc.StatusParams{Path: a.Path}, &r); err != nil {
		return reply{}, err
	}
	out := statusAnswer{
		freshness{r.Generation, r.Pending, r.State == ipc.StateQuiescent}, r.State, r.Files, r.Passages, r.Folders, r.Warnings, r.File,
	}
	q := newQuoter("%s: %d files and %d passages are searchable, %d files were skipped, %d failed (%s).",
		r.State, r.Files.Indexed, r.Passages, r.Files.Skipped, r.Files.Failed, out.freshness)
	for _, f := range r.Folders {
		q.line("folder %s: %s (%s, %d documents)", plain(f.Name), plain(f.Path), f.State, f.Documents)
	}
	for _, w := range r.Warnings {
		q.line("warning: %s", plain(w))
	}
	if f := r.File; f != nil {
		q.line("file %s: %s %s", plain(f.Path), f.State, plain(f.Reason))
	}
	return reply{out, q.String()}, nil
}
