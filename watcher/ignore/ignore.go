package ignore

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Options say what of a folder its owner wants indexed.
type Options struct {
	// Root is the folder, absolute. It is itself never ignored.
	Root string
	// Include and Exclude are doublestar globs relative to Root. No Include is
	// "**". A glob that ends in a plain name, or in "/", stands for what lies
	// below it as well.
	Include, Exclude []string
	// Hidden indexes names that begin with a dot.
	Hidden bool
	// Gitignore honours rule files; the built-in list holds without it.
	Gitignore bool
	// May and Open, if set, are those of a user: rules come from files alone that May
	// says the user may know of, and are read through Open.
	May  func(path string) bool
	Open func(path string, flags int) (*os.File, error)
}

// Filter decides what of one folder is indexed. It is a watcher.Filter and is
// safe for concurrent use.
//
// Rule files are read when something in their directory is first asked about,
// and kept. They are read anew after Reload, and when Dir finds that they have
// changed: a walk that asks Dir before it reads a directory is always right.
type Filter struct {
	root             string
	include, exclude *globs
	hidden, rules    bool
	sight            sight

	mu       sync.RWMutex // guards what follows, problems aside
	dirs     map[string]*inside
	gen      uint64             // grows with every forget: what was built before it is not kept
	outer    map[string]*inside // those of dirs that have rules from outside
	outdated bool               // such rules were read anew for a part of the folder only

	problems problemSet
}

// New returns the filter of a folder. It reads no file. Errors name the config
// key and the glob, and wrap ErrPattern.
func New(o Options) (*Filter, error) {
	if !filepath.IsAbs(o.Root) {
		return nil, fmt.Errorf("ignore rules of %q: the folder's path is not absolute", o.Root)
	}
	if len(o.Include) == 0 {
		o.Include = []string{"**"}
	}
	include, err := newGlobs("include", o.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := newGlobs("exclude", o.Exclude)
	if err != nil {
		return nil, err
	}
	return &Filter{
		root: filepath.Clean(o.Root), include: include, exclude: exclude,
		hidden: o.Hidden, rules: o.Gitignore, sight: sight{o.May, o.Open}, dirs: map[string]*inside{}, outer: map[string]*inside{},
	}, nil
}

// Dir reports whether the directory may hold files to index. rel is
// slash-separated and relative to the folder, "" or "." being the folder itself.
//
// Of this directory the rule files are checked anew by their size and time, so
// a scan asks it before it reads the directory.
func (f *Filter) Dir(rel string) bool {
	rel, ok := cleanRel(rel)
	if !ok {
		return false
	}
	f.refresh(rel)
	return f.enterable(rel)
}

// File reports whether the file is to be indexed. rel is as for Dir.
func (f *Filter) File(rel string) bool {
	rel, ok := cleanRel(rel)
	if !ok || rel == "." {
		return false
	}
	// A scan that comes upon a rule file has it counted for what follows.
	if dir, isRules := f.ruleFileOf(rel); isRules {
		f.refresh(dir)
	}
	return f.decide(rel, false).indexed()
}

// Reason says why a path is not indexed: the rule, and the file and line it
// stands in; "" when it is. What is not there, or ends in no slash and is no
// directory, is taken for a file.
func (f *Filter) Reason(rel string) string {
	clean, ok := cleanRel(rel)
	if !ok {
		return verdict{why: outside}.reason(clean)
	}
	return f.decide(clean, strings.HasSuffix(rel, "/") || f.isDir(clean)).reason(clean)
}

// Member says why what lies at rel in a container of the folder (a file in an
// archive) is not indexed, or "": the folder's exclude and hidden count, and the
// built-in list; include and ignore files speak of files alone.
func (f *Filter) Member(rel string) string {
	v := f.decide(rel, false)
	if v.why == notIncluded || v.why == ignored {
		return ""
	}
	return v.reason(rel)
}

// Reload is told of every path that changed. It reports whether rules depend on
// it (a rule file, a repository, a tag that marks a cache or build folder); then
// the rules of its directory have been dropped and what lies below that
// directory is to be scanned anew, since it may be indexed now or no longer.
func (f *Filter) Reload(rel string) bool {
	clean, ok := cleanRel(rel)
	if !ok {
		return false
	}
	dir, ok := f.ruleFileOf(clean)
	if ok {
		f.forget(dir)
	}
	return ok
}

// Listed is told what a directory holds that was asked about by Dir and then listed.
// Where the listing has no rule file, none is looked for.
func (f *Filter) Listed(rel string, has func(name string) bool) {
	rel, ok := cleanRel(rel)
	if !ok || rel == "." || f.rules && (has(".git") || slices.ContainsFunc(ruleNames[:], has)) {
		return
	}
	in, gen := f.known(rel)
	if in == nil || in.ready || !in.veto.indexed() {
		return
	}
	read := *in
	read.ready = true
	f.keep(rel, &read, gen)
}

// Reset drops all rules. It is for changes of the files that OutsideRules names;
// the whole folder is to be scanned anew.
func (f *Filter) Reset() { f.forget(".") }

// OutsideRules names the files that rules have come from, or would come from,
// outside of what a watch on the folder's directories shows: in .git, above the
// folder, in the user's git config. Sorted absolute paths, each once.
func (f *Filter) OutsideRules() []string {
	f.inside(".")
	f.mu.RLock()
	defer f.mu.RUnlock()
	var names []string
	for _, in := range f.dirs {
		names = append(names, in.outside...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OutsideChanged reports whether a file that OutsideRules names has changed since
// its rules were read. Then the whole folder is to be scanned anew, with another
// Filter or after Reset.
func (f *Filter) OutsideChanged() bool {
	f.mu.RLock()
	outdated := f.outdated
	outer := slices.Collect(maps.Values(f.outer))
	f.mu.RUnlock()
	return outdated || slices.ContainsFunc(outer, func(in *inside) bool { return in.outsideChanged(f.sight) })
}

// Problems names the rule files that could not be read and count as empty, each
// with the reason, sorted; at most 100, and then how many more there are.
func (f *Filter) Problems() []string { return f.problems.list() }

// ruleFileOf returns the directory whose decisions depend on a path.
func (f *Filter) ruleFileOf(rel string) (dir string, ok bool) {
	dir, name := path.Dir(rel), path.Base(rel)
	switch {
	case isMarker(path.Base(dir), name):
		return dir, true
	case !f.rules:
		return "", false
	case slices.Contains(ruleNames[:], name), name == ".git":
		return dir, true
	case rel == excludeRel, strings.HasSuffix(rel, "/"+excludeRel):
		return path.Clean(strings.TrimSuffix(rel, excludeRel)), true
	}
	return "", false
}

const excludeRel = ".git/info/exclude"

// abs is where a path of the folder is.
func (f *Filter) abs(rel string) string { return filepath.Join(f.root, filepath.FromSlash(rel)) }

func (f *Filter) isDir(rel string) bool {
	fi := f.sight.stamp(f.abs(rel), false)
	return fi != nil && fi.IsDir()
}
