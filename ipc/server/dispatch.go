package server

import (
	"context"
	"sync/atomic"

	"quern/ipc"
	"quern/ipc/internal/strict"
)

// dispatch starts what one message asks for. It waits for free slots, not
// for answers.
func (c *conn) dispatch(data []byte) {
	release := func() { c.s.budget.give(counted(len(data))) }
	if isBatch(data) {
		c.batch(data, release)
		return
	}
	r, fault := parseRequest(data)
	if fault != nil {
		release()
		c.write(errorMessage(r.id, fault))
		return
	}
	c.start(r, func(answer []byte, started bool) {
		release()
		if answer != nil {
			c.write(answer)
		}
		if started {
			c.end(1)
		}
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

// start runs the request in a goroutine of its own and then calls done, once,
// with the answer (nil for a notification). started is false when nothing had
// to be run; done is then called before start returns, and no slot is held.
func (c *conn) start(r request, done func(answer []byte, started bool)) {
	if r.method == ipc.MethodCancel {
		done(c.cancelNow(r), false)
		return
	}
	c.acquire()
	ctx, cancel := context.WithCancel(c.ctx)
	if err := c.begin(r.id, cancel); err != nil {
		cancel()
		<-c.slots
		done(answerTo(r, errorMessage(r.id, err)), false)
		return
	}
	go func() { // ends with its handler, which ctx cancels
		defer cancel()
		c.call(ctx, r, func(answer []byte) {
			c.forget(r.id)
			done(answerTo(r, answer), true)
		})
	}()
}

// answerTo is the answer, or nil where none is wanted.
func answerTo(r request, answer []byte) []byte {
	if r.id == nil {
		return nil
	}
	return answer
}

var cancelParams = strict.NewDecoder[ipc.CancelParams]()

// cancelNow carries out $/cancelRequest. It needs no slot, so that it works
// while all are taken.
func (c *conn) cancelNow(r request) []byte {
	p, err := cancelParams.Decode(r.params)
	if err == nil && (len(p.ID) == 0 || !isID(p.ID)) {
		err = &strict.FieldError{Path: "id", Msg: "must be the id of a request"}
	}
	if err != nil {
		return answerTo(r, errorMessage(r.id, ipc.Errorf(ipc.CodeInvalidParams, "invalid params: %v", err)))
	}
	c.cancelRequest(p.ID)
	return answerTo(r, resultMessage(r.id, []byte("{}")))
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
	answers := make([][]byte, len(elements))
	var held, left atomic.Int64
	left.Store(int64(len(elements)))
	put := func(i int, answer []byte, started bool) {
		answers[i] = answer
		if started {
			held.Add(1)
		}
		if left.Add(-1) > 0 {
			return
		}
		release()
		if all := joinAnswers(answers); all != nil {
			c.write(all)
		}
		c.end(int(held.Load()))
	}
	for i, e := range elements {
		r, fault := parseRequest(e)
		if fault != nil {
			put(i, errorMessage(r.id, fault), false)
			continue
		}
		c.start(r, func(answer []byte, started bool) { put(i, answer, started) })
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
