package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"quern/ipc"

	"github.com/spf13/cobra"
)

const similarLong = `Show passages like the one at PATH:LINE or PATH#N, or like the whole document.
They are found by the words that tell it from others best; it is not a hit itself.`

func (a *app) similarCommand() *cobra.Command {
	f := &searchFlags{}
	cmd := &cobra.Command{
		Use:     "similar PATH[:LINE]",
		Short:   "Show passages like this one",
		Long:    similarLong,
		Example: "  quern similar ~/notes/refunds.md\n  quern similar ~/notes/refunds.md:12",
		Args:    oneArg("a file", "quern similar PATH[:LINE]"),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			p, path, err := similarTo(args[0])
			if err != nil {
				return err
			}
			if f.params.K < 1 {
				return usagef("", "-k must be at least 1, not %d", f.params.K)
			}
			return a.similar(cmd.Context(), f, p, path)
		}),
	}
	fl, p := cmd.Flags(), &f.params
	fl.IntVarP(&p.K, "k", "k", 10, "how many hits")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVarP(&f.files, "files", "l", false, "print paths only, best first")
	fl.StringArrayVar(&f.folders, "folder", nil, "only this folder: a `name` or a directory (repeatable)")
	fl.StringSliceVar(&f.types, "type", nil, "only files of these `extensions`: md,txt")
	fl.StringVar(&p.Model, "model", "", "rank by tfidf or bm25 (default: the config's)")
	fl.StringVar(&p.Collapse, "collapse", "document", "document: each document's best passage; none: every passage")
	must(cmd.RegisterFlagCompletionFunc("folder", a.completeFolders))
	must(cmd.RegisterFlagCompletionFunc("model", fixed("tfidf", "bm25")))
	must(cmd.RegisterFlagCompletionFunc("collapse", fixed("document", "none")))
	cmd.MarkFlagsMutuallyExclusive("json", "files")
	return cmd
}

// similarTo reads PATH, PATH:LINE or PATH#N. An existing file whose name ends so
// is that file. The path is absolute.
func similarTo(arg string) (p ipc.SimilarParams, path string, err error) {
	if _, err := os.Lstat(arg); err != nil {
		if i := strings.LastIndexByte(arg, ':'); i > 0 {
			if n, err := strconv.ParseUint(arg[i+1:], 10, 31); err == nil && n > 0 {
				p.Line = int(n)
				path, err = absolute(arg[:i])
				return p, path, err
			}
		}
	}
	ref, err := parseReference(arg)
	p.Passage = ref.passage
	return p, ref.path, err
}

func (a *app) similar(ctx context.Context, f *searchFlags, p ipc.SimilarParams, path string) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := a.scope(ctx, c, f); err != nil {
		return err
	}
	if err := a.fresh(ctx, c); err != nil {
		return err
	}
	p.K, p.Model, p.Collapse, p.Folders, p.Types = f.params.K, f.params.Model, f.params.Collapse, f.params.Folders, f.types
	r := &answer{}
	err = onDocument(path, func(path string) error {
		p.Path = ipc.EncodePath(path)
		return c.Call(ctx, ipc.MethodSimilar, p, &r.raw)
	})
	if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return failuref("", "cannot find its like: %w", err)
	}
	if err != nil {
		return inFlags(err)
	}
	if err := json.Unmarshal(r.raw, &r.SearchResult); err != nil {
		return fmt.Errorf("cannot read the daemon's answer: %w", err)
	}
	if err := a.printHits(r, f); err != nil {
		return err
	}
	if len(r.Hits) == 0 {
		a.say("nothing is like it")
		return &exitError{code: ExitNoHits}
	}
	return nil
}
