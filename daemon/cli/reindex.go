package cli

import (
	"errors"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex PATH",
		Short: "Read a file or a directory anew",
		Args:  oneArg("a file or a directory", "quern reindex PATH"),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			path, err := absolute(args[0])
			if err != nil {
				return err
			}
			return a.withDaemon(cmd.Context(), func(c *conn) error {
				var r ipc.ReindexResult
				err := c.Call(cmd.Context(), ipc.MethodReindex, ipc.ReindexParams{Path: ipc.EncodePath(path)}, &r)
				if errors.Is(err, &ipc.Error{Code: ipc.CodeNotFound}) {
					return failuref("", "cannot reindex: %w", err)
				}
				if err != nil {
					return err
				}
				a.out.printf("read anew: %s (generation %d)\n", a.newPathShower(a.out).show(path), r.Generation)
				return nil
			})
		}),
	}
}
