package cli

import (
	"fmt"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have the daemon read its config anew",
		Long: "Have the daemon read its config anew. It does so by itself when the file\n" +
			"changes; reload also tells what is wrong with it.",
		Args: noArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			c, err := a.connectRunning(cmd.Context(), "it reads the config when it starts")
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := a.settings()
			if err == nil {
				err = a.vet(cmd.Context(), c, s)
			}
			if err != nil {
				return err
			}
			if err := c.Call(cmd.Context(), ipc.MethodReload, ipc.Empty{}, nil); err != nil {
				return &exitError{code: reloadCode(err), err: fmt.Errorf("cannot reload: %w", err),
					hint: "the config read before stays in force"}
			}
			a.out.printf("reloaded\n")
			return nil
		}),
	}
}

// reloadCode is the exit code for a reload that failed: a bad config is no
// mistake of the command line.
func reloadCode(err error) int {
	if code := exitCode(err); code == ExitUnreachable {
		return code
	}
	return ExitFailure
}
