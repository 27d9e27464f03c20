// Package client speaks Quern's protocol to a daemon: one connection, any
// number of concurrent calls. It uses the line framing of docs/protocol.md.
//
// Dial makes a Client, which ends when its connection does. A Redialer makes its
// connection anew, and Watch does so while it tells what changes.
package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"quern/ipc"
)

var (
	// ErrNotRunning says that nothing listens on the socket.
	ErrNotRunning = errors.New("the daemon is not running")
	// ErrConnectionLost says that the connection ended before the answer
	// came; whether the daemon carried out the request is unknown.
	ErrConnectionLost = errors.New("the connection to the daemon is lost")
)

// MaxAnswerBytes bounds one answer; a longer one ends the connection.
const MaxAnswerBytes = 256 << 20

// refusalTime is how long a client that cannot send waits for the reason.
const refusalTime = time.Second

// Client is a connection to a daemon. Its methods may be called from any
// number of goroutines. Make one with Dial, and Close it.
type Client struct {
	nc net.Conn
	// slots holds a token for every request that the daemon has not
	// answered. It keeps the client within the daemon's limit, so that the
	// daemon always reads what it sends.
	slots chan struct{}
	wake  chan struct{} // tells the writer that queue is not empty
	gone  chan struct{} // closed by the reader when the connection has ended
	ended sync.WaitGroup

	mu      sync.Mutex // guards all fields below
	lastID  uint64
	pending map[uint64]chan<- answer // requests without an answer, given-up ones included
	queue   []byte                   // what the writer is to send
	notify  func(method string, params json.RawMessage)
	closed  bool
	err     error // why the connection ended; wraps ErrConnectionLost
}

// answer is a response as it comes from the daemon.
type answer struct {
	result json.RawMessage
	err    error
}

func newClient(nc net.Conn) *Client {
	c := &Client{
		nc:      nc,
		slots:   make(chan struct{}, ipc.MaxInFlight),
		wake:    make(chan struct{}, 1),
		gone:    make(chan struct{}),
		pending: map[uint64]chan<- answer{},
	}
	c.ended.Go(c.read)  // ends when the connection does
	c.ended.Go(c.write) // ends with the reader
	return c
}

// Close ends the connection and fails the calls that wait for an answer. It
// returns when the client's goroutines have ended.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	var err error
	if first {
		err = c.nc.Close()
	}
	c.ended.Wait()
	if err != nil {
		return fmt.Errorf("close the connection to the daemon: %w", err)
	}
	return nil
}

// Call sends a request and waits for its answer, which it decodes into
// result (a pointer, or nil to drop it). params is an object, or nil for a
// method without params.
//
// An error that the daemon answers with is an *ipc.Error. When ctx ends
// first, Call cancels the request and returns ctx's error. When the
// connection ends first, the error wraps ErrConnectionLost.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, err := encodeParams(params)
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	if err := c.slot(ctx); err != nil {
		return err
	}
	id, answers, err := c.send(method, body)
	if err != nil {
		return err
	}
	select {
	case a := <-answers:
		return decodeAnswer(method, a, result)
	case <-ctx.Done():
		c.cancel(id)
		return ctx.Err()
	}
}

// slot waits until the daemon has room for one more request.
func (c *Client) slot(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.gone:
		return c.reason()
	}
}

func encodeParams(params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	b, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode the params: %w", err)
	}
	return b, nil
}

