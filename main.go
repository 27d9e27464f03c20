// Command quern is an always-on local knowledge base: it watches folders, keeps
// an exact index of their passages and answers queries over a Unix socket.
package main

import (
	"context"
	"os"

	"quern/daemon"
	"quern/daemon/cli"
)

// version is set by the release build: -ldflags "-X main.version=1.2.3".
var version string

func main() {
	if len(os.Args) > 1 && os.Args[1] == daemon.WorkerVerb {
		os.Exit(daemon.Worker(os.Args[2:]))
	}
	std := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Main(context.Background(), os.Args[1:], std, cli.Hooks{
		Serve: func(ctx context.Context, o cli.ServeOptions) error {
			return daemon.Run(ctx, daemon.Options{
				ConfigPath: o.ConfigPath, Socket: o.Socket, DataDir: o.DataDir, Version: o.Version, IdleExit: o.IdleExit, Log: o.Log, Ready: o.Ready,
			})
		},
		InUse:   daemon.ErrInUse,
		Version: version,
	}))
}
