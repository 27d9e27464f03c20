package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"time"

	"quern/ipc/client"
)

// visitorVariable makes the test binary a visitor: a process of another user, which asks
// a daemon and tries to read files.
const visitorVariable = "QUERN_TEST_VISITOR"

// errand is what a visitor is sent to do.
type errand struct {
	Socket string   `json:"socket"`
	Calls  []ask    `json:"calls"`
	Rest   bool     `json:"rest"`  // ask until nothing is waiting to be indexed
	Paths  []string `json:"paths"` // to try to open
}

type ask struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

// findings are what it comes back with.
type findings struct {
	Answers  []answer `json:"answers"`
	Readable []bool   `json:"readable"`
}

type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Code   int             `json:"code,omitempty"`
}

// visit is the visitor's main.
func visit() int {
	var e errand
	if err := json.NewDecoder(os.Stdin).Decode(&e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var out findings
	for _, path := range e.Paths {
		f, err := os.Open(path)
		out.Readable = append(out.Readable, err == nil)
		_ = f.Close() // of none it does nothing
	}
	if e.Socket != "" {
		var err error
		if out.Answers, err = askAll(e.Socket, e.Calls, e.Rest); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		return 1
	}
	return 0
}

// busy is what an answer says while a file is looked at again: one that was written
// within a tick of the clock is, once the tick is over.
var busy = regexp.MustCompile(`"pending":[1-9]|"state":"(pending|indexing|scanning)"`)

func askAll(socket string, calls []ask, rest bool) ([]answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for {
		out, waiting := make([]answer, len(calls)), false
		for i, a := range calls {
			if err := c.Call(ctx, a.Method, a.Params, &out[i].Result); err != nil {
				out[i].Error, out[i].Code = err.Error(), code(err)
			}
			waiting = waiting || busy.Match(out[i].Result)
		}
		if !rest || !waiting || ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
}
