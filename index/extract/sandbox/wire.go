package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"quern/index/extract"
)

// The parent sends, for each file, the length of its name and of its content, eight
// bytes each, little endian, and then both. The worker answers with frames: a type, a
// length of four bytes, and so many bytes. The last one is frameEnd.
const (
	frameReady    = 'r' // JSON of ready, once, before the first file
	frameAlive    = 'a' // empty: it gets on
	frameDocument = 'd' // JSON of head: the document that what follows belongs to
	frameText     = 't' // text, appended
	frameSections = 's' // JSON of sections, appended
	frameEnd      = 'e' // JSON of ending
)

const (
	// maxFrame bounds a frame: text is cut into several.
	maxFrame = 16 << 20
	textRun  = 1 << 20
	// sectionRun is how many sections go into one frame.
	sectionRun = 1000
)

// errGarbage is what a worker sends that is no answer.
var errGarbage = errors.New("garbage from the extraction process")

// ready is what a worker says when it has locked itself in.
type ready struct {
	Lacks []string `json:",omitempty"` // what protection it had to do without
}

// head is a document without text, sections and members. Depth 0 is the file itself,
// which may come more than once; a greater one a new member of the last document
// above it.
type head struct {
	Depth               int
	Name                string
	Problem             *ending `json:",omitempty"`
	Type, Title, Author string
	Date                time.Time
	Extracted           bool
	Truncated           string
}

// ending is an error, or with an empty kind none.
type ending struct {
	Kind   string // "binary", "limit", "pdf" or "damaged"
	Reason string
}

func endingOf(err error) ending {
	switch {
	case err == nil:
		return ending{}
	case errors.Is(err, extract.ErrNeedsPDF):
		return ending{"pdf", err.Error()}
	case errors.Is(err, extract.ErrBinary):
		return ending{"binary", err.Error()}
	case errors.Is(err, extract.ErrLimit):
		return ending{"limit", err.Error()}
	}
	return ending{"damaged", err.Error()}
}

func (e *ending) err() error {
	switch {
	case e == nil || e.Kind == "":
		return nil
	case e.Kind == "pdf":
		return extract.ErrNeedsPDF
	case e.Kind == "binary":
		return &refusal{e.Reason, extract.ErrBinary}
	case e.Kind == "limit":
		return &refusal{e.Reason, extract.ErrLimit}
	}
	return errors.New(e.Reason)
}

// refusal is an error of another process that matches one of package extract.
type refusal struct {
	reason string
	is     error
}

func (r *refusal) Error() string        { return r.reason }
func (r *refusal) Is(target error) bool { return target == r.is }

func writeFrame(w io.Writer, kind byte, payload []byte) error {
	var header [5]byte
	header[0] = kind
	binary.LittleEndian.PutUint32(header[1:], uint32(len(payload)))
	if _, err := w.Write(header[:]); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

func writeJSON(w io.Writer, kind byte, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w, kind, payload)
}

