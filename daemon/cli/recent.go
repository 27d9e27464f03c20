package cli

import (
	"context"
	"strings"
	"time"

	"quern/ipc"

	"github.com/spf13/cobra"
)

// recentFlags are the flags of quern recent.
type recentFlags struct {
	searchFlags // the folders and types
	params      ipc.RecentParams
}

func (a *app) recentCommand() *cobra.Command {
	f := &recentFlags{}
	cmd := &cobra.Command{
		Use:     "recent",
		Short:   "List the documents changed lately, newest first",
		Example: "  quern recent --since 7d\n  quern recent -k 50 --type md --json",
		Args:    noArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			if f.params.K < 1 {
				return usagef("", "-k must be at least 1, not %d", f.params.K)
			}
			return a.recent(cmd.Context(), f)
		}),
	}
	fl, p := cmd.Flags(), &f.params
	fl.IntVarP(&p.K, "k", "k", 10, "how many documents")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVarP(&f.files, "files", "l", false, "print paths only")
	fl.StringArrayVar(&f.folders, "folder", nil, "only this folder: a `name` or a directory (repeatable)")
	fl.StringVar(&p.Path, "path", "", "only paths that match this `glob`")
	fl.StringSliceVar(&p.Types, "type", nil, "only files of these `extensions`: md,txt")
	fl.StringVar(&p.Since, "since", "", "only documents changed since this `date`, or in the last 7d, 36h")
	fl.StringVar(&p.Before, "before", "", "only documents changed before this `date`")
	must(cmd.RegisterFlagCompletionFunc("folder", a.completeFolders))
	cmd.MarkFlagsMutuallyExclusive("json", "files")
	return cmd
}

func (a *app) recent(ctx context.Context, f *recentFlags) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := a.scope(ctx, c, &f.searchFlags); err != nil {
		return err
	}
	if err := a.fresh(ctx, c); err != nil {
		return err
	}
	f.params.Folders = f.searchFlags.params.Folders
	var r ipc.RecentResult
	if err := c.Call(ctx, ipc.MethodRecent, f.params, &r); err != nil {
		return inFlags(err)
	}
	if f.json {
		return a.printValue(r)
	}
	a.printRecent(r.Documents, f.files)
	return nil
}

func (a *app) printRecent(documents []ipc.Document, files bool) {
	paths := a.newPathShower(a.out)
	for _, d := range documents {
		if !files {
			a.out.printf("%s  ", a.out.style(styleScore, localTime(d.Modified)))
		}
		a.out.printf("%s", a.out.style(stylePath, paths.showWire(d.Path)))
		if !files && d.Title != "" {
			a.out.printf("  %s", a.out.style(styleHeading, cut(oneLine(d.Title), 60)))
		}
		a.out.printf("\n")
	}
}

// localTime is a time of the protocol to the minute, where the user is.
func localTime(wire string) string {
	t, err := time.Parse(time.RFC3339, wire)
	if err != nil {
		return strings.TrimSpace(oneLine(wire))
	}
	return t.Local().Format("2006-01-02 15:04")
}
