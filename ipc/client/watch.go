package client

import (
	"context"
	"encoding/json"
	"errors"

	"quern/ipc"
)

// Watch tells tell of every change of the documents that p chooses until ctx ends,
// and returns ctx's error then. It has a connection of its own, and makes it anew
// when it is lost: what has changed meanwhile is told, or, where the daemon does
// not know, a Changed with FreshStart, on which the caller looks at everything
// anew. While tell runs, changes are gathered into one. Other errors are those of
// the first dial, and what the daemon has against p.
func Watch(ctx context.Context, dial DialFunc, p ipc.SubscribeParams, tell func(ipc.Changed)) error {
	off := false
	p.Progress = &off
	c, err := dial(ctx)
	if err != nil {
		return err
	}
	for {
		err := watchOne(ctx, c, &p, tell)
		_ = c.Close() // it has ended, or nobody needs it any more
		var refused *ipc.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused) && !isEnding(err):
			return err
		}
		if c, err = redial(ctx, dial, 0); err != nil {
			return err
		}
	}
}

// watchOne watches on one connection until that ends. p learns what is known.
func watchOne(ctx context.Context, c *Client, p *ipc.SubscribeParams, tell func(ipc.Changed)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	notices := make(chan ipc.Changed)
	c.OnNotification(func(method string, params json.RawMessage) {
		var n ipc.Changed
		if method != ipc.MethodChanged || json.Unmarshal(params, &n) != nil {
			return
		}
		select {
		case notices <- n:
		case <-ctx.Done():
		}
	})
	var r ipc.SubscribeResult
	if err := c.Call(ctx, ipc.MethodSubscribe, p, &r); err != nil {
		return err
	}
	known := r.Generation
	p.Since, p.Instance = &known, r.Instance
	if r.FreshStart {
		tell(ipc.Changed{Subscription: r.Subscription, Generation: known, FreshStart: true})
	}
	for {
		select {
		case n := <-notices:
			tell(n)
			known = n.Generation
		case <-c.gone:
			return c.reason()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
