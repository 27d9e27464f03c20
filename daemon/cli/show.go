package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show PATH[#N]",
		Short: "Show a document's passages as indexed",
		Long: "Show a document's passages as they are indexed, or passage N alone (they count\n" +
			"from 0). A file whose name itself ends in #N is that file.",
		Args: cobra.ExactArgs(1),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			ref, err := parseReference(args[0])
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), ref, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (a *app) show(ctx context.Context, ref reference, asJSON bool) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var r ipc.PassagesResult
	err = onDocument(ref.path, func(path string) error {
		r = ipc.PassagesResult{}
		return c.Call(ctx, ipc.MethodPassages, ipc.PassagesParams{Path: path, N: ref.passage}, &r)
	})
	if err != nil {
		return whyNotFound(ctx, c, ref, err)
	}
	if asJSON {
		return a.printValue(r)
	}
	a.printPassages(&r)
	return nil
}

// onDocument asks about a path, and again with its symbolic links resolved
// when the daemon knows no such document.
func onDocument(path string, ask func(path string) error) error {
	err := ask(path)
	if !errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return err
	}
	real, linkErr := filepath.EvalSymlinks(path)
	if linkErr != nil || real == path {
		return err
	}
	return ask(real)
}

// whyNotFound adds the file's state to an error that says it is not indexed.
func whyNotFound(ctx context.Context, c *conn, ref reference, err error) error {
	if !errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return err
	}
	s, statusErr := status(ctx, c, ref.path)
	if statusErr != nil || s.File == nil {
		return err
	}
	path := safePath(ref.path)
	switch f := s.File; {
	case f.State == ipc.FileIndexed && ref.passage != nil:
		return failuref("quern show "+path+" lists them", "%s has no passage %d: %w", path, *ref.passage, err)
	case f.Reason != "":
		return failuref("", "%s is not indexed: %s: %s", path, f.State, f.Reason)
	case f.State == ipc.FilePending:
		return failuref("quern status --wait, then again", "%s is not indexed yet", path)
	}
	return failuref("quern folders list shows what is watched", "%s is not indexed: %w", path, err)
}

func (a *app) printPassages(r *ipc.PassagesResult) {
	path := a.newPathShower(a.out).show(r.Path)
	for i, p := range r.Passages {
		if i > 0 {
			a.out.printf("\n")
		}
		a.out.printf("%s:%s", a.out.style(stylePath, fmt.Sprintf("%s#%d", path, p.Passage)), lineRange(p.Lines))
		if len(p.Heading) > 0 {
			a.out.printf("  %s", a.out.style(styleHeading, headingPath(p.Heading)))
		}
		a.out.printf("   %s\n", a.out.style(styleScore, plural(p.Terms, "term", "terms")))
		a.printText(p.Text)
	}
}

// printText writes a passage's text as it stands, harmless on a terminal.
func (a *app) printText(text string) {
	if a.out.terminal {
		text = safeText(text)
	}
	a.out.printf("%s", text)
	if !strings.HasSuffix(text, "\n") {
		a.out.printf("\n")
	}
}