func readFrame(r *bufio.Reader) (kind byte, payload []byte, err error) {
	var header [5]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(header[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", errGarbage, n)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	return header[0], payload, err
}

// send sends a file to a worker.
func send(w io.Writer, name string, data []byte) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(name)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	if _, err := w.Write(append(b, name...)); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// receive reads what send sent; io.EOF when there is no further file.
func receive(r io.Reader) (name string, data []byte, err error) {
	var header [16]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return "", nil, err
	}
	path := make([]byte, binary.LittleEndian.Uint64(header[:]))
	data = make([]byte, binary.LittleEndian.Uint64(header[8:]))
	if _, err := io.ReadFull(r, path); err != nil {
		return "", nil, err
	}
	_, err = io.ReadFull(r, data)
	return string(path), data, err
}

// answer collects a worker's frames. Nothing in them is believed.
type answer struct {
	source []byte              // of the file
	open   []*extract.Document // the last document at each depth
	end    *ending
	size   int64 // of all that was kept
	docs   int
}

func newAnswer(source []byte) *answer {
	return &answer{source: source, open: []*extract.Document{{}}}
}

// read reads frames up to the end, calling alive for each.
func (a *answer) read(r *bufio.Reader, alive func()) error {
	for a.end == nil {
		kind, payload, err := readFrame(r)
		if err != nil {
			return err
		}
		alive()
		if err := a.take(kind, payload); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) take(kind byte, payload []byte) error {
	if a.size += int64(len(payload)); a.size > mostAnswer {
		return fmt.Errorf("%w: more than %d MiB", errGarbage, mostAnswer>>20)
	}
	current := a.open[len(a.open)-1]
	var err error
	switch kind {
	case frameAlive:
	case frameDocument:
		var h head
		if err = json.Unmarshal(payload, &h); err == nil {
			err = a.document(&h)
		}
	case frameText:
		current.Text = append(current.Text, payload...)
	case frameSections:
		var more []extract.Section
		if err = json.Unmarshal(payload, &more); err == nil {
			current.Sections = append(current.Sections, more...)
		}
	case frameEnd:
		a.end = &ending{}
		err = json.Unmarshal(payload, a.end)
	default:
		err = fmt.Errorf("frame %q", kind)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errGarbage, err)
	}
	return nil
}

// mostAnswer bounds what one file may make a worker send.
const mostAnswer = 256 << 20

// document begins a document, or goes back to the file itself.
func (a *answer) document(h *head) error {
	if a.docs++; a.docs > 2*extract.DefaultLimits.Members+1000 {
		return errors.New("too many documents")
	}
	if h.Depth < 0 || h.Depth > len(a.open) || h.Depth > extract.DefaultLimits.Depth+1 || h.Depth > 0 && h.Name == "" {
		return fmt.Errorf("a document at depth %d", h.Depth)
	}
	d := a.open[0]
	if h.Depth > 0 {
		parent := a.open[h.Depth-1]
		d = nil
		m := extract.Member{Name: h.Name, Problem: h.Problem.err()}
		if m.Problem == nil {
			d = &extract.Document{}
			m.Document = d
		}
		parent.Members = append(parent.Members, m)
	}
	a.open = a.open[:max(h.Depth, 1)]
	if d == nil {
		return nil
	}
	d.Type, d.Title, d.Author, d.Date, d.Extracted, d.Truncated = h.Type, h.Title, h.Author, h.Date, h.Extracted, h.Truncated
	if h.Depth > 0 {
		a.open = append(a.open, d)
	}
	return nil
}

// result is the document or the error that the worker came to.
func (a *answer) result() (*extract.Document, error) {
	if err := a.end.err(); err != nil {
		return nil, err
	}
	root := a.open[0]
	if !root.Extracted {
		root.Text = a.source
	}
	if err := check(root); err != nil {
		return nil, &refusal{"its reader answers with garbage: " + err.Error(), nil}
	}
	return root, nil
}

// partial is what there was before the worker ended, or nil.
func (a *answer) partial() *extract.Document {
	root := a.open[0]
	if !root.Extracted || len(root.Text) == 0 && len(root.Members) == 0 || check(root) != nil {
		return nil
	}
	return root
}

// check makes sure that a document's parts fit together, and that of a container
// which has no section has one.
func check(d *extract.Document) error {
	if len(d.Sections) == 0 {
		d.Sections = []extract.Section{{End: len(d.Text)}}
	}
	at := 0
	for i, s := range d.Sections {
		begin := s.Start
		if s.HeadingEnd > 0 {
			begin = s.HeadingStart
		}
		if begin < at || s.Start < begin || s.End < s.Start || s.End > len(d.Text) || s.HeadingEnd > 0 && (s.HeadingEnd < s.HeadingStart || s.HeadingEnd > s.Start) {
			return fmt.Errorf("section %d does not fit its text", i)
		}
		at = s.End
	}
	if d.Extracted && !utf8.Valid(d.Text) {
		return errors.New("its text is not UTF-8")
	}
	for _, m := range d.Members {
		if m.Document != nil {
			if err := check(m.Document); err != nil {
				return err
			}
		}
	}
	return nil
}
