package ignore

import (
	"fmt"
	"path"
	"path/filepath"
)

// why is the step that decided against a path.
type why uint8

const (
	indexed why = iota
	outside
	excluded
	barred
	notIncluded
	ignored
)

// verdict is the decision on one path, with what it takes to explain it.
type verdict struct {
	why  why
	at   string // the path it was made for: the one asked about, or a directory above
	dir  bool   // that one is a directory
	glob *glob  // excluded
	bar  bar    // barred
	list *ruleList
	rule *rule // ignored
}

func (v verdict) indexed() bool { return v.why == indexed }

// reason explains the verdict on rel.
func (v verdict) reason(rel string) string {
	text := ""
	switch v.why {
	case indexed:
		return ""
	case outside:
		return "outside the folder"
	case excluded:
		text = fmt.Sprintf("excluded by exclude = %q", v.glob.text)
	case barred:
		text = v.bar.reason()
		if v.bar.rule == nil && v.dir {
			text = "hidden folder"
		}
	case notIncluded:
		text = "not matched by include"
	case ignored:
		text = fmt.Sprintf("ignored by %s:%d: %s", v.list.source, v.rule.line, v.rule.text)
	}
	if v.at != rel {
		text = "folder " + v.at + ": " + text
	}
	return text
}

// decide judges a clean path, and with it every directory above it.
func (f *Filter) decide(rel string, dir bool) verdict {
	if rel == "." {
		return verdict{}
	}
	in := f.inside(path.Dir(rel))
	if !in.veto.indexed() {
		return in.veto
	}
	v, _ := f.judge(in, rel, dir)
	return v
}

// judge decides on rel, which lies in a directory that is not ruled out. The
// bar is what an include glob had to name to let it through.
func (f *Filter) judge(in *inside, rel string, dir bool) (verdict, bar) {
	name := path.Base(rel)
	v := verdict{at: rel, dir: dir}
	if v.glob = f.exclude.find(in.exc, name, bar{}); v.glob != nil {
		v.why = excluded
		return v, bar{}
	}
	b := f.bar(rel, name, dir)
	included := false
	if dir {
		included = f.include.open(f.include.into(in.inc, name, b))
	} else {
		included = f.include.find(in.inc, name, b) != nil
	}
	if !included {
		return in.notIncluded(v, b), b
	}
	if list, r := in.ruleFor(rel, name, dir); r != nil && !r.negate {
		v.why, v.list, v.rule = ignored, list, r
	}
	return v, b
}

// notIncluded says what an include glob would have had to name: the path, or a
// directory above that was let through for something else.
func (in *inside) notIncluded(v verdict, b bar) verdict {
	switch {
	case b.up():
		v.why, v.bar = barred, b
	case in.bar.up():
		v.why, v.bar, v.at, v.dir = barred, in.bar, in.barAt, true
	default:
		v.why = notIncluded
	}
	return v
}

// bar looks a path up in the built-in list.
func (f *Filter) bar(rel, name string, dir bool) bar {
	b := bar{hidden: !f.hidden && name[0] == '.'}
	if !dir {
		b.rule = fileTable.find(name)
		return b
	}
	if b.rule = dirTable.find(name); b.rule == nil {
		b.rule = f.sight.marker(filepath.Dir(f.abs(rel)), name)
	}
	return b
}
