package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"quern/ipc"

	"github.com/spf13/cobra"
)

const rpcLong = `Send one request of the protocol (docs/protocol.md) to the daemon and print the
result as JSON on one line. PARAMS is a JSON object, or - to read it from the
standard input. After subscribe, notifications follow, one a line, until the
program is interrupted. The method schema describes all methods.`

// rpcMethods are completed.
var rpcMethods = []string{
	ipc.MethodHello, ipc.MethodSearch, ipc.MethodPassages, ipc.MethodSimilar, ipc.MethodExplain, ipc.MethodRecent,
	ipc.MethodStatus, ipc.MethodSync, ipc.MethodSubscribe, ipc.MethodReindex, ipc.MethodVerify, ipc.MethodReload,
	ipc.MethodFoldersList, ipc.MethodFoldersAdd, ipc.MethodFoldersRemove, ipc.MethodSchema,
}

func (a *app) rpcCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "rpc METHOD [PARAMS]",
		Short:   "Send a request of the protocol and print the result",
		Long:    rpcLong,
		Example: `  quern rpc search '{"query": "billing refunds", "k": 3}' | jq .hits`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("quern rpc METHOD '{…}'", "rpc takes a method and its params")
			}
			return nil
		},
		ValidArgsFunction: fixed(rpcMethods...),
		RunE: a.run(func(cmd *cobra.Command, args []string) error {
			params, err := a.rpcParams(args[1:])
			if err != nil {
				return err
			}
			return a.withDaemon(cmd.Context(), func(c *conn) error { return a.rpc(cmd.Context(), c, args[0], params) })
		}),
	}
}

// rpcParams reads the params, nil for none.
func (a *app) rpcParams(args []string) (json.RawMessage, error) {
	if len(args) == 0 {
		return nil, nil
	}
	text := args[0]
	if text == "-" {
		in, err := io.ReadAll(io.LimitReader(a.std.In, ipc.MaxRequestBytes+1))
		if err != nil {
			return nil, fmt.Errorf("cannot read the params: %w", err)
		}
		text = string(in)
	}
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, usagef(`such as '{"query": "x"}'`, "the params must be a JSON object")
	}
	return json.RawMessage(text), nil
}

func (a *app) rpc(ctx context.Context, c *conn, method string, params json.RawMessage) error {
	notices := make(chan []byte)
	c.OnNotification(func(method string, params json.RawMessage) {
		line := fmt.Appendf(nil, `{"method":%q,"params":%s}`, method, params)
		select {
		case notices <- line:
		case <-ctx.Done():
		case <-c.Done():
		}
	})
	var result json.RawMessage
	if err := c.Call(ctx, method, params, &result); err != nil {
		return err
	}
	if err := a.printJSON(result); err != nil || method != ipc.MethodSubscribe {
		return err
	}
	return a.printNotices(ctx, c, notices)
}

// printNotices prints what comes until the program is interrupted, its reader has
// gone or the daemon ends.
func (a *app) printNotices(ctx context.Context, c *conn, notices <-chan []byte) error {
	for {
		if err := a.out.flush(); err != nil {
			return err
		}
		select {
		case line := <-notices:
			if err := a.printJSON(line); err != nil {
				return err
			}
		case <-c.Done():
			return unreachable("", "the daemon has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
