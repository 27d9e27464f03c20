package index

import (
	"errors"
	"fmt"
	"slices"

	"quern/index/extract"
)

// plan is what a batch comes to: what stands at each path that it names.
type plan struct {
	base    *Snapshot
	targets map[string]*target
	paths   []string    // of targets, in order of first mention
	touched []*document // documents of base that it names
	parts   []part      // new passages and records, made into segments
}

// target is what the batch makes of a path.
type target struct {
	path string
	gone bool // no document
	// old is the document of base that is or was here; its passages are
	// kept where they can be. Nil is none.
	old     *document
	slot    uint32
	info    DocumentInfo
	content *extract.Document // nil: old's stays as it is

	places []place // those that are fresh have no pid until they are parted
	fresh  []int   // which of places have to be analysed

	unchanged bool // what is there already is to stay
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
	t = &target{path: path, gone: true}
	if d, ok := p.base.lookPath(path); ok {
		t.gone, t.old, t.info = false, d, d.info
		p.touched = append(p.touched, d)
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
		p.targets[m.From] = &target{path: m.From, gone: true}
	}
	p.targets[m.To.Path] = &target{path: m.To.Path, old: from.old, content: from.content, info: m.To.info()}
	return nil
}

// each calls f with every target at which there is a document to be written.
func (p *plan) each(f func(*target)) {
	for _, path := range p.paths {
		if t := p.targets[path]; !t.gone && !t.unchanged {
			f(t)
		}
	}
}

// dropped returns the documents that end.
func (p *plan) dropped() []*document {
	kept := make(map[*document]bool)
	for _, t := range p.targets {
		if !t.gone {
			kept[t.old] = true
		}
	}
	var out []*document
	for _, d := range p.touched {
		if !kept[d] {
			out = append(out, d)
		}
	}
	return out
}

// finish completes the target's info, when its passages are known.
func (t *target) finish() {
	if t.content != nil {
		t.info = t.info.withContent(t.content, len(t.places))
		return
	}
	t.info = t.info.described(t.old.info)
	t.places = t.old.places
}

// same reports whether the target is the document that is there already.
func (t *target) same() bool {
	return t.old != nil && t.info.equal(t.old.info) && len(t.fresh) == 0 &&
		slices.EqualFunc(t.places, t.old.places, place.equal)
}

// idle reports whether the plan changes nothing that can be seen.
func (p *plan) idle() bool { return len(p.dropped()) == 0 && len(p.parts) == 0 }
