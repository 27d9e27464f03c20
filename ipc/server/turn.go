package server

import (
	"context"
	"runtime"
)

// turnsEach bounds the turns that one connection has or waits for: so a flood of
// requests on one is not before a single request on another.
const turnsEach = 2

// newTurns makes the places for the requests that compute at the same time. More
// than the processors can serve would only hold memory, and all would be late.
func newTurns() chan struct{} { return make(chan struct{}, max(4, 2*runtime.GOMAXPROCS(0))) }

// Turn waits for the request's turn to do what takes a processor and memory, and
// no time else; the caller calls end when it is done. The connections take turns,
// first come, first served, each with two at a time. The error is the cause of ctx.
func Turn(ctx context.Context) (end func(), err error) {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return func() {}, nil
	}
	own, all := k.c.turns, k.c.s.turns
	if err := enter(ctx, own); err != nil {
		return nil, err
	}
	if err := enter(ctx, all); err != nil {
		<-own
		return nil, err
	}
	return func() { <-all; <-own }, nil
}

func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
