package index

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"quern/index/extract"
)

// plan is what a batch comes to: what stands at each path that it names.
type plan struct {
	base    *Snapshot
	targets map[string]*target
	paths   []string // of targets, in order of first mention
	touched []uint32 // slots of the documents of base that it names
	parts   []part   // new passages, made into segments
}

// target is what the batch makes of a path.
type target struct {
	path string
	gone bool // no document
	// slot is that of the document of base that is or was here; its
	// passages are kept where they can be. -1 is none.
	slot    int
	info    DocumentInfo
	content *extract.Document // nil: slot's stays as it is

	passages []place // of content; those that are fresh have no pid yet
	fresh    []int   // which of passages have to be analysed
}

// newPlan follows the changes in order.
func newPlan(base *Snapshot, changes []Change) (*plan, error) {
	p := &plan{base: base, targets: make(map[string]*target)}
	for i, c := range changes {
		if err := p.follow(c); err != nil {
			return nil, fmt.Errorf("apply change %d of %d: %w", i+1, len(changes), err)
		}
	}
	return p, nil
}

func (p *plan) follow(c Change) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.Put != nil:
		t := p.at(c.Put.Path)
		t.gone, t.content = false, c.Put.Content
		t.info = c.Put.info()
		return nil
	case c.Move != nil:
		return p.move(c.Move)
	}
	t := p.at(c.Remove)
	t.gone, t.content = true, nil
	return nil
}

// check says what is wrong with a change by itself.
func (c Change) check() error {
	set := 0
	for _, is := range []bool{c.Put != nil, c.Remove != "", c.Move != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("exactly one of Put, Remove and Move must be set")
	case c.Put != nil && (c.Put.Path == "" || c.Put.Content == nil):
		return fmt.Errorf("put %q: path and content are needed", c.Put.Path)
	case c.Move != nil && (c.Move.From == "" || c.Move.To.Path == ""):
		return fmt.Errorf("move %q to %q: both paths are needed", c.Move.From, c.Move.To.Path)
	case c.Move != nil && c.Move.To.Content != nil:
		return fmt.Errorf("move %q to %q: a move has no content", c.Move.From, c.Move.To.Path)
	}
	return nil
}

// at returns the target of a path, as it is so far.
func (p *plan) at(path string) *target {
	t, ok := p.targets[path]
	if ok {
		return t
	}
	t = &target{path: path, gone: true, slot: -1}
	if slot, ok := p.base.find(path); ok {
		t.gone, t.slot = false, int(slot)
		t.info = p.base.docs.at(t.slot).info
		p.touched = append(p.touched, slot)
	}
	p.paths = append(p.paths, path)
	p.targets[path] = t
	return t
}

func (p *plan) move(m *Move) error {
	from := p.at(m.From)
	if from.gone {
		return fmt.Errorf("move %q to %q: %w", m.From, m.To.Path, ErrNotFound)
	}
	if m.From != m.To.Path {
		p.at(m.To.Path) // what is there is replaced
		p.targets[m.From] = &target{path: m.From, gone: true, slot: -1}
	}
	p.targets[m.To.Path] = &target{path: m.To.Path, slot: from.slot, content: from.content, info: m.To.info()}
	return nil
}

// each calls f with every target at which there is a document.
func (p *plan) each(f func(*target)) {
	for _, path := range p.paths {
		if t := p.targets[path]; !t.gone {
			f(t)
		}
	}
}

// dropped returns the slots of the documents that end.
func (p *plan) dropped() []uint32 {
	kept := make(map[int]bool)
	p.each(func(t *target) { kept[t.slot] = true })
	var out []uint32
	for _, slot := range p.touched {
		if !kept[int(slot)] {
			out = append(out, slot)
		}
	}
	return out
}

// old returns the document whose passages the target may keep, or nil.
func (p *plan) old(t *target) *document {
	if t.slot < 0 {
		return nil
	}
	return p.base.docs.at(t.slot)
}

// finish completes the target's info, when its passages are known.
func (p *plan) finish(t *target) {
	if t.content != nil {
		t.info = t.info.withContent(t.content, len(t.passages))
		return
	}
	old := p.old(t).info
	t.info.Type, t.info.Title, t.info.Passages = old.Type, old.Title, old.Passages
}

// idle reports whether the plan changes nothing that can be seen.
func (p *plan) idle() bool {
	idle := len(p.dropped()) == 0
	p.each(func(t *target) { idle = idle && p.same(t) })
	return idle
}

// same reports whether the target is the document that is there already.
func (p *plan) same(t *target) bool {
	old := p.old(t)
	if old == nil || !t.info.equal(old.info) {
		return false
	}
	if t.content == nil {
		return true
	}
	return len(t.fresh) == 0 && bytes.Equal(t.content.Text, old.text) &&
		slices.EqualFunc(t.passages, old.passages, place.equal)
}

func (a place) equal(b place) bool {
	return a.pid == b.pid && a.start == b.start && a.end == b.end &&
		a.first == b.first && a.last == b.last && slices.Equal(a.heading, b.heading)
}
