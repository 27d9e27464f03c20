package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"quern/ipc"
)

// sayNoHits tells why there is nothing to see: also to a pipe when the flags
// hide hits, else to a person alone.
func (a *app) sayNoHits(ctx context.Context, c *conn, r *answer, f *searchFlags) error {
	p := &f.params
	switch {
	case r.Passages == 0 && len(p.Folders) == 0:
		a.say("nothing is indexed (quern init FOLDER, or quern search --folder DIR)")
	case p.Offset > 0 && r.Total > 0 && p.Offset >= r.Total:
		a.say("only %s; --offset %d is past the last", plural(r.Total, "hit", "hits"), p.Offset)
	case p.Budget > 0 && r.Total > 0:
		a.say("none of %s%s fits into %s (give a larger --budget)",
			atLeast(r.TotalAtLeast), plural(r.Total, "hit", "hits"), plural(p.Budget, "token", "tokens"))
	case r.Total == 0 && f.filters() != "":
		return a.sayFiltered(ctx, c, r, f)
	default:
		a.sayNothing(r)
	}
	return nil
}

// sayNothing says that there are no hits: with what would find some also to a
// pipe, else to a person alone.
func (a *app) sayNothing(r *answer) {
	var other []string
	for _, s := range r.Suggestions {
		other = append(other, oneLine(s))
	}
	switch {
	case len(other) > 0:
		a.say("no hits; did you mean: %s?", strings.Join(other, "? or: "))
	case a.msg.terminal:
		a.say("no hits among %s", plural(r.Passages, "passage", "passages"))
	}
}

// atLeast goes before a number that is a lower bound.
func atLeast(bound bool) string {
	if bound {
		return "at least "
	}
	return ""
}

// sayFiltered asks once more without the filters and tells what they hide.
func (a *app) sayFiltered(ctx context.Context, c *conn, r *answer, f *searchFlags) error {
	no := false
	p := ipc.SearchParams{Query: f.params.Query, K: 1, Text: &no, Literal: f.params.Literal, Model: f.params.Model, TF: f.params.TF}
	all, err := ask(ctx, c, p)
	switch {
	case err != nil:
		return err
	case all.Total == 0:
		a.sayNothing(r)
	case all.Total > 0:
		hint := ""
		if glob := f.params.Path; strings.Contains(glob, "/") && !strings.HasPrefix(glob, "/") {
			hint = " (a glob with / is relative to each folder)"
		}
		a.say("no hits: %s%s, none is left after %s%s", atLeast(all.TotalAtLeast), plural(all.Total, "passage matches", "passages match"), f.filters(), hint)
	}
	return nil
}

// filters writes the flags that choose among the hits, as they were given.
func (f *searchFlags) filters() string {
	var out []string
	add := func(flag, value string) {
		if value != "" {
			out = append(out, "--"+flag+" '"+oneLine(value)+"'")
		}
	}
	for _, folder := range f.folders {
		add("folder", folder)
	}
	add("path", f.params.Path)
	add("type", strings.Join(f.params.Types, ","))
	add("since", f.params.Since)
	add("before", f.params.Before)
	return strings.Join(out, " ")
}

// sayUnreadable names the folders whose files the answer may lack because they
// cannot be read: those that --folder chose, and without hits all of them.
func (a *app) sayUnreadable(ctx context.Context, c *conn, r *answer, f *searchFlags) error {
	if len(f.params.Folders) == 0 && len(r.Hits) > 0 {
		return nil
	}
	var list ipc.FoldersResult
	if err := c.Call(ctx, ipc.MethodFoldersList, ipc.Empty{}, &list); err != nil {
		return err
	}
	for _, folder := range list.Folders {
		if folder.State == "suspended" && concerns(f.params.Folders, folder, list.Folders) {
			a.say("folder %s cannot be read: %s%s", oneLine(folder.Name), folderReason(folder), stillThere(folder))
		}
	}
	for _, wanted := range f.params.Folders {
		if !filepath.IsAbs(fromWire(wanted)) {
			continue
		}
		s, err := status(ctx, c, wanted)
		if err != nil {
			return err
		}
		if s.File != nil && slices.Contains([]string{ipc.FileSkipped, ipc.FileFailed}, s.File.State) {
			a.say("folder %s: %s", a.newPathShower(a.msg).showWire(wanted), oneLine(s.File.Reason))
		}
	}
	return nil
}

// stillThere says that a folder which cannot be read was indexed before.
func stillThere(f ipc.FolderStatus) string {
	if f.Documents == 0 {
		return ""
	}
	return " (what was indexed before is searched)"
}

// folderReason is why a folder is suspended or polled, for people.
func folderReason(f ipc.FolderStatus) string {
	if f.State == "suspended" && f.Documents == 0 && notThere(f.Reason) {
		return "its path does not exist: is it a typo?"
	}
	return oneLine(f.Reason)
}

// notThere knows the systems' words for a path that does not exist.
func notThere(reason string) bool {
	for _, words := range []string{"no such file or directory", "cannot find the path", "cannot find the file"} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}
