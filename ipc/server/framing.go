package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"quern/ipc"
)

// framer cuts what a client sends into messages, and wraps what is sent to
// it the same way.
type framer interface {
	// next returns the next message in memory of its own. The error is
	// io.EOF at the end, an *ipc.Error when the client must be told and the
	// connection closed, or what reading failed with.
	next() ([]byte, error)
	// frame makes a message ready to send; it may write into payload's
	// spare capacity.
	frame(payload []byte) []byte
}

// source is the bytes of a connection, with the bounds on what it may hold.
type source struct {
	r      *bufio.Reader
	limit  int // bytes of one message
	budget *budget
}

const readBuffer = 4 << 10

func newSource(r io.Reader, limit int, b *budget) *source {
	return &source{r: bufio.NewReaderSize(r, readBuffer), limit: limit, budget: b}
}

// detect finds the framing from the first byte that is not white space. It is
// nil for HTTP, whose answers are no mere wrapping of messages.
func (s *source) detect() (framer, error) {
	if err := s.skipSpace(); err != nil {
		return nil, err
	}
	first, err := s.r.Peek(1)
	if err != nil {
		return nil, err
	}
	switch first[0] {
	case '{', '[':
		return lines{s}, nil
	case 'C', 'c':
		return headers{s}, nil
	}
	if 'A' <= first[0] && first[0] <= 'Z' {
		return nil, nil
	}
	return nil, ipc.Errorf(ipc.CodeParse,
		"parse error: expected a JSON-RPC 2.0 object on a line, a Content-Length header or an HTTP request, but the connection begins with %q", first)
}

// skipSpace reads past white space between messages.
func (s *source) skipSpace() error {
	for {
		chunk, err := s.buffered()
		if err != nil {
			return err
		}
		rest := bytes.TrimLeft(chunk, " \t\r\n")
		s.discard(len(chunk) - len(rest))
		if len(rest) > 0 {
			return nil
		}
	}
}

// buffered returns what has been read and not consumed; it reads when that
// is nothing.
func (s *source) buffered() ([]byte, error) {
	if _, err := s.r.Peek(1); err != nil {
		return nil, err
	}
	return s.r.Peek(s.r.Buffered())
}

// discard consumes n buffered bytes.
func (s *source) discard(n int) { _, _ = s.r.Discard(n) } // cannot fail: they are buffered

// intake gathers one message within the source's bounds.
type intake struct {
	s    *source
	data []byte
}

func (in *intake) add(chunk []byte) error {
	n := len(in.data) + len(chunk)
	if n > in.s.limit {
		return errTooLong(in.s.limit)
	}
	if !in.s.budget.take(counted(n) - counted(len(in.data))) {
		return ipc.Errorf(ipc.CodeBusy, "too busy: the daemon holds as many long requests as it may; try again")
	}
	in.data = append(in.data, chunk...)
	return nil
}

// fail gives back what was gathered and returns err.
func (in *intake) fail(err error) ([]byte, error) {
	in.s.budget.give(counted(len(in.data)))
	return nil, err
}

func errTooLong(limit int) *ipc.Error {
	return ipc.Errorf(ipc.CodeInvalidRequest, "the request is longer than the limit of %d bytes", limit)
}

// lines is one message a line. A carriage return before the line end is
// white space to JSON; empty lines are skipped; the last line needs no end.
type lines struct{ *source }

func (l lines) next() ([]byte, error) {
	if err := l.skipSpace(); err != nil {
		return nil, err
	}
	in := intake{s: l.source}
	for {
		chunk, err := l.buffered()
		if errors.Is(err, io.EOF) {
			return in.data, nil
		}
		if err != nil {
			return in.fail(err)
		}
		end := bytes.IndexByte(chunk, '\n')
		if end >= 0 {
			chunk = chunk[:end]
		}
		if err := in.add(chunk); err != nil {
			return in.fail(err)
		}
		l.discard(len(chunk))
		if end >= 0 {
			return in.data, nil
		}
	}
}

func (lines) frame(payload []byte) []byte { return append(payload, '\n') }
