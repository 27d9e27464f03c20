package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"unicode/utf8"

	"quern/index/extract"
)

// commandKind is the kind of a process that confines itself and then becomes a
// configured command.
const commandKind = "command"

// maxOutput bounds the text that a command may write, in bytes.
const maxOutput = 64 << 20

// Command has a command of the user's read a file, whose format is called so: the
// file is its standard input, its standard output the text. It reaches nothing but
// the system's programs, libraries and data, which it can only read, and may start no
// further program. Errors are as Extract's; those of the command are none of them.
func (s *Sandbox) Command(ctx context.Context, format string, command []string, data []byte) (*extract.Document, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, &unavailable{fmt.Errorf("the extractor for %s files, %q, cannot be run: %w", format, command[0], errors.Unwrap(err))}
	}
	run := func() (*extract.Document, error) { return s.runOnce(ctx, format, path, command, data) }
	return s.twice(ctx, format, run, run)
}

func (s *Sandbox) runOnce(ctx context.Context, format, path string, command []string, data []byte) (*extract.Document, error) {
	args := append(s.opts.Command[1:len(s.opts.Command):len(s.opts.Command)], Verb, commandKind, path)
	w := &worker{s: s, cmd: exec.Command(s.opts.Command[0], append(args, command...)...)}
	if err := w.run(commandEnv()); err != nil {
		return nil, err
	}
	defer w.end()
	defer w.watch(ctx, s.opts.Wall, nil)()
	go func() { // ends when the command has read all, or has ended
		_, _ = io.Copy(w.in, bytes.NewReader(data))
		_ = w.in.Close()
	}()
	text, err := io.ReadAll(io.LimitReader(w.out, maxOutput+1))
	if len(text) <= maxOutput && err == nil {
		err = w.wait()
	}
	switch {
	case s.isClosed():
		return nil, ErrClosed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case w.wasKilled():
		return nil, &Broken{w.death(err).Error()}
	case err != nil:
		return nil, fmt.Errorf("the extractor %s failed: %s", command[0], firstLine(w.said.String(), w.cmd.ProcessState))
	}
	return outputOf(format, text), nil
}

// outputOf is the document that a command wrote.
func outputOf(format string, text []byte) *extract.Document {
	d := &extract.Document{Type: format, Extracted: true}
	if len(text) > maxOutput {
		text = text[:maxOutput]
		d.Truncated = fmt.Sprintf("only the first %d MiB that its extractor wrote are kept", maxOutput>>20)
	}
	if !utf8.Valid(text) {
		text = []byte(strings.ToValidUTF8(string(text), "\ufffd"))
	}
	d.Text = text
	// Extractors of paged formats mark the pages' ends with form feeds.
	at, page := 0, 0
	for part := range bytes.SplitAfterSeq(text, []byte("\f")) {
		s := extract.Section{Start: at, End: at + len(part)}
		at = s.End
		if bytes.IndexByte(text, '\f') >= 0 {
			page++
			s.Page = page
		}
		if len(part) > 0 || at == 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}

// wait waits for the process to end by itself.
func (w *worker) wait() error {
	w.mu.Lock()
	over := w.over
	w.over = true
	w.mu.Unlock()
	if over {
		return ErrClosed
	}
	err := w.cmd.Wait()
	w.s.ended(w)
	return err
}

func (w *worker) wasKilled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason != ""
}

// commandEnv is the environment of a command.
func commandEnv() []string {
	return append(workerEnv(), "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/")
}
