package server

import (
	"context"
	"sync/atomic"

	"quern/ipc"
	"quern/ipc/internal/strict"
)

// outcome is how a request ended: with a result in JSON, or with an error.
type outcome struct {
	result []byte
	err    *ipc.Error
}

// message is the answer to the request with this id.
func (o outcome) message(id []byte) []byte {
	if o.err != nil {
		return errorMessage(id, o.err)
	}
	return resultMessage(id, o.result)
}

// answer is the message for r, or nil where none is wanted.
func (o outcome) answer(r request) []byte {
	if r.id == nil {
		return nil
	}
	return o.message(r.id)
}

// dispatch starts what one message asks for. It waits for free slots and for
// room, not for answers.
func (c *conn) dispatch(data []byte) {
	release := func() { c.s.budget.give(counted(len(data))) }
	if isBatch(data) {
		c.batch(data, release)
		return
	}
	r, fault := parseRequest(data)
	switch {
	case fault != nil:
		release()
		c.write(errorMessage(r.id, fault))
		return
	case r.method == ipc.MethodCancel:
		release()
		c.write(c.cancelNow(r).answer(r))
		return
	}
	held := c.reserve(1)
	c.start(r, func(o outcome, done *call) {
		release()
		c.write(held.keep(o).answer(r))
		held.release()
		done.end()
	})
}

func isBatch(data []byte) bool {
	for _, b := range data {
		switch b {
		case ' ', '\t', '\r', '\n':
		default:
			return b == '['
		}
	}
	return false
}

// call is a running request.
type call struct {
	c      *conn
	number uint64 // grows with every request of the connection
	// after is what to do once the answer is written.
	after []func()
}

type callKey struct{}

// end says that the call's answer is written. It does nothing for a request
// that was not started.
func (k *call) end() {
	if k == nil {
		return
	}
	for _, f := range k.after {
		f()
	}
	k.c.end(1)
}

// start runs the request in a goroutine of its own and then calls done, once,
// with its outcome. When nothing had to be run, done is called before start
// returns, with a nil call, and no slot is held.
func (c *conn) start(r request, done func(o outcome, k *call)) {
	c.acquire()
	c.calls++
	k := &call{c: c, number: c.calls}
	ctx, cancel := context.WithCancel(context.WithValue(c.ctx, callKey{}, k))
	if err := c.begin(r.id, cancel); err != nil {
		cancel()
		<-c.slots
		done(outcome{err: err}, nil)
		return
	}
	go func() { // ends with its handler, which ctx cancels
		defer cancel()
		c.call(ctx, r, func(o outcome) {
			c.forget(r.id)
			done(o, k)
		})
	}()
}

var cancelParams = strict.NewDecoder[ipc.CancelParams]()

// cancelNow carries out $/cancelRequest. It needs no slot, so that it works
// while all are taken.
func (c *conn) cancelNow(r request) outcome {
	p, err := cancelParams.Decode(r.params)
	if err == nil && (len(p.ID) == 0 || !isID(p.ID)) {
		err = &strict.FieldError{Path: "id", Msg: "must be the id of a request"}
	}
	if err != nil {
		return outcome{err: ipc.Errorf(ipc.CodeInvalidParams, "invalid params: %v", err)}
	}
	c.cancelRequest(p.ID)
	return outcome{result: []byte("{}")}
}

// batch starts the requests of an array. Their answers go back as one array
// when the last is there, in the order of the requests; their slots are held
// until it is written, so that unfinished batches stay bounded.
func (c *conn) batch(data []byte, release func()) {
	elements, fault := c.batchElements(data)
	if fault != nil {
		release()
		c.write(errorMessage(nil, fault))
		return
	}
	held := c.reserve(len(elements))
	answers := make([][]byte, len(elements))
	calls := make([]*call, len(elements))
	var left atomic.Int64
	left.Store(int64(len(elements)))
	put := func(i int, answer []byte, k *call) {
		answers[i], calls[i] = answer, k
		if left.Add(-1) > 0 {
			return
		}
		release()
		c.write(joinAnswers(answers))
		held.release()
		for _, k := range calls {
			k.end()
		}
	}
	for i, e := range elements {
		r, fault := parseRequest(e)
		switch {
		case fault != nil:
			put(i, errorMessage(r.id, fault), nil)
		case r.method == ipc.MethodCancel:
			put(i, c.cancelNow(r).answer(r), nil)
		default:
			c.start(r, func(o outcome, k *call) { put(i, held.keep(o).answer(r), k) })
		}
	}
}

func (c *conn) batchElements(data []byte) ([][]byte, *ipc.Error) {
	elements, err := strict.Elements(data)
	switch limit := cap(c.slots); {
	case err != nil:
		return nil, ipc.Errorf(ipc.CodeParse, "parse error: %v", err)
	case len(elements) == 0:
		return nil, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: the batch is empty")
	case len(elements) > limit:
		return nil, ipc.Errorf(ipc.CodeInvalidRequest, "invalid request: a batch of %d requests, the limit is %d", len(elements), limit)
	}
	return elements, nil
}

// joinAnswers makes an array of the answers, or nil when there are none.
func joinAnswers(answers [][]byte) []byte {
	size := 0
	for _, a := range answers {
		size += len(a) + 1
	}
	if size == len(answers) {
		return nil
	}
	b := append(make([]byte, 0, size+2), '[')
	for _, a := range answers {
		if a == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, a...)
	}
	return append(b, ']')
}
