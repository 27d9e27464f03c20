package client

import (
	"context"
	"errors"
	"sync"
	"time"

	"quern/ipc"
)

// DialFunc makes a connection: Dial with a socket's path, or one that starts a
// daemon first.
type DialFunc func(ctx context.Context) (*Client, error)

const (
	// redialFor is how long a lost daemon is looked for again.
	redialFor = 10 * time.Second
	// redialFirst and redialMost bound the wait between two attempts.
	redialFirst, redialMost = 10 * time.Millisecond, 500 * time.Millisecond
	// mostRepeats is how often a request is sent: it may be what ends the daemon.
	mostRepeats = 3
)

// Redialer is a connection that is made when it is first needed, and anew when
// it is lost, as when the daemon is restarted. Its methods may be called from any
// number of goroutines. Make one with NewRedialer, and Close it.
type Redialer struct {
	dial DialFunc

	mu      sync.Mutex // guards all fields below; held while dialling
	current *Client
	closed  bool
}

// NewRedialer makes a Redialer. It does not dial yet.
func NewRedialer(dial DialFunc) *Redialer { return &Redialer{dial: dial} }

// Close ends the connection. Calls that wait fail, and so do later ones.
func (r *Redialer) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.current == nil {
		return nil
	}
	return r.current.Close()
}

// Call is Client.Call on a connection that lives. When the connection is lost
// before the answer comes, a method that can be carried out twice without harm
// (ipc.IsRepeatable) is sent again on the next one; for another the error says
// that it is lost (ErrConnectionLost), and the next call dials anew. A daemon
// that was there and is gone is looked for again for ten seconds, or until ctx
// ends.
func (r *Redialer) Call(ctx context.Context, method string, params, result any) error {
	for n := 1; ; n++ {
		c, err := r.client(ctx, n > 1)
		if err != nil {
			return err
		}
		err = c.Call(ctx, method, params, result)
		if !isEnding(err) {
			return err
		}
		r.drop(c)
		if !ipc.IsRepeatable(method) && errors.Is(err, ErrConnectionLost) || ctx.Err() != nil || n == mostRepeats {
			return err
		}
	}
}

// isEnding reports an error of a connection that ends, or of a daemon that does
// and has not carried out the request.
func isEnding(err error) bool {
	return errors.Is(err, ErrConnectionLost) || errors.Is(err, &ipc.Error{Code: ipc.CodeShuttingDown})
}

// client is the connection, made anew if need be; patiently when there was one.
func (r *Redialer) client(ctx context.Context, patient bool) (*Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrConnectionLost
	}
	if r.current != nil {
		return r.current, nil
	}
	var err error
	if patient {
		r.current, err = redial(ctx, r.dial, redialFor)
	} else {
		r.current, err = r.dial(ctx)
	}
	return r.current, err
}

// drop forgets a connection that has ended.
func (r *Redialer) drop(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == c {
		r.current = nil
	}
	_ = c.Close() // it has ended
}

// redial dials until that succeeds, for as long as given or until ctx ends; 0 is
// for ever.
func redial(ctx context.Context, dial DialFunc, patience time.Duration) (*Client, error) {
	deadline := time.Now().Add(patience)
	for wait := redialFirst; ; wait = min(2*wait, redialMost) {
		c, err := dial(ctx)
		if err == nil || ctx.Err() != nil || patience > 0 && time.Now().After(deadline) {
			return c, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}
