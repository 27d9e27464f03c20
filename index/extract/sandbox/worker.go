package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"quern/index/extract"
)

// kind says what a worker prepares before it locks itself in.
type kind string

// The kinds of workers.
const (
	light kind = "light"
	heavy kind = "heavy" // has the PDF reader
)

const (
	// startPatience is how long a worker may take to start: it may have to compile
	// the PDF reader on a slow machine.
	startPatience = 2 * time.Minute
	// pipeRoom is the size of the buffers at both ends of a pipe.
	pipeRoom = 64 << 10
)

// worker is a child process, as its parent sees it. One goroutine uses it at a time.
type worker struct {
	s     *Sandbox
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	said  tail // on its standard error
	files int
	busy  time.Duration

	mu     sync.Mutex // guards all fields below
	reason string     // why it was ended, if it was not by itself
	over   bool       // ended
	rest   *time.Timer
}

// start starts a worker and waits until it has locked itself in.
func (s *Sandbox) start(ctx context.Context, k kind) (*worker, error) {
	args := append(s.opts.Command[1:len(s.opts.Command):len(s.opts.Command)], Verb, string(k), s.opts.Cache)
	w := &worker{s: s, cmd: exec.Command(s.opts.Command[0], args...)}
	if err := w.run(workerEnv()); err != nil {
		return nil, err
	}
	defer w.watch(ctx, startPatience, nil)()
	var hello ready
	if err := w.expect(frameReady, &hello); err != nil {
		w.end()
		if s.isClosed() {
			return nil, ErrClosed
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &unavailable{w.death(err)}
	}
	s.told(hello.Lacks)
	return w, nil
}

// run starts the process.
func (w *worker) run(env []string) error {
	w.cmd.Env = env
	w.cmd.Dir = string(os.PathSeparator)
	w.cmd.Stderr = &w.said
	w.cmd.WaitDelay = time.Second // should a child of it keep the pipe
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return &unavailable{err}
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return &unavailable{err}
	}
	w.out = bufio.NewReaderSize(out, pipeRoom)
	if err := w.cmd.Start(); err != nil {
		return &unavailable{err}
	}
	if !w.s.started(w) {
		w.end()
		return ErrClosed
	}
	return nil
}

// workerEnv is all that a worker is told of the world.
func workerEnv() []string {
	env := []string{"GOTRACEBACK=single", "GOMAXPROCS=2", "TZ=UTC"}
	for _, name := range []string{"SystemRoot", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// extract has the worker read a file. fit says that it can read another. With a
// *Broken error, doc is what had been found until then, or nil.
func (w *worker) extract(ctx context.Context, name string, data []byte) (doc *extract.Document, err error, fit bool) {
	began := time.Now()
	alive := make(chan struct{}, 1)
	stop := w.watch(ctx, w.s.opts.Stall, alive)
	answer := newAnswer(data)
	sent := make(chan struct{})
	go func() { // ends when the worker has read all, or is ended
		defer close(sent)
		_ = send(w.in, name, data)
	}()
	err = answer.read(w.out, func() {
		select {
		case alive <- struct{}{}:
		default:
		}
	})
	stop()
	w.files++
	w.busy += time.Since(began)
	if err == nil {
		<-sent
		doc, err = answer.result()
		return doc, err, true
	}
	w.end()
	<-sent
	switch {
	case w.s.isClosed():
		return nil, ErrClosed, false
	case ctx.Err() != nil:
		return nil, ctx.Err(), false
	}
	return answer.partial(), &Broken{w.death(err).Error()}, false
}

// watch ends the worker when ctx is done, when the time for a file is over, or when
// alive has not been sent to for the time of stall. The function that it returns ends
// the watch.
func (w *worker) watch(ctx context.Context, stall time.Duration, alive <-chan struct{}) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		wall, still := time.NewTimer(max(w.s.opts.Wall, stall)), time.NewTimer(stall)
		defer wall.Stop()
		defer still.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				w.kill("stopped")
			case <-wall.C:
				w.kill(fmt.Sprintf("reading it took more than %v", w.s.opts.Wall))
			case <-still.C:
				w.kill(fmt.Sprintf("reading it got stuck for %v", stall))
			case <-alive:
				still.Reset(stall)
				continue
			}
			<-done
			return
		}
	})
	return func() { close(done); wg.Wait() }
}

// kill ends the process at once, for a reason.
func (w *worker) kill(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason == "" {
		w.reason = reason
	}
	if w.cmd.Process != nil {
		_ = w.cmd.Process.Kill()
	}
}

// end ends the process, if it has not ended, and waits for that.
func (w *worker) end() {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	w.over = true
	if w.rest != nil {
		w.rest.Stop()
	}
	w.mu.Unlock()
	_ = w.in.Close()
	if w.cmd.Process != nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	}
	w.s.ended(w)
}

// sleep ends the worker after a while, unless wake is called before.
func (w *worker) sleep(while time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = time.AfterFunc(while, w.end)
}

// wake is false when the worker has ended.
func (w *worker) wake() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.over && (w.rest == nil || w.rest.Stop())
}

// expect reads one frame of a type.
func (w *worker) expect(want byte, v any) error {
	got, payload, err := readFrame(w.out)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: frame %q", errGarbage, got)
	}
	return json.Unmarshal(payload, v)
}

// death says, after its end, why the process has ended, in words for a user.
func (w *worker) death(err error) error {
	w.mu.Lock()
	reason := w.reason
	w.mu.Unlock()
	said := w.said.String()
	switch {
	case reason != "":
		return errors.New(reason)
	case starved(said):
		return fmt.Errorf("reading it takes more memory than the %d MiB allowed", memoryLimit>>20)
	case strings.Contains(said, "stack overflow") || strings.Contains(said, "stack exceeds"):
		return errors.New("reading it overflows the stack: nested too deeply")
	case errors.Is(err, errGarbage):
		return errors.New("its reader answers with garbage")
	}
	if state := w.cmd.ProcessState; state != nil && outOfTime(state) {
		return errors.New("reading it takes too much processor time")
	}
	return fmt.Errorf("its reader crashed: %s", firstLine(said, w.cmd.ProcessState))
}

// starved reports whether a process that says so has ended because it got no more
// memory: the runtime, its threads and the race detector each have their words.
func starved(said string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to allocate"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// firstLine is what a crash is called: what the process said first, or how it ended.
func firstLine(said string, state *os.ProcessState) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ToValidUTF8(line[:min(len(line), 200)], "\ufffd")
		}
	}
	if state != nil {
		return state.String()
	}
	return "no reason known"
}

// tail keeps the beginning of what a process says, and drains the rest.
type tail struct {
	mu   sync.Mutex // guards said
	said []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, p[:min(len(p), 4096-len(t.said))]...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.said)
}
