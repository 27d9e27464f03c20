package ignore

import (
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strings"
)

// The kinds of rule files that lie beside what they rule, in the order in which
// they are asked.
const (
	kindQuern = iota
	kindIgnore
	kindGit
	kinds
)

var ruleNames = [kinds]string{".quernignore", ".ignore", ".gitignore"}

// maxDirs bounds the directories whose rules are kept.
const maxDirs = 1 << 15

// inside is what is known of a directory for deciding on what lies in it. It is
// never changed once made.
type inside struct {
	veto     verdict // why nothing in it is indexed
	ready    bool    // its rule files were read; if not, rules are those above
	inc, exc state
	bar      bar           // of the innermost directory that an include glob had to name,
	barAt    string        // and that directory
	rules    [kinds]*scope // innermost first
	global   *ruleList     // the user's global excludes
	prefix   string        // what rules see before the paths of the folder
	stamps   []fs.FileInfo // of the files that were read, nil when there were none
	outside  []string      // those among them that are not in the directory itself
}

// scope is a rule file and those that are asked after it.
type scope struct {
	list *ruleList
	base int // bytes of prefix + path that are the list's own directory
	next *scope
}

// push puts a list before those of s.
func (s *scope) push(l *ruleList, base int) *scope {
	if l == nil {
		return s
	}
	return &scope{list: l, base: base, next: s}
}

// last is the first opinion in s on a path (with prefix), or nil.
func (s *scope) last(full, name string, dir bool) (*ruleList, *rule) {
	for ; s != nil; s = s.next {
		if r := s.list.last(full[s.base:], name, dir); r != nil {
			return s.list, r
		}
	}
	return nil, nil
}

// ruleFor is the rule that decides on a path in the directory, or nil.
func (in *inside) ruleFor(rel, name string, dir bool) (*ruleList, *rule) {
	full := in.prefix + rel
	for _, s := range in.rules {
		if l, r := s.last(full, name, dir); r != nil {
			return l, r
		}
	}
	return nil, nil
}

// inside returns what is known of a directory: of the outermost one above it
// that is ruled out, if any is.
func (f *Filter) inside(rel string) *inside {
	in, gen := f.known(rel)
	if in != nil && (in.ready || !in.veto.indexed()) {
		return in
	}
	if rel == "." {
		in = f.enterRoot()
	} else if in == nil {
		above := f.inside(path.Dir(rel))
		if !above.veto.indexed() {
			return above
		}
		in = f.enter(above, rel)
	}
	if !in.ready && in.veto.indexed() {
		in = f.withRules(in, rel)
	}
	f.keep(rel, in, gen)
	return in
}

// enterable judges a directory anew and keeps the outcome for those who ask
// about what lies in it. Their first question reads its rule files: a scan that
// asks here, then watches the directory, then lists it, misses no change of them.
func (f *Filter) enterable(rel string) bool {
	if rel == "." {
		return true
	}
	was, gen := f.known(rel)
	above := f.inside(path.Dir(rel))
	if !above.veto.indexed() {
		return false
	}
	in := f.enter(above, rel)
	if was == nil {
		f.keep(rel, in, gen)
	} else if was.veto.indexed() != in.veto.indexed() {
		f.forget(rel)
	}
	return in.veto.indexed()
}

// known is what is kept of a directory, or nil, and the generation that what is
// built now must have to be kept.
func (f *Filter) known(rel string) (*inside, uint64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.dirs[rel], f.gen
}

// keep stores what was built at generation gen, unless rules were dropped since.
func (f *Filter) keep(rel string, in *inside, gen uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gen != gen {
		return
	}
	if len(f.dirs) >= maxDirs {
		for k := range f.dirs { // any half: they are cheap to build again
			if delete(f.dirs, k); len(f.dirs) <= maxDirs/2 {
				break
			}
		}
	}
	f.dirs[rel] = in
	if len(in.outside) > 0 {
		f.outer[rel] = in
	}
}

// forget drops what is known of a directory and of all below it.
func (f *Filter) forget(rel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gen++
	if rel == "." {
		clear(f.dirs)
		clear(f.outer)
		f.outdated = false
		f.problems.drop("")
		return
	}
	for _, dirs := range []map[string]*inside{f.dirs, f.outer} {
		maps.DeleteFunc(dirs, func(k string, _ *inside) bool { return k == rel || strings.HasPrefix(k, rel+"/") })
	}
	f.problems.drop(f.abs(rel))
}

// refresh forgets a directory whose rule files are not those that were read.
func (f *Filter) refresh(rel string) {
	in, _ := f.known(rel)
	if in == nil || !in.ready || !f.rules {
		return
	}
	outdated := in.outsideChanged(f.sight)
	if !outdated && in.ownUnchanged(f.stamp(rel, nil)) {
		return
	}
	f.forget(rel)
	if outdated {
		f.mu.Lock()
		f.outdated = true
		f.mu.Unlock()
	}
}

// was is the i-th of the stamps, which are those of the directory's own files
// and then of the files outside.
func (in *inside) was(i int) fs.FileInfo {
	if in.stamps == nil {
		return nil
	}
	return in.stamps[i]
}

func (in *inside) ownUnchanged(now []fs.FileInfo) bool {
	for i := range now {
		if !sameStamp(in.was(i), now[i]) {
			return false
		}
	}
	return true
}

func (in *inside) outsideChanged(s sight) bool {
	for i, name := range in.outside {
		if !sameStamp(in.was(kinds+1+i), s.stamp(name, true)) {
			return true
		}
	}
	return false
}

// stamp looks at the files that the rules of a directory come from.
func (f *Filter) stamp(rel string, outside []string) []fs.FileInfo {
	dir := f.abs(rel)
	stamps := make([]fs.FileInfo, 0, kinds+1+len(outside))
	for _, name := range ruleNames {
		stamps = append(stamps, f.sight.stamp(filepath.Join(dir, name), false))
	}
	stamps = append(stamps, f.sight.stamp(filepath.Join(dir, ".git"), true))
	for _, name := range outside {
		stamps = append(stamps, f.sight.stamp(name, true))
	}
	return stamps
}
