package cli

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"quern/ipc/client"
	"quern/ipc/mcp"

	"github.com/spf13/cobra"
)

const mcpLong = `Serve the Model Context Protocol on the standard streams, for agents: five
read-only tools (search, get, similar, recent, status) over the watched folders.
The daemon is started when none runs, and may be restarted meanwhile.

quern mcp config CLIENT prints what makes a client use it.`

func (a *app) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents: Model Context Protocol on stdio",
		Long:  mcpLong,
		Args:  noArgs,
		RunE:  a.run(func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context()) }),
	}
	cmd.AddCommand(&cobra.Command{
		Use:       "config CLIENT",
		Short:     "Print the configuration that makes a client use quern mcp",
		Long:      "Print the configuration for one of: " + strings.Join(mcp.Clients(), ", ") + ".",
		Args:      oneArg("a client", strings.Join(mcp.Clients(), ", ")),
		ValidArgs: mcp.Clients(),
		RunE: a.run(func(_ *cobra.Command, args []string) error {
			s, ok := mcp.Config(args[0], a.mcpCommandLine())
			if !ok {
				return usagef("one of: "+strings.Join(mcp.Clients(), ", "), "the client %q is not known", args[0])
			}
			a.say("for %s", s.Where)
			a.out.printf("%s", s.Text)
			return nil
		}),
	})
	return cmd
}

// mcp serves one client. Its output is not the buffered one: each message counts.
func (a *app) mcp(ctx context.Context) error {
	daemon := client.NewRedialer(func(ctx context.Context) (*client.Client, error) {
		c, err := a.connect(ctx)
		if err != nil {
			return nil, err
		}
		return c.Client, nil
	})
	err := mcp.Serve(ctx, mcp.Options{Daemon: daemon, Version: a.version(), In: a.std.In, Out: a.std.Out})
	_ = daemon.Close() // nothing waits for it any more
	return err
}

// mcpCommandLine is the command that a client is to run: quern, where that is this
// program, else its path; with the flags that say which daemon to ask.
func (a *app) mcpCommandLine() []string {
	command := []string{"quern"}
	if self, err := os.Executable(); err == nil {
		found, err := exec.LookPath("quern")
		if err != nil || !sameDirectory(found, self) {
			command[0] = self
		}
	}
	for name, value := range map[string]string{"--config": a.flags.config, "--socket": a.flags.socket} {
		if abs, err := absolute(value); value != "" && err == nil {
			command = append(command, name, abs)
		}
	}
	return append(command, "mcp")
}
