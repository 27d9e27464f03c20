package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"quern/index/extract"
)

// Verb is the first argument of a worker; the program's main calls Main when it gets
// it.
const Verb = "extract-worker"

const (
	// memoryLimit bounds what a worker may hold, in bytes, and memoryGoal is when it
	// collects its garbage harder.
	memoryLimit = memoryScale * 400 << 20
	memoryGoal  = 256 << 20
	// processorLimit bounds the processor time of a worker, in seconds.
	processorLimit = 300
	// aliveEvery is how often a worker says that it gets on.
	aliveEvery = time.Second
	// deepestStack bounds a goroutine's stack: deep nesting ends the process early.
	deepestStack = 64 << 20
)

// Main is a worker: it locks itself in and reads files from its standard input until
// that ends. args are what follows Verb. It returns the exit code.
func Main(args []string) int {
	if len(args) > 0 && args[0] == commandKind {
		return runCommand(args[1:])
	}
	return serve(args, extract.ExtractWatched)
}

// extractor is what a worker does with a file.
type extractor func(name string, data []byte, w extract.Watch) (*extract.Document, error)

func serve(args []string, do extractor) int {
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "quern: "+Verb+" is started by quern itself")
		return 2
	}
	debug.SetMemoryLimit(memoryGoal)
	debug.SetMaxStack(deepestStack)
	time.Local = time.UTC
	if kind(args[0]) == heavy {
		prepare(args[1])
	} else {
		extract.WithoutPDF()
	}
	in, out := bufio.NewReaderSize(os.Stdin, pipeRoom), bufio.NewWriterSize(os.Stdout, pipeRoom)
	if err := writeJSON(out, frameReady, ready{Lacks: confine()}); err != nil {
		return 1
	}
	for out.Flush() == nil {
		name, data, err := receive(in)
		if err != nil {
			return 0 // no further file, or no parent
		}
		w := &reporter{out: out}
		doc, err := do(name, data, extract.Watch{Grew: w.grew, Alive: w.alive})
		if err := w.finish(doc, err); err != nil {
			return 1
		}
	}
	return 1
}

// prepare loads the PDF reader; a cache that cannot be used only costs time.
func prepare(cache string) {
	if err := extract.PreparePDF(cache); err != nil && cache != "" {
		_ = extract.PreparePDF("") // the error comes with the first PDF
	}
}

// reporter sends a document, as it grows.
type reporter struct {
	out      *bufio.Writer
	err      error
	last     time.Time
	begun    bool
	text     int // bytes of the file's own text that have been sent …
	sections int // … and sections
	members  int
}

// alive tells the parent now and then that the file gets on.
func (r *reporter) alive() {
	if now := time.Now(); now.Sub(r.last) >= aliveEvery {
		r.last = now
		r.frame(frameAlive, nil)
		r.flush()
	}
}

func (r *reporter) grew(d *extract.Document) {
	r.update(d)
	r.flush()
	r.last = time.Now()
}

// update sends what the document has more than before.
func (r *reporter) update(d *extract.Document) {
	if !r.begun || len(d.Text) > r.text || len(d.Sections) > r.sections {
		r.begun = true
		r.head(&head{Depth: 0, Type: d.Type, Title: d.Title, Author: d.Author, Date: d.Date, Extracted: d.Extracted, Truncated: d.Truncated})
	}
	if d.Extracted {
		r.sendText(d.Text[min(r.text, len(d.Text)):])
		r.text = len(d.Text)
	}
	r.sendSections(d.Sections[min(r.sections, len(d.Sections)):])
	r.sections = len(d.Sections)
	for _, m := range d.Members[min(r.members, len(d.Members)):] {
		r.member(m, 1)
	}
	r.members = len(d.Members)
}

func (r *reporter) member(m extract.Member, depth int) {
	h := &head{Depth: depth, Name: m.Name}
	d := m.Document
	if d == nil {
		e := endingOf(m.Problem)
		h.Problem = &e
		r.head(h)
		return
	}
	h.Type, h.Title, h.Author, h.Date, h.Extracted, h.Truncated = d.Type, d.Title, d.Author, d.Date, d.Extracted, d.Truncated
	r.head(h)
	r.sendText(d.Text)
	r.sendSections(d.Sections)
	for _, inner := range d.Members {
		r.member(inner, depth+1)
	}
}

func (r *reporter) sendText(text []byte) {
	for len(text) > 0 {
		n := min(len(text), textRun)
		r.frame(frameText, text[:n])
		text = text[n:]
	}
}

func (r *reporter) sendSections(sections []extract.Section) {
	for len(sections) > 0 {
		n := min(len(sections), sectionRun)
		r.json(frameSections, sections[:n])
		sections = sections[n:]
	}
}

// finish sends the rest and the outcome.
func (r *reporter) finish(d *extract.Document, err error) error {
	if err == nil {
		r.update(d)
		r.head(&head{Depth: 0, Type: d.Type, Title: d.Title, Author: d.Author, Date: d.Date, Extracted: d.Extracted, Truncated: d.Truncated})
	}
	r.json(frameEnd, endingOf(err))
	return r.err
}

func (r *reporter) head(h *head) { r.json(frameDocument, h) }

func (r *reporter) json(kind byte, v any) {
	if r.err == nil {
		r.err = writeJSON(r.out, kind, v)
	}
}

func (r *reporter) frame(kind byte, payload []byte) {
	if r.err == nil {
		r.err = writeFrame(r.out, kind, payload)
	}
}

func (r *reporter) flush() {
	if r.err == nil {
		r.err = r.out.Flush()
	}
	if errors.Is(r.err, io.ErrClosedPipe) || errors.Is(r.err, os.ErrClosed) {
		os.Exit(1) // nobody listens any more
	}
}
