package cli

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"quern/config"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	var background bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground",
		Long: "Run the daemon in the foreground until it is interrupted or quern stop ends it.\n" +
			"It logs to stderr.",
		Args: noArgs,
		RunE: a.run(func(cmd *cobra.Command, _ []string) error {
			return a.serve(cmd, background)
		}),
	}
	cmd.Flags().BoolVar(&background, "background", false, "started by a client: log to a bounded file, end when idle")
	must(cmd.Flags().MarkHidden("background"))
	return cmd
}

func (a *app) serve(cmd *cobra.Command, background bool) error {
	if a.hooks.Serve == nil {
		return errors.New("this program was built without the daemon")
	}
	o, err := a.serveOptions(background)
	if err != nil {
		return err
	}
	err = a.hooks.Serve(cmd.Context(), o)
	if err == nil {
		return nil
	}
	inUse := a.hooks.InUse != nil && errors.Is(err, a.hooks.InUse)
	if background && inUse {
		return &exitError{code: exitTaken, err: err}
	}
	hint := ""
	if inUse {
		hint = "quern status shows it, quern stop ends it"
	}
	return failuref(hint, "cannot serve: %w", err)
}

func (a *app) serveOptions(background bool) (ServeOptions, error) {
	log, err := a.logger(background)
	if err != nil {
		return ServeOptions{}, err
	}
	o := ServeOptions{
		ConfigPath: config.FindConfig(a.flags.config), Version: a.version(),
		Log: log, Ready: func() { log.Info("ready") },
	}
	if background {
		o.IdleExit = idleExit
	}
	if a.flags.socket != "" {
		o.Socket, err = absolute(a.flags.socket)
	}
	if _, statErr := os.Stat(o.ConfigPath); a.flags.config != "" && statErr != nil {
		return o, failuref("quern --config FILE init writes one", "cannot read the config: %w", statErr)
	}
	return o, err
}

// logger writes to the error stream; in the background this is a file that is
// kept small.
func (a *app) logger(background bool) (*slog.Logger, error) {
	options, err := a.logOptions()
	if err != nil {
		return nil, err
	}
	var w io.Writer = a.std.Err
	if file, ok := w.(*os.File); ok && background {
		w = newBoundedLog(file)
	}
	if a.flags.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// logOptions checks the log flags.
func (a *app) logOptions() (*slog.HandlerOptions, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.flags.logLevel)); err != nil {
		return nil, usagef("debug, info, warn or error", "--log-level %q is unknown", a.flags.logLevel)
	}
	if f := a.flags.logFormat; f != "text" && f != "json" {
		return nil, usagef("text or json", "--log-format %q is unknown", f)
	}
	return &slog.HandlerOptions{Level: level}, nil
}
