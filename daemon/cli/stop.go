package cli

import (
	"context"
	"errors"
	"time"

	"quern/ipc"
	"quern/ipc/client"

	"github.com/spf13/cobra"
)

// stopLimit is how long stop waits for the daemon to end.
const stopLimit = 15 * time.Second

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the daemon",
		Long:  "End the daemon and wait until it has gone. When none runs the exit code is 3.",
		Args:  cobra.NoArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			return a.stop(cmd.Context())
		}),
	}
}

func (a *app) stop(ctx context.Context) error {
	c, err := a.connectRunning(ctx, "there is nothing to stop")
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Call(ctx, ipc.MethodShutdown, ipc.Empty{}, nil)
	// A daemon that is gone before it answered has done what was asked.
	if err != nil && exitCode(err) != ExitUnreachable {
		return err
	}
	c.Close()
	if err := a.awaitGone(ctx); err != nil {
		return err
	}
	a.out.printf("stopped\n")
	return nil
}

// awaitGone waits until nothing answers at the socket.
func (a *app) awaitGone(ctx context.Context) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	for pause := firstPause; ; pause = min(pause*2, longPause) {
		c, err := a.dial(limited, s)
		if err == nil {
			c.Close()
		}
		switch {
		case errors.Is(err, client.ErrNotRunning):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case limited.Err() != nil:
			return failuref("quern status shows its pid", "the daemon has not ended after %s", stopLimit)
		}
		sleep(limited, pause)
	}
}
