package cli

import (
	"context"
	"errors"
	"os"
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
		Args:  noArgs,
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
	pid := 0
	if s, err := status(ctx, c, ""); err == nil && s.PID != os.Getpid() {
		pid = s.PID
	}
	err = c.Call(ctx, ipc.MethodShutdown, ipc.Empty{}, nil)
	// A daemon that is gone before it answered has done what was asked.
	if err != nil && exitCode(err) != ExitUnreachable {
		return err
	}
	c.Close()
	limited, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := a.awaitGone(limited); err != nil {
		return stopFailure(ctx, err)
	}
	if err := awaitEnd(limited, pid); err != nil {
		return stopFailure(ctx, err)
	}
	a.out.printf("stopped\n")
	return nil
}

// stopFailure explains that the wait for the daemon's end was over before.
func stopFailure(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return failuref("quern status shows its pid", "the daemon has not ended after %s", stopLimit)
	}
	return err
}

// awaitEnd waits until the process has ended: until then it may hold locks that
// the next daemon needs. A pid of 0 or 1 is none.
func awaitEnd(ctx context.Context, pid int) error {
	for pause := firstPause; pid > 1 && alive(pid); pause = min(pause*2, longPause) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sleep(ctx, pause)
	}
	return nil
}

// awaitGone waits until nothing answers at the socket.
func (a *app) awaitGone(ctx context.Context) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	for pause := firstPause; ; pause = min(pause*2, longPause) {
		c, err := a.dial(ctx, s)
		if err == nil {
			c.Close()
		}
		switch {
		case errors.Is(err, client.ErrNotRunning):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		sleep(ctx, pause)
	}
}
