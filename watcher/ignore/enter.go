package ignore

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// enter judges a directory and builds what is known of it from what is known of
// the one above it. Its rule files are not read yet.
func (f *Filter) enter(above *inside, rel string) *inside {
	v, b := f.judge(above, rel, true)
	if !v.indexed() {
		return &inside{veto: v}
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	in := &inside{
		inc: f.include.into(above.inc, name, b), exc: f.exclude.into(above.exc, name, bar{}),
		bar: above.bar, barAt: above.barAt,
		rules: above.rules, global: above.global, prefix: above.prefix,
	}
	if b.up() {
		in.bar, in.barAt = b, rel
	}
	return in
}

// withRules is the directory with its own rule files read.
func (f *Filter) withRules(in *inside, rel string) *inside {
	read := *in
	read.ready = true
	if f.rules {
		f.readRules(&read, rel)
	}
	return &read
}

// enterRoot builds what is known of the folder itself.
func (f *Filter) enterRoot() *inside {
	in := &inside{inc: f.include.start(), exc: f.exclude.start(), ready: true}
	if !f.rules {
		return in
	}
	global, configs := f.sight.globalExcludes()
	in.outside = configs
	if global != "" {
		in.outside = append(in.outside, global)
		in.global = f.read(global, true)
	}
	if _, isTop := f.sight.excludeFile(f.root); !isTop {
		f.readAbove(in)
	}
	f.readRules(in, ".")
	return in
}

// readAbove reads the rules of the repository that the folder lies in. Those
// that ignore the folder itself have no say in it.
func (f *Filter) readAbove(in *inside) {
	in.rules[kindGit] = (*scope)(nil).push(in.global, 0)
	top := f.sight.enclosingTop(f.root)
	if top == "" {
		return
	}
	exclude, _ := f.sight.excludeFile(top)
	in.outside = append(in.outside, exclude)
	rules := in.rules[kindGit].push(f.read(exclude, true), 0)
	way, err := filepath.Rel(top, f.root)
	if err != nil {
		return
	}
	way = filepath.ToSlash(way)
	for base := 0; base < len(way); {
		name := filepath.Join(top, filepath.FromSlash(way[:base]), ruleNames[kindGit])
		in.outside = append(in.outside, name)
		rules = rules.push(f.read(name, false), base)
		elem, _, _ := strings.Cut(way[base:], "/")
		if _, r := rules.last(way[:base+len(elem)], elem, true); r != nil && !r.negate {
			return
		}
		base += len(elem) + 1
	}
	in.rules[kindGit], in.prefix = rules, way+"/"
}

// readRules reads the rule files of a directory and puts them before those above.
func (f *Filter) readRules(in *inside, rel string) {
	base := len(in.prefix)
	if rel != "." {
		base += len(rel) + 1
	}
	dir := f.abs(rel)
	// Before they are read: a change in between shows the next time.
	in.stamps = f.stamp(rel, in.outside)
	if exclude, isTop := f.topStamped(in.stamps, dir); isTop {
		in.outside = append(in.outside, exclude)
		in.stamps = append(in.stamps, f.sight.stamp(exclude, true))
		in.rules[kindGit] = (*scope)(nil).push(in.global, base).push(f.read(exclude, true), base)
	}
	for kind, name := range ruleNames {
		if in.stamps[kind] != nil {
			in.rules[kind] = in.rules[kind].push(f.read(filepath.Join(dir, name), false), base)
		}
	}
	in.stamps = unlessEmpty(in.stamps)
}

// topStamped is excludeFile for a directory whose stamps were taken.
func (f *Filter) topStamped(stamps []fs.FileInfo, dir string) (name string, ok bool) {
	if stamps[kinds] == nil {
		return "", false
	}
	return f.sight.excludeFile(dir)
}

// unlessEmpty saves the memory of stamps that say there is nothing.
func unlessEmpty(stamps []fs.FileInfo) []fs.FileInfo {
	for _, s := range stamps {
		if s != nil {
			return stamps
		}
	}
	return nil
}

// read reads one rule file; nil when it has no rules. What cannot be read
// counts as empty and is a problem, but for what is not there.
func (f *Filter) read(name string, follow bool) *ruleList {
	data, err := f.sight.readRegular(name, maxRuleFile, follow)
	if err != nil {
		f.problems.set(name, err)
		return nil
	}
	f.problems.set(name, nil)
	rules := parseRules(data, foldNames)
	if len(rules) == 0 {
		return nil
	}
	return newRuleList(f.show(name), rules)
}

// show names a rule file as its owner would: from the folder, if it is in it.
func (f *Filter) show(name string) string {
	if rel, err := filepath.Rel(f.root, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}
