package ignore

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// shownProblems bounds what Problems returns.
const shownProblems = 100

// keptProblems bounds what is remembered; the rest is counted.
const keptProblems = 1000

// problemSet are the rule files that could not be read.
type problemSet struct {
	mu   sync.Mutex
	text map[string]string // by path
	more int               // not remembered
}

// set records the outcome of reading a rule file: nil, or no such file, is none.
func (p *problemSet) set(name string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.text, name)
	if err == nil || absent(err) {
		return
	}
	if len(p.text) >= keptProblems {
		p.more++
		return
	}
	if p.text == nil {
		p.text = map[string]string{}
	}
	p.text[name] = fmt.Sprintf("%s: not used: %v", name, bare(err))
}

// bare takes the path out of an error that is shown after it.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// drop forgets the problems at and below a directory, "" for all.
func (p *problemSet) drop(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir == "" {
		p.text, p.more = nil, 0
		return
	}
	maps.DeleteFunc(p.text, func(name, _ string) bool {
		return strings.HasPrefix(name, dir+string(filepath.Separator))
	})
}

func (p *problemSet) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Sorted(maps.Values(p.text))
	if more := len(all) + p.more - shownProblems; more > 0 {
		return append(all[:shownProblems], fmt.Sprintf("and %d more rule files could not be read", more))
	}
	return all
}
