// Package cli is Quern's command line: one file a verb. It parses arguments,
// finds or starts the daemon, asks it over the socket and prints the answer.
//
// The exit codes are part of the contract with scripts: see the Exit constants.
package cli

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Exit codes of the program.
const (
	ExitOK          = 0 // done; for search: at least one hit
	ExitNoHits      = 1 // a search without hits
	ExitUsage       = 2 // usage or a bad query
	ExitUnreachable = 3 // the daemon cannot be reached
	ExitFailure     = 4 // any other failure
)

// ServeOptions is what the serve verb asks of the daemon.
type ServeOptions struct {
	// ConfigPath is the config file, which need not exist. Absolute.
	ConfigPath string
	// Socket is the flag's value, absolute; empty when it was not given: the
	// environment, the config and the default then decide.
	Socket  string
	Version string
	// DataDir is the data directory; empty, the environment, the config and the
	// default decide.
	DataDir string
	// IdleExit is how long a daemon with no configured folder stays without
	// requests; 0 means for ever. It is set for a daemon that a client
	// started in the background.
	IdleExit time.Duration
	Log      *slog.Logger
	// Ready is called once, when the socket answers.
	Ready func()
}

// Hooks are the parts of the program that the command line starts but does
// not know.
type Hooks struct {
	// Serve runs the daemon until ctx is cancelled or a client asks it to
	// end; it then returns nil.
	Serve func(ctx context.Context, o ServeOptions) error
	// InUse is the error that Serve returns, wrapped, when another daemon
	// already answers at the socket.
	InUse error
	// Version is the program's version; empty takes it from the build.
	Version string
}

// Streams are the standard streams of one run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Terminal tells whether w is a terminal and how many columns it has
	// (0: unknown). Nil asks the operating system.
	Terminal func(w io.Writer) (columns int, ok bool)
}

// app is one run of the program.
type app struct {
	std     Streams
	hooks   Hooks
	flags   globalFlags
	args    []string // the command line
	out     *output
	msg     *output // messages and progress: the error stream
	intr    *interrupter
	started bool // this run started the daemon
	running bool // arguments were understood: later errors are no usage errors
}

// globalFlags hold for every verb.
type globalFlags struct {
	config    string
	socket    string
	logLevel  string
	logFormat string
	noStart   bool
}

// Main runs the command line args (without the program's name) and returns
// the exit code. It handles the interrupt and termination signals itself.
func Main(ctx context.Context, args []string, std Streams, hooks Hooks) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newApp(std, hooks, cancel)
	defer a.intr.watchSignals()()
	return a.main(ctx, args)
}

func newApp(std Streams, hooks Hooks, cancel context.CancelFunc) *app {
	if std.Terminal == nil {
		std.Terminal = systemTerminal
	}
	return &app{
		std: std, hooks: hooks,
		out:  newOutput(std.Out, std.Terminal),
		msg:  newOutput(std.Err, std.Terminal),
		intr: &interrupter{hard: cancel},
	}
}

func (a *app) main(ctx context.Context, args []string) int {
	a.args = args
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !a.running {
		err = asUsage(err)
	}
	if flushErr := a.out.flush(); flushErr != nil {
		err = outputError(err, flushErr)
	}
	return a.report(ctx, err)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "quern",
		Short: "An always-on local knowledge base: exact search over watched folders",
		Long: "Quern watches folders, keeps an exact index of their passages and answers\n" +
			"queries over a Unix socket. A verb that needs the daemon starts it.",
		Example: "  quern search --folder ~/notes \"how long does a refund take\"\n" +
			"  quern init ~/notes ~/src/docs\n  quern status",
		Args:          a.rootArgs,
		RunE:          a.runRoot,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.version(), // makes cobra add --version and -v

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(a.std.In)
	root.SetOut(a.out)
	root.SetErr(a.msg)
	a.addGlobalFlags(root)
	root.AddCommand(a.verbs()...)
	root.SetVersionTemplate("{{print " + strconv.Quote(a.versionText()) + "}}")
	root.SetHelpCommand(a.helpCommand())
	root.SetFlagErrorFunc(flagError)
	return root
}

func init() { cobra.EnableCommandSorting = false }

// verbs lists the commands in the order in which help shows them.
func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{
		a.initCommand(), a.serveCommand(), a.searchCommand(), a.statusCommand(),
		a.showCommand(), a.similarCommand(), a.recentCommand(), a.explainCommand(), a.evalCommand(), a.foldersCommand(), a.reindexCommand(),
		a.verifyCommand(), a.reloadCommand(), a.pauseCommand(), a.resumeCommand(), a.stopCommand(), a.mcpCommand(), a.rpcCommand(), a.completionCommand(), a.versionCommand(),
	}
}

func (a *app) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "read this config `file`")
	f.StringVar(&a.flags.socket, "socket", "", "speak to the daemon on this `path`")
	f.StringVar(&a.flags.logLevel, "log-level", "info", "how much the daemon logs: debug, info, warn, error")
	f.StringVar(&a.flags.logFormat, "log-format", "text", "how the daemon logs: text, json")
	f.BoolVar(&a.flags.noStart, "no-start", false, "do not start a daemon when none answers")
	must(root.RegisterFlagCompletionFunc("log-level", fixed("debug", "info", "warn", "error")))
	must(root.RegisterFlagCompletionFunc("log-format", fixed("text", "json")))
	must(root.MarkPersistentFlagFilename("config", "toml"))
}

// rootArgs explains an unknown verb.
func (a *app) rootArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "quern help lists the verbs"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean quern " + strings.Join(near, " or quern ") + "?"
	}
	return usagef(hint, "unknown verb %q", args[0])
}

// runRoot answers quern alone: the verbs, as a usage error.
func (a *app) runRoot(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(a.msg)
	if err := cmd.Help(); err != nil {
		return err
	}
	return &exitError{code: ExitUsage}
}

// run wraps a verb's body, so that errors before it are known to be usage
// errors and errors in it are not.
func (a *app) run(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if _, err := a.logOptions(); err != nil {
			return err
		}
		a.running = true
		return body(cmd, args)
	}
}

// must panics on an error that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
