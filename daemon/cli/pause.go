package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quern/ipc"

	"github.com/spf13/cobra"
)

func (a *app) pauseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pause [DURATION]",
		Short: "Have nothing indexed for a while",
		Long: "Have nothing indexed for DURATION (such as 30m or 2h), or until quern resume.\n" +
			"Changes are gathered meanwhile, and searches answer from what is indexed. A\n" +
			"pause outlasts the daemon: another one that is started keeps it.",
		Args: atMostOneArg,
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			p, err := pauseParams(args)
			if err != nil {
				return err
			}
			return a.setPause(cmd.Context(), ipc.MethodPause, p)
		}),
	}
}

func (a *app) resumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "End a pause",
		Long:  "End what quern pause began. A pause on battery (on_battery = \"pause\") goes on.",
		Args:  noArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			return a.setPause(cmd.Context(), ipc.MethodResume, ipc.Empty{})
		}),
	}
}

func atMostOneArg(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("give one DURATION, such as 30m", "too many arguments: %s", strings.Join(args, " "))
	}
	return nil
}

// pauseParams reads the length of the pause.
func pauseParams(args []string) (ipc.PauseParams, error) {
	if len(args) == 0 {
		return ipc.PauseParams{}, nil
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d <= 0 {
		return ipc.PauseParams{}, usagef("write it as 90s, 30m or 2h", "not a duration: %q", args[0])
	}
	return ipc.PauseParams{Seconds: d.Seconds()}, nil
}

// setPause asks for a pause or its end and tells what is so then.
func (a *app) setPause(ctx context.Context, method string, params any) error {
	c, err := a.connectRunning(ctx, "there is nothing to "+method)
	if err != nil {
		return err
	}
	defer c.Close()
	var r ipc.PauseResult
	if err := c.Call(ctx, method, params, &r); err != nil {
		return fmt.Errorf("cannot %s: %w", method, err)
	}
	if r.Paused == nil {
		a.out.printf("indexing goes on\n")
		return nil
	}
	a.out.printf("paused%s\n", pauseText(r.Paused))
	return nil
}

// pauseText says until when or why.
func pauseText(p *ipc.Paused) string {
	switch {
	case p.Until != "":
		return " until " + oneLine(p.Until)
	case p.Reason != "asked for":
		return ": " + oneLine(p.Reason)
	}
	return " until quern resume"
}
