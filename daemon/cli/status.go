package cli

import (
	"context"
	"errors"
	"time"

	"quern/ipc"

	"github.com/spf13/cobra"
)

// statusFlags are the flags of quern status.
type statusFlags struct {
	json, watch, wait bool
	file              string
}

func (a *app) statusCommand() *cobra.Command {
	f := &statusFlags{}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show folders, files, progress, problems and freshness",
		Long: "Show what the daemon watches and how far it has come, with the files that were\n" +
			"skipped or failed and why.\n\n" +
			"With --file, say of one file: indexed, pending, skipped, failed or unknown, and\n" +
			"the reason; the exit code is 0 whatever the state is.",
		Args: statusArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.status(cmd.Context(), f)
		}),
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.BoolVar(&f.watch, "watch", false, "show it anew each second, until interrupted")
	fl.BoolVar(&f.wait, "wait", false, "return when every change is searchable")
	fl.StringVar(&f.file, "file", "", "the state of this one `path`")
	return cmd
}

// statusArgs takes none: who gives a path means --file.
func statusArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return usagef("did you mean quern status --file "+args[0]+"?", "status takes no argument: %q", args[0])
	}
	return noArgs(cmd, args)
}

// check refuses flags that contradict each other.
func (f *statusFlags) check() error {
	switch {
	case f.watch && f.wait:
		return usagef("choose one", "--watch and --wait exclude each other")
	case f.watch && f.file != "":
		return usagef("choose one", "--watch and --file exclude each other")
	}
	return nil
}

func (a *app) status(ctx context.Context, f *statusFlags) error {
	path := ""
	if f.file != "" {
		var err error
		if path, err = absolute(f.file); err != nil {
			return err
		}
		path = ipc.EncodePath(path)
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if f.watch {
		return a.watchStatus(ctx, c, f)
	}
	ask := status
	if f.wait {
		ask = a.waitQuiet
	}
	s, err := ask(ctx, c, path)
	if err != nil {
		return err
	}
	return a.printStatus(s, f)
}

func (a *app) printStatus(s *ipc.StatusResult, f *statusFlags) error {
	switch {
	case f.file != "" && s.File == nil:
		return errors.New("the daemon said nothing of the file")
	case f.file != "" && f.json:
		return a.printValue(s.File)
	case f.file != "":
		a.printFile(*s.File)
		return nil
	case f.json:
		return a.printValue(s)
	}
	for _, line := range a.statusLines(s) {
		a.out.printf("%s\n", line)
	}
	return nil
}

// mostWaits bounds how often waitQuiet waits for changes that came while it
// waited for earlier ones.
const mostWaits = 5

// waitQuiet returns the status once every change made before is searchable,
// however long that takes.
func (a *app) waitQuiet(ctx context.Context, c *conn, path string) (*ipc.StatusResult, error) {
	for waits := 1; ; waits++ {
		err := a.awaitQuiet(ctx, c, [2]string{}, func(s *ipc.StatusResult) bool { return behind(s, nil, true) })
		if err != nil {
			return nil, err
		}
		// A change that the daemon has not noticed yet is not in its status.
		err = c.Call(ctx, ipc.MethodSync, ipc.SyncParams{}, nil)
		if errors.Is(err, &ipc.Error{Code: ipc.CodeTimeout}) {
			waits = 0
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := status(ctx, c, path)
		if err != nil || s.State == ipc.StateQuiescent || waits == mostWaits {
			return s, err
		}
	}
}

// watchStatus shows the status each second until ctx ends.
func (a *app) watchStatus(ctx context.Context, c *conn, f *statusFlags) error {
	for {
		s, err := status(ctx, c, "")
		if err != nil {
			return ended(ctx, err)
		}
		if a.out.terminal && !dumb() && !f.json {
			a.out.printf("\x1b[H\x1b[2J")
		}
		if err := a.printStatus(s, f); err != nil {
			return err
		}
		if !a.out.terminal && !f.json {
			a.out.printf("\n")
		}
		if err := a.out.flush(); err != nil {
			return err
		}
		sleep(ctx, time.Second)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// ended makes the interrupt that ends a watch no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
