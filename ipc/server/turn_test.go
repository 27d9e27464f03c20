package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"quern/ipc"
)

// TestTurns floods one server from a few connections: not more compute at a time
// than there are places, nor more than two of a connection, and a request that is
// cancelled while it waits gives up its place.
func TestTurns(t *testing.T) {
	f := serve(t, Options{})
	places := int64(cap(f.turns))
	var running, most atomic.Int64
	release, waiting := make(chan struct{}), make(chan struct{}, 10000)
	Handle(f.Server, "compute", func(ctx context.Context, _ ipc.Empty) (ipc.Empty, error) {
		waiting <- struct{}{}
		end, err := Turn(ctx)
		if err != nil {
			return ipc.Empty{}, err
		}
		defer end()
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ipc.Empty{}, ctx.Err()
	})
	flood := f.dial(t)
	for i := range 40 {
		flood.send(request1(fmt.Sprint(i), "compute", "{}") + "\n")
		receive(t, "a start", waiting)
	}
	eventually(t, "two compute", func() bool { return running.Load() == turnsEach })
	single := f.dial(t)
	single.send(request1("1", "compute", "{}") + "\n")
	eventually(t, "the other connection computes, too", func() bool { return running.Load() == turnsEach+1 })
	var others []*wire
	for range places {
		w := f.dial(t)
		w.send(request1("1", "compute", "{}") + "\n")
		others = append(others, w)
	}
	eventually(t, "all places are taken", func() bool { return running.Load() == places })
	last := others[len(others)-1]
	last.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n")
	close(release)
	last.line()
	for _, w := range others[:len(others)-1] {
		if got := code(t, w.line()); got != 0 {
			t.Errorf("code %d", got)
		}
	}
	flood.byID(40)
	if code(t, single.line()) != 0 || most.Load() > places {
		t.Errorf("%d computed at the same time, of %d", most.Load(), places)
	}
	eventually(t, "all places are free", func() bool { return len(f.turns) == 0 })
}