func decodeAnswer(method string, a answer, result any) error {
	if a.err != nil || result == nil {
		return a.err
	}
	if err := json.Unmarshal(a.result, result); err != nil {
		return fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return nil
}

// message is a request or a notification (no id).
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      uint64          `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// send queues a request, for which a slot is taken, and returns where its
// answer will come. On an error the slot is free again.
func (c *Client) send(method string, params json.RawMessage) (uint64, <-chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := message{JSONRPC: "2.0", ID: c.lastID + 1, Method: method, Params: params}
	err := c.err
	if err == nil {
		err = c.enqueue(m)
	}
	if err != nil {
		<-c.slots
		return 0, nil, err
	}
	c.lastID++
	answers := make(chan answer, 1) // so that the reader never waits
	c.pending[c.lastID] = answers
	return c.lastID, answers, nil
}

// cancel tells the daemon that nobody waits for the answer any more. The
// answer still comes, and frees the slot.
func (c *Client) cancel(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pending[id]; !ok || c.err != nil {
		return
	}
	params := fmt.Appendf(nil, `{"id":%d}`, id)
	// It cannot fail: the message is short and valid.
	_ = c.enqueue(message{JSONRPC: "2.0", Method: ipc.MethodCancel, Params: params})
}

// enqueue hands a message to the writer. c.mu is held. The queue is bounded
// by the slots: a request and a cancellation for each.
func (c *Client) enqueue(m message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("call %s: %w", m.Method, err)
	}
	if len(line) > ipc.MaxRequestBytes {
		return fmt.Errorf("call %s: %w", m.Method, ipc.Errorf(ipc.CodeInvalidRequest,
			"the request is %d bytes long, the limit is %d", len(line), ipc.MaxRequestBytes))
	}
	c.queue = append(append(c.queue, line...), '\n')
	select {
	case c.wake <- struct{}{}:
	default: // it is awake already
	}
	return nil
}

// write sends what is queued until the connection ends.
func (c *Client) write() {
	for {
		select {
		case <-c.wake:
		case <-c.gone:
			return
		}
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		if _, err := c.nc.Write(queue); err != nil {
			// The daemon may have said why before it closed: the reader
			// gets a moment to find out, and then ends everything.
			_ = c.nc.SetReadDeadline(time.Now().Add(refusalTime))
			return
		}
	}
}

// read takes answers until the connection ends, and then fails what is
// pending.
func (c *Client) read() {
	r := bufio.NewReaderSize(c.nc, 32<<10)
	var err error
	for err == nil {
		var line []byte
		if line, err = readLine(r); err == nil {
			err = c.deliver(line)
		}
	}
	_ = c.nc.Close() // the second time it fails, harmlessly
	c.end(err)
}

// readLine returns the next line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.ReadSlice('\n')
		if len(line)+len(chunk) > MaxAnswerBytes {
			return nil, fmt.Errorf("an answer is longer than %d bytes", MaxAnswerBytes)
		}
		line = append(line, chunk...)
		if err == nil {
			return line[:len(line)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// OnNotification has f called with each notification that comes from now on, one
// after the other. Answers wait while f runs: it must not call the daemon on this
// connection. See docs/protocol.md, subscribe; Watch is simpler.
func (c *Client) OnNotification(f func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notify = f
}

func (c *Client) notified(r response) {
	c.mu.Lock()
	f := c.notify
	c.mu.Unlock()
	if f != nil {
		f(r.Method, r.Params)
	}
}

// response is what the daemon sends. A notification has a method.
type response struct {
	ID     *uint64         `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *ipc.Error      `json:"error"`
}

// deliver hands an answer to the call that waits for it. The error ends the
// connection.
func (c *Client) deliver(line []byte) error {
	var r response
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("an answer cannot be read: %w", err)
	}
	switch {
	case r.Method != "":
		c.notified(r)
		return nil
	case r.ID == nil && r.Error != nil:
		return r.Error // about the connection as a whole
	case r.ID == nil:
		return errors.New("an answer has no id")
	}
	a := answer{result: r.Result}
	if r.Error != nil {
		a.err = r.Error
	}
	c.mu.Lock()
	waiting, ok := c.pending[*r.ID]
	delete(c.pending, *r.ID)
	c.mu.Unlock()
	if !ok {
		return fmt.Errorf("an answer has the unknown id %d", *r.ID)
	}
	waiting <- a
	<-c.slots
	return nil
}

// end fails what is pending, now and later.
func (c *Client) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		c.err = fmt.Errorf("%w: %w", ErrConnectionLost, net.ErrClosed)
	case errors.Is(cause, io.EOF):
		c.err = fmt.Errorf("%w: the daemon closed it", ErrConnectionLost)
	default:
		c.err = fmt.Errorf("%w: %w", ErrConnectionLost, cause)
	}
	for id, waiting := range c.pending {
		waiting <- answer{err: c.err}
		delete(c.pending, id)
	}
	close(c.gone)
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.gone }

func (c *Client) reason() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
