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
		Args: oneArg("a file", "quern show PATH[#N]"),
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
	if err := a.fresh(ctx, c); err != nil {
		return err
	}
	var r ipc.PassagesResult
	err = onDocument(ref.path, func(path string) error {
		r = ipc.PassagesResult{}
		return c.Call(ctx, ipc.MethodPassages, ipc.PassagesParams{Path: ipc.EncodePath(path), N: ref.passage}, &r)
	})
	if err != nil {
		return notShown("show it", err)
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

// notShown explains an error about a document.
func notShown(doing string, err error) error {
	if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
		return failuref("", "cannot %s: %w", doing, err)
	}
	return err
}

// fresh waits, before a question about one document, until the changes made
// before are searchable: a first indexing to its end, others as long as a
// search would.
func (a *app) fresh(ctx context.Context, c *conn) error {
	if err := a.catchUp(ctx, c, &searchFlags{}, a.started); err != nil {
		return err
	}
	err := c.Call(ctx, ipc.MethodSync, ipc.SyncParams{TimeoutMS: int(syncTimeout.Milliseconds())}, nil)
	if errors.Is(err, &ipc.Error{Code: ipc.CodeTimeout}) {
		a.say("the answer may be stale: changes are not yet searchable (quern status --wait)")
		return nil
	}
	return err
}

func (a *app) printPassages(r *ipc.PassagesResult) {
	path := a.newPathShower(a.out).showWire(r.Path)
	for i, p := range r.Passages {
		if i > 0 {
			a.out.printf("\n")
		}
		a.out.printf("%s:%s", a.out.style(stylePath, fmt.Sprintf("%s#%d", path, p.Passage)), lineRange(p.Lines))
		if len(p.Heading) > 0 {
			a.out.printf("  %s", a.out.style(styleHeading, headingPath(p.Heading)))
		}
		if p.Page > 0 {
			a.out.printf("  page %d", p.Page)
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
