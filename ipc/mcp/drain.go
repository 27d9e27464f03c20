package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// drainTime is how long the end of the input is held back for answers at most.
const drainTime = 10 * time.Second

// drain holds the end of the input back until every request read has been answered:
// a script that writes its requests and closes the pipe gets its answers.
type drain struct {
	in  io.Reader
	out io.Writer

	mu       sync.Mutex
	asked    []byte // the line being read
	answered []byte // the line being written
	open     int    // requests without an answer
	idle     chan struct{}
	patience time.Duration
}

func newDrain(in io.Reader, out io.Writer) *drain {
	return &drain{in: in, out: out, idle: make(chan struct{}, 1), patience: drainTime}
}

func (d *drain) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	d.mu.Lock()
	d.asked = each(append(d.asked, p[:n]...), func(m message) {
		if m.Method != nil && m.ID != nil {
			d.open++
		}
	})
	d.mu.Unlock()
	if err == io.EOF {
		d.await()
	}
	return n, err
}

func (d *drain) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answered = each(append(d.answered, p[:n]...), func(m message) {
		if m.Method == nil && m.ID != nil {
			d.open--
		}
	})
	select {
	case d.idle <- struct{}{}:
	default:
	}
	return n, err
}

// await returns when no request is open, or after a while.
func (d *drain) await() {
	end := time.NewTimer(d.patience)
	defer end.Stop()
	for {
		d.mu.Lock()
		open := d.open
		d.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-d.idle:
		case <-end.C:
			return
		}
	}
}

// message is what tells a request (both) from a notification and an answer.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
}

// each calls f with the messages in whole lines and returns the rest.
func each(lines []byte, f func(message)) (rest []byte) {
	for {
		line, after, ok := bytes.Cut(lines, []byte{'\n'})
		if !ok {
			return bytes.Clone(lines)
		}
		var m message
		if json.Unmarshal(line, &m) == nil {
			f(m)
		}
		lines = after
	}
}
